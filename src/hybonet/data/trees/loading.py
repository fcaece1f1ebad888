"""Treebanks for training, validation and test: by name, from a folder, or one file split in three."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hybonet.data.io.in_memory import is_path, memory_splits, memory_table
from hybonet.data.io.source_file import PACKED, SourceFile, read_source
from hybonet.data.registry import DataSet, locate
from hybonet.data.trees.conllu import conllu_text, parse_conllu
from hybonet.data.trees.dependency_tree import DependencyTree

SPLITS = ("train", "valid", "test")
_ENDING = ".conllu"
#: Sentences of one file, of which two are held out.
_EVERY = 10
#: How files of a folder may call the validation data.
_WORDS = {"train": ("train",), "valid": ("valid", "dev", "val"), "test": ("test",)}


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


def load_treebank(data: Any) -> Treebank:
    """A treebank by name (``toy`` is inside the package), from a folder with a file for each split, or from one file.

    One file is split by :func:`split_places`, and so are trees in memory: a list of :class:`DependencyTree`, or rows
    with ``words`` (or ``tokens``), ``upos`` and ``head``, as in Hugging Face data sets; a mapping may name the parts,
    of which train gives those that are missing.

    Example:
        >>> load_treebank("UD_English-EVT")
        Traceback (most recent call last):
        ValueError: expected a treebank, got 'UD_English-EVT', which is ...; did you mean 'UD_English-EWT'?
    """
    if isinstance(data, Treebank):
        return data
    if not is_path(data):
        parts = {split: _memory_trees(part) for split, part in memory_splits(data).items()}
        source = type(data).__name__
        checksums = {split if len(parts) > 1 else "all": _checksum(trees) for split, trees in parts.items()}
        return _split(source, parts, checksums)
    path = locate(data, "probe")
    if isinstance(path, DataSet):
        return _from_files(path.name, path.read())
    if path.is_dir():
        return _from_files(str(data), _in_folder(path))
    file = read_source(path)
    return _split(str(data), {"train": parse_conllu(file)}, {"all": file.sha256})


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


def _memory_trees(data: Any) -> list[DependencyTree]:
    if isinstance(data, Sequence) and all(isinstance(tree, DependencyTree) for tree in data):
        return list(data)
    trees = []
    table = memory_table(data)
    for number, row in enumerate(table.records()):
        words, tags, heads = row.get("words", row.get("tokens")), row.get("upos", row.get("tags")), row.get("head")
        if words is None or tags is None or heads is None:
            raise ValueError(
                f"{table.source}: expected columns words (or tokens), upos and head, got {', '.join(table.names)}; "
                "rename or add them"
            )
        try:
            trees.append(DependencyTree(tuple(words), tuple(map(str, tags)), tuple(int(head) for head in heads)))
        except ValueError as error:
            raise ValueError(f"{table.where(number)}: {error}") from None
    return trees


def _checksum(trees: Sequence[DependencyTree]) -> str:
    return hashlib.sha256(conllu_text(trees).encode()).hexdigest()


def _split(source: str, given: Mapping[str, Sequence[DependencyTree]], sha256: Mapping[str, str]) -> Treebank:
    """Parts that are not given are taken out of train."""
    trees, missing = given["train"], [split for split in SPLITS if split not in given]
    if missing and len(trees) < _EVERY:
        raise ValueError(
            f"{source}: expected at least {_EVERY} sentences, of which some are held out as {' and '.join(missing)}, "
            f"got {len(trees)}; add sentences, or give a folder with files for train, dev and test"
        )
    places = split_places(len(trees))
    out = {place for split in missing for place in places[split]}
    parts = {**given, **{split: [trees[place] for place in places[split]] for split in missing}}
    train = tuple(tree for place, tree in enumerate(trees) if place not in out)
    return Treebank(train, tuple(parts["valid"]), tuple(parts["test"]), source, sha256)
