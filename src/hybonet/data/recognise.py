"""What a file or folder of one's own seems to hold, judged by its names and first lines, and the command for it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from statistics import mode
from typing import Any

from hybonet.data.graphs.loading import is_edge_header
from hybonet.data.graphs.node_tables import LABEL_WORDS, NODE_WORDS
from hybonet.data.hierarchies.loading import COLUMNS, RANKS
from hybonet.data.io.column_choice import is_number, recognise_header
from hybonet.data.io.in_memory import SPLIT_NAMES, memory_table
from hybonet.data.io.json_file import ENDINGS as JSON
from hybonet.data.io.json_file import is_json, json_rows
from hybonet.data.io.parquet_file import read_parquet
from hybonet.data.io.source_file import SourceFile, bare_name, read_source
from hybonet.data.io.text_table import SEPARATOR_NAMES, decode, parse_table
from hybonet.data.mentions.mention_data import SPAN

#: Rows that are looked at, and words from which a cell counts as a sentence.
_LOOKED_AT, _SENTENCE = 200, 3
_BY_ENDING = {".conllu": "probe", ".obo": "hierarchy", ".npz": "graph"}
#: By kind: what it is, and the command for it.
_KINDS = {
    "kg": ("triples of a knowledge graph", "hybonet train kg --data {}"),
    "graph": ("edges of a graph", "hybonet train graph --data {}"),
    "translation": ("sentences and their translations", "hybonet train translation --data {}"),
    "typing": ("mentions of entities with types", "hybonet train typing --data {}"),
    "hierarchy": ("a hierarchy", "hybonet train hierarchy --data {}"),
    "probe": ("dependency trees (CoNLL-U)", "hybonet probe ENCODER --trees {}"),
    "features": ("a table of nodes' features", "hybonet train graph --data EDGES --features {}"),
    "labels": ("a table of nodes' labels", "hybonet train graph --task nc --data EDGES --labels {}"),
}
#: A kind of data, and options of loading.
Kind = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Recognised:
    """The task that data seem to be for (or ``features``), what they are, and a command that trains on them."""

    kind: str
    what: str
    command: str
    #: Options of loading that are needed.
    options: Mapping[str, Any] = field(default_factory=dict)


def recognise(path: str | Path) -> Recognised:
    r"""Look at a file or folder; what it holds is a guess that loading will check.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "facts.tsv"
        >>> _ = path.write_text("ann\tknows\tbob\nbob\tknows\tcat\n")
        >>> recognise(path).what, recognise(path).command.replace(str(path), "facts.tsv")
        ('triples of a knowledge graph', 'hybonet train kg --data facts.tsv --out runs/mine')
    """
    path = Path(path)
    kind, options = _kind_of_folder(path) if path.is_dir() else _kind_of_file(path)
    given = "".join(
        f" --{name} {shlex.quote(value if isinstance(value, str) else ','.join(map(str, value)))}"
        for name, value in options.items()
    )
    what, command = _KINDS[kind]
    return Recognised(kind, what, f"{command.format(shlex.quote(str(path)))}{given} --out runs/mine", options)


def _kind_of_folder(folder: Path) -> Kind:
    files = {bare_name(entry.name): entry for entry in sorted(folder.iterdir()) if entry.is_file()}
    if any(PurePath(name).suffix == ".conllu" for name in files):
        return "probe", {}
    train = [name for name in files if PurePath(name).stem.casefold() in SPLIT_NAMES["train"]]
    if not train:
        raise ValueError(
            f"{folder}: expected a file of training data (train.txt, train.jsonl, train.en, …) or .conllu files, got "
            f"{', '.join(list(files)[:5]) or 'no files'}; rename it, or give the path of a single file"
        )
    usual = (".txt", ".tsv", ".csv", ".parquet", *JSON, *_BY_ENDING)
    known = [name for name in train if PurePath(name).suffix.lower() in usual]
    return _kind_of_file(files[known[0]]) if known else ("translation", {})


def _kind_of_file(path: Path) -> Kind:
    ending = PurePath(bare_name(path.name)).suffix.lower()
    if ending in _BY_ENDING:
        return _BY_ENDING[ending], {}
    file = read_source(path)
    if is_json(file):
        rows = json_rows(file)[:_LOOKED_AT]
        if rows and all(isinstance(row, dict) and SPAN in row for row in rows):
            return "typing", {}
        table = memory_table(rows)
        cells = [*([list(table.names)] if table.names else []), *map(list, zip(*table.texts, strict=True))]
        return _kind_of_rows(cells, file)
    if ending == ".parquet":
        found = read_parquet(file)
        names = list(found.column_names)
        if len(set(names).intersection(RANKS)) > 1:
            return "hierarchy", {}
        first = [[str(cell) for cell in row.values()] for row in found.slice(0, _LOOKED_AT).to_pylist()]
        return _kind_of_rows([names, *first], file)
    return _kind_of_text(file, ending)


def _kind_of_text(file: SourceFile, ending: str) -> Kind:
    lines = decode(file.content, file.source).splitlines()[:_LOOKED_AT]
    if ending == ".txt" and any(" > " in line for line in lines) and not any("\t" in line for line in lines):
        return "hierarchy", {}
    usual = "," if ending == ".csv" else "\t"
    rows = _cells(lines, file, usual)
    if rows and max(map(len, rows)) > 1:
        return _kind_of_rows(rows, file)
    others = {each: _cells(lines, file, each) for each in ("\t", ",", ";", "|", " ") if each != usual}
    for separator, cells in others.items():
        if {*map(len, cells)} == {3} and _kind_of_rows(cells, file)[0] == "kg":
            return "kg", {"separator": separator}
    for separator, cells in others.items():
        if len(widths := {*map(len, cells)}) == 1 and widths != {1}:
            raise ValueError(
                f"{file.source}: expected columns separated by {SEPARATOR_NAMES[usual]}, got {widths.pop()} separated "
                f"by {SEPARATOR_NAMES[separator]}; save it as .csv with commas, or as .tsv with tabs"
            )
    return _kind_of_rows(rows, file)


def _cells(lines: Sequence[str], file: SourceFile, separator: str) -> list[list[str]]:
    table = parse_table("\n".join(lines).encode(), file.source, separator=separator)
    return [[cell.strip() for cell in row] for row in table if row]


def _kind_of_rows(rows: Sequence[list[str]], file: SourceFile) -> Kind:
    if not rows:
        raise ValueError(f"{file.source}: expected data, got an empty file; check the path")
    width = mode(map(len, rows))
    body = [row for row in rows[1:] if len(row) == width] or [row for row in rows if len(row) == width]
    header = [cell.casefold() for cell in rows[0]]
    numbers = [all(map(is_number, (row[at] for row in body))) for at in range(width)]
    if recognise_header(header):
        return "kg", {}
    if width == 2:
        words = sorted(len(cell.split()) for row in body for cell in row)
        if tuple(header) == COLUMNS:
            kind = "hierarchy"
        elif header[1] in LABEL_WORDS:
            kind = "labels"
        else:
            kind = "translation" if words[len(words) // 2] >= _SENTENCE else "graph"
        return kind, {}
    names = [row[0] for row in body]
    is_table = len(set(names)) == len(names) and (header[0] in NODE_WORDS or all(numbers[1:]))
    if width > 2 and is_table and any(numbers[1:]) and not _pairs_of_nodes(body):
        return "features", {}
    if width == 3:
        if not numbers[2]:
            return ("graph", _columns(header)) if all(numbers) else ("kg", {})
        return "graph", _columns(header)
    raise ValueError(
        f"{file.source}: expected triples, edges, sentences or features, got {width} columns: "
        f"{', '.join(rows[0])[:80]}; choose columns with --columns where you train"
    )


def _columns(header: Sequence[str]) -> dict[str, Any]:
    """Which columns of a wider table are edges, unless its header says so."""
    return {} if is_edge_header(list(header)) else {"columns": (0, 1)}


def _pairs_of_nodes(rows: Sequence[list[str]]) -> bool:
    """Whether the second column names nodes of the first."""
    return len({row[0] for row in rows} & {row[1] for row in rows}) > len(rows) // 4
