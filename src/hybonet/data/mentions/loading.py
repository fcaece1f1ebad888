"""Mentions by name or from files: splits, the inventory of types, and word vectors that cover them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from hybonet.data.io import search_path
from hybonet.data.io.in_memory import is_path, memory_splits, memory_table
from hybonet.data.io.source_file import PACKED, SourceFile, find_packed, read_source, split_files
from hybonet.data.mentions.mention_data import (
    LEFT,
    RIGHT,
    SPAN,
    SPLITS,
    TYPES,
    Mention,
    MentionData,
    as_row,
    checked_mentions,
    read_mentions,
)
from hybonet.data.mentions.sentence_words import mention_in
from hybonet.data.mentions.type_inventory import TypeInventory, read_inventory
from hybonet.data.mentions.word_vectors import HASHED, WordVectors, encoder_vectors, hashed_vectors, read_vectors
from hybonet.data.registry import DataSet, locate

#: Where word vectors are looked for on the search path if none are given.
_GLOVE = (
    "glove.6B.100d.txt",
    "glove.6B/glove.6B.100d.txt",
    "glove_100d_subset/glove.6B.100d.subset.txt",
)
_ENDINGS = (".json", ".jsonl")
#: Shares of a single file that are held out.
_HELD_OUT = 0.1


def load_mentions(data: Any, *, types: str | Path | None = None, words: str | Path | None = None) -> MentionData:
    """Mentions by name (``little-town`` inside the package, ``ufet`` from the search path) or by path.

    Args:
        data: a name; a folder with train, valid (or dev) and test files, ``.json`` or ``.jsonl``, perhaps packed; or
            one such file, of which a tenth each becomes valid and test; or in memory a frame or rows with the same
            keys, or with ``sentence``, its ``[mention]`` in brackets, and a list of ``types``; or a mapping of parts.
        types: a file with a type per line, or type, tab and level. Without, ``types.txt`` or ``types.tsv`` of the
            folder, else the types that occur, on one level.
        words: a text file of word vectors, a folder with a sentence encoder, or ``hashed``: by their letters. Without,
            ``words.txt`` of the folder, else GloVe on the search path, else hashed.

    Example:
        >>> town = load_mentions("little-town")
        >>> town.types.levels
        ('coarse', 'fine', 'ultra-fine')
        >>> load_mentions("litle-town")
        Traceback (most recent call last):
        ValueError: expected mentions, got 'litle-town', which is neither a path nor a name; did you mean 'little-town'?
    """
    if isinstance(data, MentionData):
        return data
    if not is_path(data):
        known = None if types is None else read_inventory(read_source(types))
        rows, sums = {}, {}
        for split, part in memory_splits(data).items():
            rows[split] = _memory_mentions(part, known)
            sums[split] = hashlib.sha256("\n".join(map(as_row, rows[split])).encode()).hexdigest()
        chosen = None if words is None else Path(words)
        return _build(rows, known, lambda wanted: _vectors(chosen, wanted), sums, source=type(data).__name__)
    path = locate(data, "typing", {} if types is None else {"types": types})
    if isinstance(path, DataSet):
        return _load_named(path, words)
    files = _folder_files(path) if path.is_dir() else {"all": read_source(path)}
    beside = path if path.is_dir() else None
    inventory_file = Path(types) if types is not None else _beside(beside, ("types.txt", "types.tsv"))
    inventory = None if inventory_file is None else read_source(inventory_file)
    vectors = Path(words) if words is not None else _beside(beside, ("words.txt", "vectors.txt"))
    return _from_files(files, inventory, lambda wanted: _vectors(vectors, wanted), source=str(path))


def _memory_mentions(data: Any, types: TypeInventory | None) -> list[Mention]:
    if isinstance(data, Sequence) and all(isinstance(each, Mention) for each in data):
        return checked_mentions("mentions", enumerate(data, 1), types, row_is="row")
    table = memory_table(data)
    if {"sentence", "types"} <= set(table.names):
        places = [table.names.index(name) for name in ("sentence", "types")]
        table = replace(table, names=(), columns=[table.columns[at] for at in places])
    if table.names:
        return checked_mentions(table.source, enumerate(table.records(), 1), types, row_is="row")
    if len(table.columns) != 2:
        raise ValueError(
            f"{table.source}: expected a sentence with its [mention] in brackets, and a list of types, got "
            f"{len(table.columns)} columns; give sentence and types, or {LEFT}, {SPAN}, {RIGHT} and {TYPES}"
        )
    mentions = []
    for number, (sentence, labels) in enumerate(zip(*table.columns, strict=True)):
        try:
            given = (labels,) if isinstance(labels, str) else tuple(map(str, labels))
            mentions.append(replace(mention_in(sentence), types=given))
        except (ValueError, TypeError) as error:
            raise ValueError(f"{table.where(number)}: {error}") from None
    return checked_mentions(table.source, enumerate(mentions, 1), types, row_is="row")


def _from_files(
    files: Mapping[str, SourceFile],
    types: SourceFile | None,
    vectors: Callable[[set[str]], WordVectors],
    *,
    source: str,
    levels: Sequence[tuple[str, int | None]] = (),
) -> MentionData:
    inventory = None if types is None else read_inventory(types)
    rows = {name: read_mentions(file, inventory) for name, file in files.items()}
    sums = {file.bare_name: file.sha256 for file in (*files.values(), *([types] if types else []))}
    return _build(rows, inventory, vectors, sums, source=source, levels=levels)


def _build(
    given: Mapping[str, Sequence[Mention]],
    inventory: TypeInventory | None,
    vectors: Callable[[set[str]], WordVectors],
    sums: Mapping[str, str],
    *,
    source: str,
    levels: Sequence[tuple[str, int | None]] = (),
) -> MentionData:
    rows = {name: tuple(part) for name, part in given.items()}
    notes: list[str] = []
    if held := SPLITS[1:] if len(rows) == 1 else SPLITS[1:2] if "valid" not in rows else ():
        rows |= _split(rows.pop("all", ()) or rows["train"], source, held)
        notes.append("split into " + ", ".join(f"{len(rows[name]):,} {name}" for name in SPLITS))
    if inventory is None:
        inventory = TypeInventory.of(label for split in rows.values() for each in split for label in each.types)
        notes.append(f"no inventory of types given: the {len(inventory):,} that occur, all on one level")
    elif levels:
        inventory = inventory.with_levels(levels)
    bare = sum(1 for split in rows.values() for each in split if not each.types)
    if bare:
        notes.append(f"{bare:,} mentions have no types: nothing is learned from them, and recall leaves them out")
    trained = {label for each in rows["train"] for label in each.types}
    unseen = {label for name in SPLITS[1:] for each in rows.get(name, ()) for label in each.types} - trained
    if unseen:
        notes.append(f"{len(unseen):,} types of valid and test do not occur in train, so nothing is learned of them")
    forms = {word for split in rows.values() for each in split for word in (*each.left, *each.words, *each.right)}
    known = vectors(forms)
    missing = sum(1 for word in forms if known.number(word) == 1)
    if missing == len(forms):
        raise ValueError(
            f"expected vectors for words such as {sorted(forms)[0]!r}, but {known.source} has none of the "
            f"{len(forms):,} words of the data; give vectors of the same language"
        )
    if missing:
        notes.append(f"{missing:,} of {len(forms):,} words have no vector and are read as unknown")
    return MentionData(
        inventory,
        known,
        rows["train"],
        rows.get("valid", ()),
        rows.get("test", ()),
        source=source,
        sha256={**sums, "word vectors": known.sha256},
        notes=(*notes, *known.notes),
    )


def _split(mentions: Sequence[Mention], source: str, held_out: Sequence[str]) -> dict[str, tuple[Mention, ...]]:
    """A seeded split into train and what is held out; mentions of the same sentence stay together."""
    sentences = list(dict.fromkeys((*each.left, *each.words, *each.right) for each in mentions))
    held = round(_HELD_OUT * len(sentences))
    if not held:
        raise ValueError(
            f"{source}: expected mentions enough to hold out a tenth each for {' and '.join(held_out)}, got "
            f"{len(sentences)} sentences; give more, or a folder with train, valid and test files"
        )
    order = torch.randperm(len(sentences), generator=torch.Generator().manual_seed(0)).tolist()
    parts = dict.fromkeys(sentences, "train")
    for number, name in enumerate(held_out):
        parts |= {sentences[place]: name for place in order[number * held : (number + 1) * held]}
    return {
        name: tuple(each for each in mentions if parts[(*each.left, *each.words, *each.right)] == name)
        for name in ("train", *held_out)
    }


def _folder_files(folder: Path) -> dict[str, SourceFile]:
    found = split_files(folder, _ENDINGS)
    if "train" not in found:
        others = ", ".join(sorted(path.name for path in folder.iterdir())[:5]) or "an empty folder"
        raise ValueError(f"{folder}: expected a file train.json or train.jsonl, got {others}; name it so")
    return {split: read_source(path) for split, path in found.items()}


def _beside(folder: Path | None, names: Sequence[str]) -> Path | None:
    return next((path for name in names if folder and (path := find_packed(folder, name))), None)


def _vectors(path: Path | None, wanted: set[str]) -> WordVectors:
    if path is None:
        places = (search_path.find(name + packed) for name in _GLOVE for packed in ("", *PACKED))
        path = next((place for place in places if place is not None), None)
    if path is None or str(path) == HASHED:
        return hashed_vectors(wanted)
    if path.is_dir():
        return encoder_vectors(path, wanted)
    return read_vectors(path, wanted)


def _load_named(entry: DataSet, words: str | Path | None) -> MentionData:
    files, own = entry.read(), entry.paths().get("words")
    data = _from_files(
        {split: files[split] for split in SPLITS},
        files["types"],
        lambda wanted: _vectors(own if words is None else Path(words), wanted),
        source=entry.name,
        levels=[(level, size) for level, size in entry.options.get("levels", ())],
    )
    if words is not None or own is None:
        return data
    return replace(data, vectors=replace(data.vectors, source=f"{entry.name} words"))
