"""Treebanks for training, validation and test: by name, from a folder, or one file split in three."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from hybonet.data.io import search_path
from hybonet.data.io.download import Progress, download
from hybonet.data.io.source_file import PACKED, SourceFile, find_packed, read_checked, read_source, unpack
from hybonet.data.trees.conllu import parse_conllu
from hybonet.data.trees.dependency_tree import DependencyTree
from hybonet.data.triples.benchmarks import DataFile

if TYPE_CHECKING:
    from importlib.abc import Traversable  # importlib.resources.abc from Python 3.11 on

SPLITS = ("train", "valid", "test")
#: The treebank inside the package.
TOY = "toy"
_ENDING = ".conllu"
#: Sentences of one file, of which two are held out.
_EVERY = 10
#: How files of a folder may call the validation data.
_WORDS = {"train": ("train",), "valid": ("valid", "dev", "val"), "test": ("test",)}


@dataclass(frozen=True)
class TreebankEntry:
    """A published treebank.

    Example:
        >>> TREEBANKS["UD_English-EWT"].statistics["train"]
        12544
    """

    name: str
    licence: str
    source: str
    files: Mapping[str, DataFile]
    #: Sentences of each split.
    statistics: Mapping[str, int]


_EWT = "https://raw.githubusercontent.com/UniversalDependencies/UD_English-EWT/15d613d8447b3478787d4c278730a1e48a945efb"
TREEBANKS = {
    "UD_English-EWT": TreebankEntry(
        name="UD_English-EWT",
        licence="CC BY-SA 4.0",
        source="github.com/UniversalDependencies/UD_English-EWT",
        files={
            split: DataFile(f"en_ewt-ud-{part}.conllu", sha256, size, f"{_EWT}/en_ewt-ud-{part}.conllu")
            for split, part, sha256, size in (
                ("train", "train", "3fb78e2b55482c8ee00caa653af436c88c9e5bc9a73ce26e4ae3ddc79d2b7e7b", 14_203_025),
                ("valid", "dev", "531a54ff90d6ab12201c5a50c3e78e6ddac4de69abc4bce5d275d3cd29efe2b6", 1_805_545),
                ("test", "test", "e266e515a0a7547657ed3d90d9ba46487d6bd251f27ad4269d4e8a427c8555cd", 1_804_515),
            )
        },
        statistics={"train": 12_544, "valid": 2_001, "test": 2_077},
    )
}


@dataclass(frozen=True, eq=False)
class Treebank:
    """Trees to learn from, to choose with and to measure on.

    Example:
        >>> treebank = load_treebank("toy")
        >>> treebank.source, len(treebank.valid) == len(treebank.test)
        ('toy', True)
    """

    train: tuple[DependencyTree, ...]
    valid: tuple[DependencyTree, ...]
    test: tuple[DependencyTree, ...]
    source: str
    #: Checksums of the files by split, or of the one file under ``all``.
    sha256: Mapping[str, str]

    def trees(self, split: str) -> tuple[DependencyTree, ...]:
        """The trees of ``train``, ``valid`` or ``test``."""
        return {"train": self.train, "valid": self.valid, "test": self.test}[split]

    def statistics(self) -> dict[str, int]:
        """Sentences and words of each split."""
        counts = {split: len(self.trees(split)) for split in SPLITS}
        return {**counts, **{f"{split}_words": sum(map(len, self.trees(split))) for split in SPLITS}}


def load_treebank(source: str | Path) -> Treebank:
    """A treebank by name (``toy`` is inside the package), from a folder with a file for each split, or from one file.

    One file is split by :func:`split_places`.

    Example:
        >>> load_treebank("UD_English-EVT")
        Traceback (most recent call last):
        ValueError: expected a treebank, got 'UD_English-EVT', which is ...; did you mean 'UD_English-EWT'?
    """
    names = {name.casefold(): name for name in (TOY, *TREEBANKS)}
    known = names.get(str(source).casefold())
    if known == TOY:
        return _from_files(
            TOY, {split: unpack(place.name, place.read_bytes()) for split, place in _toy_places().items()}
        )
    if known is not None:
        return _published(TREEBANKS[known])
    path = Path(source)
    if path.is_dir():
        return _from_files(str(source), _in_folder(path))
    if not path.is_file():
        near = difflib.get_close_matches(str(source).casefold(), names, n=1)
        hint = f"did you mean {names[near[0]]!r}?" if near else f"check the path; names are {', '.join(names.values())}"
        raise ValueError(f"expected a treebank, got {str(source)!r}, which is neither a path nor a name; {hint}")
    return _split(str(source), read_source(path))


def split_places(count: int) -> dict[str, list[int]]:
    """Which sentences of one file are for what: of every ten the ninth for validation, the tenth for test.

    Example:
        >>> split_places(11)["train"], split_places(11)["test"]
        ([0, 1, 2, 3, 4, 5, 6, 7, 10], [9])
    """
    place = {_EVERY - 2: "valid", _EVERY - 1: "test"}
    chosen: dict[str, list[int]] = {split: [] for split in SPLITS}
    for number in range(count):
        chosen[place.get(number % _EVERY, "train")].append(number)
    return chosen


def published_name(name: str) -> str | None:
    """The name of a published treebank as it is written, capitals or not; None for other words.

    Example:
        >>> published_name("ud_english-ewt")
        'UD_English-EWT'
    """
    return next((known for known in TREEBANKS if known.casefold() == name.casefold()), None)


def find_treebank(name: str) -> Path | None:
    """The first folder on the search path that has all files of a published treebank, packed or not, or None.

    Example:
        >>> find_treebank("UD_English-EWT") is None or find_treebank("UD_English-EWT").is_dir()
        True
    """
    entry = TREEBANKS[name]
    for directory in search_path.directories():
        if all(find_packed(directory / name, file.name) for file in entry.files.values()):
            return directory / name
    return None


def fetch_treebank(name: str, *, progress: Progress | None = None) -> Path:
    """Download a published treebank to the cache unless the search path has it, and return its folder."""
    found, folder = find_treebank(name), search_path.directories()[-1] / name
    if found is not None:
        return found
    for file in TREEBANKS[name].files.values():
        if find_packed(folder, file.name) is None:
            download(file.url, folder / file.name, sha256=file.sha256, progress=progress)
    return folder


def _published(entry: TreebankEntry) -> Treebank:
    folder = find_treebank(entry.name)
    if folder is None:
        raise ValueError(
            f"expected the files of {entry.name} on {search_path.described()}, "
            f"found them nowhere; download them with "
            f"hybonet data fetch {entry.name} (licence {entry.licence})"
        )
    files = {}
    for split, file in entry.files.items():
        path = find_packed(folder, file.name)
        assert path is not None, "find_treebank looks for it"
        files[split] = read_checked(path, file.sha256)
    return _from_files(entry.name, files)


def toy_trees() -> list[str]:
    """Where the treebank ``toy`` lies in the installed package: train, valid and test.

    Example:
        >>> [Path(path).name for path in toy_trees()][1:]
        ['toy_trees_valid.conllu.xz', 'toy_trees_test.conllu.xz']
    """
    return [str(place) for place in _toy_places().values()]


def _toy_places() -> dict[str, Traversable]:
    folder = resources.files("hybonet.data").joinpath("shipped")
    return {split: folder.joinpath(f"{TOY}_trees_{split}.conllu.xz") for split in SPLITS}


def _in_folder(folder: Path) -> dict[str, SourceFile]:
    endings = tuple(_ENDING + packed for packed in ("", *PACKED))
    present = sorted(path for path in folder.iterdir() if path.name.endswith(endings))
    files = {}
    for split, words in _WORDS.items():
        fitting = [path for path in present if any(word in path.name.casefold() for word in words)]
        if len(fitting) != 1:
            got = ", ".join(path.name for path in fitting or present) or "no .conllu file at all"
            raise ValueError(
                f"{folder}: expected one .conllu file with {' or '.join(words)} in its name, got {got}; a treebank's "
                "folder has one file each for train, dev and test"
            )
        files[split] = read_source(fitting[0])
    return files


def _from_files(source: str, files: Mapping[str, SourceFile]) -> Treebank:
    trees = {split: tuple(parse_conllu(file)) for split, file in files.items()}
    checksums = {split: file.sha256 for split, file in files.items()}
    return Treebank(trees["train"], trees["valid"], trees["test"], source, checksums)


def _split(source: str, file: SourceFile) -> Treebank:
    trees = parse_conllu(file)
    if len(trees) < _EVERY:
        raise ValueError(
            f"{source}: expected at least {_EVERY} sentences, of which two are held out for validation and test, got "
            f"{len(trees)}; add sentences, or give a folder with files for train, dev and test"
        )
    parts = {split: tuple(trees[place] for place in split_places(len(trees))[split]) for split in SPLITS}
    return Treebank(parts["train"], parts["valid"], parts["test"], source, {"all": file.sha256})
