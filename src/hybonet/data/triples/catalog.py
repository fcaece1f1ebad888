"""Named graphs: found on the search path, checked against their checksums, downloaded on request."""

from __future__ import annotations

import difflib
import hashlib
import os
import tarfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from hybonet.data.io import search_path
from hybonet.data.io.download import DownloadError, Progress, download
from hybonet.data.io.source_file import SourceFile, find_packed, read_checked
from hybonet.data.triples.benchmarks import BENCHMARKS, DataFile, DataSet
from hybonet.data.triples.loading import build_triples, load_triples
from hybonet.data.triples.shipped import load_shipped, shipped_graphs
from hybonet.data.triples.triple_data import TripleData


def catalog_entry(name: str) -> DataSet:
    """The data set of that name, capitals or not.

    Example:
        >>> catalog_entry("wn18rr").statistics["entities"]
        40943
        >>> catalog_entry("FB15k237")
        Traceback (most recent call last):
        ValueError: expected a data set of the catalog, got 'FB15k237'; did you mean 'FB15k-237'?
    """
    by_folded = {known.casefold(): entry for known, entry in BENCHMARKS.items()}
    if name.casefold() in by_folded:
        return by_folded[name.casefold()]
    names = {known.casefold(): known for known in (*BENCHMARKS, *shipped_graphs())}
    near = difflib.get_close_matches(name.casefold(), names, n=1)
    hint = f"did you mean {names[near[0]]!r}?" if near else f"it knows {', '.join(names.values())}"
    raise ValueError(f"expected a data set of the catalog, got {name!r}; {hint}")


def find_dataset(name: str) -> Path | None:
    """The first folder on the search path that holds a data set's train, valid and test files, or None.

    Looked for are ``WN18RR/``, ``wn18rr/`` and the same below ``small_kgs/`` in each directory of ``HYBONET_DATA`` and
    in the cache; files may be packed with gzip or xz.

    Example:
        >>> find_dataset("UMLS") is None or find_dataset("UMLS").is_dir()
        True
    """
    entry = catalog_entry(name)
    for folder in _folders(entry):
        if all(find_packed(folder, file.name) for file in entry.splits):
            return folder
    return None


def load_dataset(name: str) -> TripleData:
    """A data set of the catalog from the search path, every file checked against its checksum.

    Example:
        >>> if find_dataset("UMLS"):
        ...     assert load_dataset("UMLS").statistics() == catalog_entry("UMLS").statistics
    """
    entry = catalog_entry(name)
    folder = find_dataset(name)
    if folder is None:
        raise ValueError(
            f"expected the files of {entry.name} on {search_path.described()}, "
            f"found them nowhere; download them with "
            f"hybonet data fetch {entry.name} ({entry.size / 1e6:.1f} MB, licence {entry.licence}), or put "
            f"{', '.join(file.name for file in entry.splits)} from {entry.source} into a folder {entry.name} there"
        )
    train, valid, test = (_checked(folder, file) for file in entry.splits)
    names, relation_names = (
        _checked(folder, file) if file and find_packed(folder, file.name) else None
        for file in (entry.entity_names, entry.relation_names)
    )
    return build_triples(
        {"train": train, "valid": valid, "test": test},
        source=entry.name,
        header=False,
        names=names,
        relation_names=relation_names,
        short_names=entry.short_names,
    )


def fetch_dataset(name: str, *, progress: Progress | None = None) -> Path:
    """Download what the search path lacks of a data set into the cache, and return the folder that holds it.

    Every file is checked against its checksum, and appears only when complete; a broken download continues at the next
    call.

    Example:
        >>> fetch_dataset("WN18")
        Traceback (most recent call last):
        ValueError: expected a data set of the catalog, got 'WN18'; did you mean 'WN18RR'?
    """
    entry = catalog_entry(name)
    found, folder = find_dataset(name), search_path.directories()[-1] / entry.name
    if found is not None and found != folder:
        return found
    missing = [file for file in entry.files if find_packed(folder, file.name) is None]
    for url in dict.fromkeys(file.url for file in missing):
        files = [file for file in missing if file.url == url]
        if files[0].in_archive:
            archive = download(url, folder / PurePosixPath(url).name, progress=progress)
            try:
                _unpack(archive, files, url)
            finally:
                archive.unlink()
        else:
            download(url, folder / files[0].name, sha256=files[0].sha256, progress=progress)
    return folder


def load_graph(source: str | Path, **options: Any) -> TripleData:
    """A graph by name, shipped (``wordnet``) or of the catalog (``WN18RR``), or else by path (:func:`load_triples`).

    Args:
        source: a name or a path; write ``./name`` for a path that is also a name.
        options: of :func:`load_triples`, for a path only.

    Example:
        >>> load_graph("wordnet").num_relations > 10
        True
        >>> load_graph("wordnett")
        Traceback (most recent call last):
        ValueError: expected a graph, got 'wordnett', which is neither a path nor a name; did you mean 'wordnet'?
    """
    names = {name.casefold(): name for name in (*shipped_graphs(), *BENCHMARKS)}
    known = names.get(str(source).casefold())
    if known is not None:
        if options:
            raise ValueError(
                f"expected no options with the named graph {known!r}, got {', '.join(options)}; leave them out, or "
                "give a path"
            )
        return load_shipped(known) if known in shipped_graphs() else load_dataset(known)
    if not Path(source).exists():
        near = difflib.get_close_matches(str(source).casefold(), names, n=1)
        hint = f"did you mean {names[near[0]]!r}?" if near else f"check the path; names are {', '.join(names.values())}"
        raise ValueError(f"expected a graph, got {str(source)!r}, which is neither a path nor a name; {hint}")
    return load_triples(source, **options)


def _folders(entry: DataSet) -> Iterable[Path]:
    for directory in search_path.directories():
        for name in dict.fromkeys((entry.name, entry.name.lower())):
            yield directory / name
            yield directory / "small_kgs" / name


def _checked(folder: Path, file: DataFile) -> SourceFile:
    path = find_packed(folder, file.name)
    assert path is not None, "find_dataset looks for it"
    return read_checked(path, file.sha256)


def _unpack(archive: Path, files: list[DataFile], url: str) -> None:
    """Write the wanted files of an archive beside it, all or none; only names and contents that were expected."""
    contents: dict[str, bytes] = {}
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                wanted = next((file for file in files if PurePosixPath(member.name).name == file.name), None)
                if wanted and member.isfile() and member.size == wanted.size:
                    contents[wanted.name] = tar.extractfile(member).read()  # type: ignore[union-attr]
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise DownloadError(
            f"{url}: expected a .tar.gz, got a damaged file ({error}); it was not kept, so try again"
        ) from None
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
