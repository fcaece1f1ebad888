"""The data sets known by name (``registry.json``): found on the search path, checked, downloaded, loaded."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module, resources
from pathlib import Path, PurePosixPath
from typing import Any

from hybonet.data.io import search_path
from hybonet.data.io.download import DownloadError, Progress, download
from hybonet.data.io.source_file import SourceFile, find_packed, read_checked, read_source


@dataclass(frozen=True)
class Kind:
    """What data are of one task: what they are called, what is counted, and what loads them."""

    task: str
    title: str
    #: With its article, for messages.
    one: str
    #: Keys of the statistics, in the order of tables.
    counts: tuple[str, ...]
    #: ``load_`` and this is the function of :mod:`hybonet.data` that loads them.
    loads: str
    #: What a split has.
    rows: str = ""

    def load(self, data: Any, **options: Any) -> Any:
        """The data as the task takes them."""
        return getattr(import_module("hybonet.data"), f"load_{self.loads}")(data, **options)


_SPLITS = ("train", "valid", "test")
_KINDS = (
    Kind(
        "kg", "Knowledge graphs", "a knowledge graph", ("entities", "relations", *_SPLITS), "knowledge_graph", "triples"
    ),
    Kind(
        "graph", "Graphs, for links and classes of nodes", "a graph", ("nodes", "edges", "features", "classes"), "graph"
    ),
    Kind("translation", "Parallel text", "a corpus", _SPLITS, "corpus", "pairs"),
    Kind("probe", "Treebanks, for probing", "a treebank", _SPLITS, "treebank", "sentences"),
    Kind("typing", "Mentions, for entity typing", "mentions", ("types", *_SPLITS), "mentions", "mentions"),
    Kind("hierarchy", "Hierarchies", "a hierarchy", ("names", "edges"), "hierarchy"),
)
#: By the task's name.
KINDS = {kind.task: kind for kind in _KINDS}


@dataclass(frozen=True)
class DataFile:
    """One file of a data set. Checksum and size are of the file itself, unpacked."""

    name: str
    #: None where the file could not be had: then only its reader checks it.
    sha256: str | None = None
    size: int = 0
    #: The file, or a .tar.gz that holds it; empty where it cannot be downloaded.
    url: str = ""
    #: Whether the data can be used without it.
    optional: bool = False


@dataclass(frozen=True)
class DataSet:
    """A named data set.

    Example:
        >>> named("umls").statistics["entities"], named("UMLS").licence
        (135, 'MIT')
    """

    kind: str
    name: str
    description: str
    licence: str
    #: Where the files come from, for people; ``package`` and ``generated`` need no files of the search path.
    source: str
    #: By part, as the kind's loader takes them.
    files: Mapping[str, DataFile]
    #: What the loaded data's ``statistics()`` gives.
    statistics: Mapping[str, int]
    #: Where the files may lie below a directory of the search path, in any of these.
    folders: tuple[str, ...] = ()
    #: What the kind's loader must know besides.
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def packaged(self) -> bool:
        """Whether it is inside the package."""
        return self.source == "package"

    @property
    def generated(self) -> bool:
        """Whether it is made on demand."""
        return self.source == "generated"

    @property
    def size(self) -> int:
        """Bytes of all files, unpacked."""
        return sum(file.size for file in self.files.values())

    def folder(self) -> Path | None:
        """The first folder on the search path with all files, packed or not, else the first with the necessary ones."""
        if self.packaged or self.generated:
            return None
        places = [
            directory / name
            for directory in search_path.directories()
            for folder in self.folders
            for name in dict.fromkeys((folder, folder.lower()))
        ]
        fitting = [place for place in places if not self.missing(place, necessary=True)]
        return next((place for place in fitting if not self.missing(place)), fitting[0] if fitting else None)

    def missing(self, folder: Path, *, necessary: bool = False) -> list[str]:
        """Names of the files that a folder lacks."""
        wanted = (file for file in self.files.values() if not (necessary and file.optional))
        return [file.name for file in wanted if find_packed(folder, file.name) is None]

    def here(self) -> str:
        """Whether it can be used at once: ``in the package``, ``generated``, ``yes``, ``in part`` or ``no``."""
        if self.packaged or self.generated:
            return "in the package" if self.packaged else "generated"
        folder = self.folder()
        return "no" if folder is None else "in part" if self.missing(folder) else "yes"

    def paths(self) -> dict[str, Path]:
        """Where each part lies; optional files may be missing. A ``ValueError`` says how to get what is not here."""
        if self.packaged:
            shipped = resources.files("hybonet.data").joinpath("shipped")
            return {part: Path(str(shipped.joinpath(file.name))) for part, file in self.files.items()}
        if self.generated:
            raise ValueError(
                f"expected data with files, got {self.name!r}, which is generated on demand: nothing to fetch, and no "
                "files; write some with hybonet data disease-tree"
            )
        folder = self.folder()
        if folder is None:
            size = f" ({self.size / 1e6:.1f} MB)" if self.size else ""
            raise ValueError(
                f"expected the files of {self.name} on {search_path.described()}, found them nowhere; "
                + (f"download them with hybonet data fetch {self.name}{size}, or " if self.has_address else "")
                + f"put {', '.join(file.name for file in self.files.values())} from {self.source} into a folder "
                f"{self.folders[0]} there (HYBONET_DATA names directories to search); licence {self.licence}"
            )
        found = {part: find_packed(folder, file.name) for part, file in self.files.items()}
        return {part: path for part, path in found.items() if path is not None}

    def read(self) -> dict[str, SourceFile]:
        """The files by part, each checked against its checksum where that is known."""
        read = {}
        for part, path in {} if self.generated else self.paths().items():
            checksum = self.files[part].sha256
            read[part] = read_source(path) if checksum is None else read_checked(path, checksum)
        return read

    @property
    def has_address(self) -> bool:
        """Whether all files can be downloaded."""
        return all(file.url for file in self.files.values())

    def fetch(self, *, progress: Progress | None = None) -> Path:
        """Download to the cache unless the search path has all files, and return the folder that holds them.

        Every file is checked against its checksum, and appears only when complete; a broken download continues at the
        next call.
        """
        found = None if self.packaged or self.generated else self.folder()
        if found is not None and not (self.missing(found) and self.has_address):
            return found
        if self.packaged:
            raise ValueError(f"expected data with addresses, got {self.name!r}, which is inside the package")
        if self.generated or not self.has_address:
            self.paths()  # says where to get it
        folder = search_path.directories()[-1] / self.name
        lacking = [file for file in self.files.values() if find_packed(folder, file.name) is None]
        for url in dict.fromkeys(file.url for file in lacking):
            files = [file for file in lacking if file.url == url]
            if url.endswith(".tar.gz"):
                archive = download(url, folder / PurePosixPath(url).name, progress=progress)
                try:
                    _unpack(archive, files, url)
                finally:
                    archive.unlink()
            else:
                checks = {"sha256": files[0].sha256, "size": files[0].size or None}
                download(url, folder / files[0].name, **checks, progress=progress)  # type: ignore[arg-type]
        return folder

    def load(self, **options: Any) -> Any:
        """The data, ready for the task."""
        return KINDS[self.kind].load(self.name, **options)


@cache
def _registry() -> tuple[DataSet, ...]:
    entries = json.loads(resources.files("hybonet.data").joinpath("registry.json").read_text(encoding="utf-8"))
    return tuple(
        DataSet(
            **entry
            | {
                "files": {part: DataFile(**file) for part, file in entry["files"].items()},
                "folders": tuple(entry.get("folders", ())),
            }
        )
        for entry in entries
    )


def data_sets(kind: str | None = None) -> tuple[DataSet, ...]:
    """All named data sets, or those of one task.

    Example:
        >>> [entry.name for entry in data_sets("typing")]
        ['little-town', 'ufet']
    """
    return tuple(entry for entry in _registry() if kind in (None, entry.kind))


def find_named(name: object, kind: str | None = None) -> list[DataSet]:
    """The data sets of that name, capitals or not; ``toy`` is a corpus and a treebank."""
    return [entry for entry in data_sets(kind) if entry.name.casefold() == str(name).casefold()]


def named(name: str, kind: str | None = None) -> DataSet:
    """The data set of that name, capitals or not.

    Example:
        >>> named("FB15k237")
        Traceback (most recent call last):
        ValueError: expected a data set of the catalog, got 'FB15k237'; did you mean 'FB15k-237'?
    """
    found = find_named(name, kind)
    if not found:
        raise ValueError(f"expected a data set of the catalog, got {name!r}; {near(name, kind)}")
    return found[0]


def near(name: str, kind: str | None = None) -> str:
    """What to say after an unknown name."""
    names = {entry.name.casefold(): entry.name for entry in data_sets(kind)}
    close = difflib.get_close_matches(name.casefold(), names, n=1)
    return f"did you mean {names[close[0]]!r}?" if close else f"names are {', '.join(names.values())}"


def locate(data: str | Path, kind: str, given: Mapping[str, Any] | None = None) -> DataSet | Path:
    """What a name or a path means to a task; write ``./name`` for a path that is also a name.

    Args:
        data: the name or path.
        kind: the task.
        given: options that only a path may have.

    Example:
        >>> locate("Cora", "graph").licence
        'none stated (Planetoid: MIT)'
        >>> locate("wordnet", "graph")
        Traceback (most recent call last):
        ValueError: expected a graph, got 'wordnet', which is a knowledge graph; ...
    """
    one = KINDS[kind].one
    if found := find_named(data, kind):
        if given:
            raise ValueError(
                f"expected no options with the named data {found[0].name!r}, got {', '.join(given)}; leave them out, "
                "or give a path"
            )
        return found[0]
    if Path(data).exists():
        return Path(data)
    if others := find_named(data):
        other = KINDS[others[0].kind]
        raise ValueError(f"expected {one}, got {str(data)!r}, which is {other.one}; load it with load_{other.loads}")
    hint = near(str(data), kind)
    remedy = hint if hint.startswith("did") else f"check the path; {hint}"
    raise ValueError(f"expected {one}, got {str(data)!r}, which is neither a path nor a name; {remedy}")


def given_options(loader: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword options of a loader that differ from their defaults; ``values`` may be its ``locals()``."""
    defaults: Mapping[str, Any] = loader.__kwdefaults__ or {}
    return {
        name: values[name]
        for name, default in defaults.items()
        if values[name] is not default and not (isinstance(default, bool | int | float) and values[name] == default)
    }


def _unpack(archive: Path, files: list[DataFile], url: str) -> None:
    """Write the wanted files of an archive beside it, all or none; only names and contents that were expected."""
    contents = dict(_contents(archive, files, url))
    for file in files:
        found = hashlib.sha256(contents[file.name]).hexdigest() if file.name in contents else "no file of that size"
        if found != file.sha256:
            raise DownloadError(
                f"{url}: expected {file.name} in it with {file.size:,} bytes and sha256 {file.sha256}, got {found}; "
                "the archive there has changed and was not kept"
            )
    for file in files:
        part = archive.with_name(f"{file.name}.part")
        part.write_bytes(contents[file.name])
        os.replace(part, archive.with_name(file.name))


def _contents(archive: Path, files: list[DataFile], url: str) -> Iterator[tuple[str, bytes]]:
    sizes = {file.name: file.size for file in files}
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                name = PurePosixPath(member.name).name
                if member.isfile() and member.size == sizes.get(name):
                    yield name, tar.extractfile(member).read()  # type: ignore[union-attr]
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise DownloadError(
            f"{url}: expected a .tar.gz, got a damaged file ({error}); it was not kept, so try again"
        ) from None
