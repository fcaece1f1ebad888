"""Loading a knowledge graph by name, from a folder of splits or from one file that is split here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from hybonet.data.io.column_choice import first_row, header_note
from hybonet.data.io.in_memory import is_path
from hybonet.data.io.json_file import ENDINGS as JSON
from hybonet.data.io.json_file import is_json, json_table
from hybonet.data.io.label_names import read_names
from hybonet.data.io.source_file import SourceFile, bare_name, read_source, split_files
from hybonet.data.registry import DataSet, given_options, locate
from hybonet.data.triples.from_memory import memory_triples, triples_of
from hybonet.data.triples.redundant_relations import (
    Ids,
    find_redundant_relations,
    first_rows,
    group_redundant,
    sizes_of,
    triple_keys,
)
from hybonet.data.triples.split import split_triples
from hybonet.data.triples.triple_data import SPLITS, SplitName, TripleData
from hybonet.data.triples.triple_file import ENDINGS, TripleFile, read_triple_file
from hybonet.data.vocabulary import Vocabulary

_SHOWN = 5
Names = str | Path | SourceFile | Mapping[str, str]


def load_knowledge_graph(
    data: Any,
    *,
    columns: Sequence[str | int] | None = None,
    header: bool | None = None,
    separator: str | None = None,
    names: Names | None = None,
    relation_names: Names | None = None,
    short_names: bool = False,
    valid: float = 0.05,
    test: float = 0.05,
    seed: int = 0,
) -> TripleData:
    r"""A knowledge graph by name (``wordnet``, ``WN18RR``), from a folder with train, valid and test, or from one file.

    Files are TSV (.txt, .tsv), CSV, JSON (an array, or a row per line) or Parquet, plain, gzip or xz. What
    the folder lacks (valid, test or both) is split off train with
    :func:`~hybonet.data.triples.split.split_triples`; one file is split into all three.

    Args:
        data: the name, the folder or the file (write ``./name`` for a path that is also a name); or what
            :func:`~hybonet.data.triples.from_memory.memory_triples` takes: a frame, rows, a PyKEEN factory, a graph of
            networkx, or a mapping of parts.
        columns: names or positions (from 0) of head, relation and tail.
        header: whether the first row holds column names; None looks whether it does.
        separator: the character between columns, where the ending does not say it.
        names: display names of entities: a file of label and name (and perhaps description), or a mapping.
        relation_names: the same for relations.
        short_names: names end at their first comma, the rest is the description.
        valid, test, seed: the shares to split off where a part is missing, and the seed of the choice.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "family.csv"
        >>> people = ["ann", "bob", "cat", "dan"]
        >>> _ = path.write_text("\n".join(f"{a},knows,{b}" for a in people for b in people))
        >>> graph = load_knowledge_graph(path, valid=0.1, test=0.2)
        >>> graph.statistics()
        {'entities': 4, 'relations': 1, 'train': 11, 'valid': 2, 'test': 3}
        >>> graph.warnings
        ("'knows' is symmetric: 100 % of its triples occur in both directions",)
        >>> load_knowledge_graph("wordnett")
        Traceback (most recent call last):
        ValueError: expected a knowledge graph, got 'wordnett', which is neither a path nor a name; did you mean ...
    """
    if isinstance(data, TripleData):
        return data
    given = given_options(load_knowledge_graph, locals())
    said = {name: value for name, value in given.items() if name not in ("columns", "header", "separator")}
    if not is_path(data):
        for name in ("header", "separator"):
            if name in given:
                raise ValueError(
                    f"expected {name} with text files only, got it with {type(data).__name__}; leave it out"
                )
        return build_triples(memory_triples(data, columns), source=type(data).__name__, **said)
    path = locate(data, "kg", given)
    if isinstance(path, DataSet):
        return _load_named(path)
    files = _split_files(path) if path.is_dir() else {"train": path}
    sources = {split: read_source(files[split]) for split in SPLITS if split in files}
    read = {
        split: triples_of(json_table(file), columns, file.source)
        if is_json(file)
        else read_triple_file(file, columns=columns, header=header, separator=separator)
        for split, file in sources.items()
    }
    return build_triples(read, source=str(path), **said)


def _load_named(entry: DataSet) -> TripleData:
    files = entry.read()
    return build_triples(
        {split: read_triple_file(files[split], header=False) for split in SPLITS},
        source=entry.name,
        names=files.get("names"),
        relation_names=files.get("relation_names") or entry.options.get("relation_names"),
        short_names=entry.options.get("short_names", False),
    )


def build_triples(
    read: Mapping[SplitName, TripleFile],
    *,
    source: str,
    names: Names | None = None,
    relation_names: Names | None = None,
    short_names: bool = False,
    valid: float = 0.05,
    test: float = 0.05,
    seed: int = 0,
) -> TripleData:
    """As :func:`load_knowledge_graph`, from triples as labels."""
    read, notes = _without_headers(read)
    entities = sorted({label for part in read.values() for column in (part.heads, part.tails) for label in column})
    relations = sorted({label for part in read.values() for label in part.relations})
    notes += [
        f"{part.source}: columns {', '.join(part.header)} of its header read as head, relation, tail"
        for part in read.values()
        if part.header
    ]
    entity = {label: number for number, label in enumerate(entities)}
    relation = {label: number for number, label in enumerate(relations)}
    arrays = {split: _numbered(read[split], entity, relation, notes) for split in SPLITS if split in read}
    loops = sum(int((part[:, 0] == part[:, 2]).sum()) for part in arrays.values())
    if loops:
        notes.append(f"{loops:,} triples join an entity with itself; they are kept, for a relation may say so")
    missing = [split for split in SPLITS if split not in arrays]
    warnings: list[str] = []
    if len(arrays) > 1:
        warnings += _leaks({split: arrays.get(split, arrays["train"][:0]) for split in SPLITS}, relations)
    if missing:
        arrays = _split_off(arrays, missing, {"valid": valid, "test": test}, seed, relations, notes, warnings)
    warnings += _unknown_in_train(arrays, entities, relations)
    entity_names = _named(entities, "entity", names, short_names, notes)
    named_relations = _named(relations, "relation", relation_names, short_names, notes)
    return TripleData(
        entity_names,
        named_relations,
        torch.from_numpy(arrays["train"]),
        torch.from_numpy(arrays["valid"]),
        torch.from_numpy(arrays["test"]),
        source=source,
        sha256={bare_name(part.source): part.sha256 for part in read.values()},
        notes=tuple(notes),
        warnings=tuple(warnings),
    )


def _without_headers(read: Mapping[SplitName, TripleFile]) -> tuple[dict[SplitName, TripleFile], list[str]]:
    """The files without first rows that are headers in words that nobody knows, and notes on these and on doubts."""
    found, notes = dict(read), []
    columns = {split: (part.heads, part.relations, part.tails) for split, part in read.items()}
    for split, part in read.items():
        others = [each for name, each in columns.items() if name != split]
        kind = first_row(columns[split], others) if part.may_have_header else "data"
        if kind != "data":
            row = [column[0] for column in columns[split]]
            notes.append(header_note(part.source, row, "a triple", is_header=kind == "header"))
        if kind == "header":
            heads, relations, tails = (column[1:] for column in columns[split])
            found[split] = replace(part, heads=heads, relations=relations, tails=tails)
    return found, notes


def _split_files(folder: Path) -> dict[str, Path]:
    found = split_files(folder, (*ENDINGS, *JSON))
    if "train" not in found:
        names = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
        held = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "") if names else "no files"
        raise ValueError(
            f"{folder}: expected a file train.txt, train.tsv, train.csv or train.parquet (also .gz or .xz), got "
            f"{held}; rename the file of training triples, or give the path of a single file"
        )
    return found


def _numbered(part: TripleFile, entity: dict[str, int], relation: dict[str, int], notes: list[str]) -> Ids:
    """Triples as numbers, each once, in file order."""
    triples = np.empty((len(part), 3), dtype=np.int64)
    for column, (labels, numbers) in enumerate(
        ((part.heads, entity), (part.relations, relation), (part.tails, entity))
    ):
        triples[:, column] = np.fromiter(map(numbers.__getitem__, labels), np.int64, len(labels))
    first = np.sort(first_rows(triples))
    if len(first) < len(triples):
        notes.append(f"{part.source}: {len(triples) - len(first):,} repeated triples dropped")
    return triples[first]


def _split_off(
    arrays: dict[SplitName, Ids],
    missing: list[SplitName],
    shares: dict[str, float],
    seed: int,
    relations: list[str],
    notes: list[str],
    warnings: list[str],
) -> dict[SplitName, Ids]:
    shares = {split: share if split in missing else 0.0 for split, share in shares.items()}
    parts = split_triples(torch.from_numpy(arrays["train"]), valid=shares["valid"], test=shares["test"], seed=seed)
    held = {"train": parts.train, "valid": parts.valid, "test": parts.test}
    made = {split: held[split].numpy() for split in SPLITS}
    sizes = " and ".join(f"{len(made[split]):,} triples for {split}" for split in missing)
    notes.append(f"{sizes} held out with seed {seed}; every entity and relation stays in train")
    notes += parts.notes
    if parts.redundant:
        warnings += _summaries([pair.describe(relations) for pair in parts.redundant])
        notes.append("triples that repeat each other by these relations are on the same side of the split")
    return {split: arrays[split] if split in arrays and split != "train" else made[split] for split in SPLITS}


def _leaks(arrays: dict[SplitName, Ids], relations: list[str]) -> list[str]:
    """Warnings on triples of valid or test that train already answers."""
    warnings = []
    everything = np.concatenate([arrays[split] for split in SPLITS])
    part = np.repeat(np.arange(len(SPLITS)), [len(arrays[split]) for split in SPLITS])
    keys = triple_keys(everything, *sizes_of(everything))
    in_train = part == 0
    first = np.ones(len(everything), dtype=bool)
    for number in (1, 2):
        shared = np.isin(keys[part == number], keys[part < number])
        first[part == number] = ~shared
        if shared.any():
            before = " or ".join(split for split in SPLITS[:number] if len(arrays[split]))
            warnings.append(f"{shared.sum():,} triples of {SPLITS[number]} also occur in {before}")
    everything, part, in_train = everything[first], part[first], in_train[first]
    redundant = find_redundant_relations(everything)
    group = group_redundant(everything, redundant)
    leaking = False
    for number in (1, 2):
        answered = np.isin(group[part == number], group[in_train]).sum()
        if answered:
            leaking = True
            warnings.append(
                f"{answered:,} of {(part == number).sum():,} triples of {SPLITS[number]} are repeated in train by a "
                "symmetric, inverse or duplicate relation"
            )
    return warnings + _summaries([pair.describe(relations) for pair in redundant] if leaking else [])


def _unknown_in_train(arrays: dict[SplitName, Ids], entities: list[str], relations: list[str]) -> list[str]:
    warnings = []
    for kind, labels, columns in (("entities", entities, [0, 2]), ("relations", relations, [1])):
        known = np.unique(arrays["train"][:, columns])
        for split in ("valid", "test"):
            unknown = np.setdiff1d(arrays[split][:, columns], known)
            if len(unknown):
                first = ", ".join(labels[number] for number in unknown[:_SHOWN])
                warnings.append(
                    f"{len(unknown):,} {kind} of {split} do not occur in train, so nothing is learned of them: {first}"
                    + (", …" if len(unknown) > _SHOWN else "")
                )
    return warnings


def _named(labels: list[str], kind: str, names: Names | None, short_names: bool, notes: list[str]) -> Vocabulary:
    if names is None:
        return Vocabulary(tuple(labels), kind=kind)
    if isinstance(names, Mapping):
        given = {label: (name, "") for label, name in names.items()}
    else:
        given = read_names(names if isinstance(names, SourceFile) else read_source(names), short_names=short_names)
    found = [given.get(label, (label, "")) for label in labels]
    vocabulary = Vocabulary(tuple(labels), tuple(name for name, _ in found), tuple(text for _, text in found), kind)
    unnamed = sum(label not in given for label in labels)
    if unnamed == len(labels) and given:
        raise ValueError(
            f"expected names for {vocabulary.plural} such as {labels[0]!r}, got {len(given):,} for others, such as "
            f"{next(iter(given))!r}; give a file with the graph's labels in its first column"
        )
    if unnamed:
        notes.append(f"{unnamed:,} of {len(labels):,} {vocabulary.plural} have no name and are shown by their label")
    return vocabulary


def _summaries(lines: list[str]) -> list[str]:
    return lines if len(lines) <= _SHOWN else [*lines[:_SHOWN], f"and {len(lines) - _SHOWN:,} more redundant relations"]
