"""What a file or folder of one's own seems to hold, judged by its names and first lines, and the command for it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from hybonet.data.hierarchies.loading import COLUMNS, RANKS
from hybonet.data.io.column_choice import recognise_header
from hybonet.data.io.in_memory import SPLIT_NAMES
from hybonet.data.io.parquet_file import read_parquet
from hybonet.data.io.source_file import SourceFile, bare_name, read_source
from hybonet.data.io.text_table import decode, parse_table

#: Rows that are looked at, and words from which a cell counts as a sentence.
_LOOKED_AT, _SENTENCE = 200, 3
_BY_ENDING = {".conllu": "probe", ".json": "typing", ".jsonl": "typing", ".obo": "hierarchy", ".npz": "graph"}
_COMMANDS = {
    "kg": "hybonet train kg --data {}",
    "graph": "hybonet train graph --data {}",
    "translation": "hybonet train translation --data {}",
    "typing": "hybonet train typing --data {}",
    "hierarchy": "hybonet train hierarchy --data {}",
    "probe": "hybonet probe ENCODER --trees {}",
    "features": "hybonet train graph --data EDGES --features {}",
}
_WHAT = {
    "kg": "triples of a knowledge graph",
    "graph": "edges of a graph",
    "translation": "sentences and their translations",
    "typing": "mentions of entities with types",
    "hierarchy": "a hierarchy",
    "probe": "dependency trees (CoNLL-U)",
    "features": "a table of nodes' features",
}


@dataclass(frozen=True)
class Recognised:
    """The task that data seem to be for (or ``features``), what they are, and a command that trains on them."""

    kind: str
    what: str
    command: str


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
    kind = _kind_of_folder(path) if path.is_dir() else _kind_of_file(path)
    return Recognised(kind, _WHAT[kind], _COMMANDS[kind].format(shlex.quote(str(path))) + " --out runs/mine")


def _kind_of_folder(folder: Path) -> str:
    files = {bare_name(entry.name): entry for entry in sorted(folder.iterdir()) if entry.is_file()}
    if any(PurePath(name).suffix == ".conllu" for name in files):
        return "probe"
    train = [name for name in files if PurePath(name).stem.casefold() in SPLIT_NAMES["train"]]
    if not train:
        raise ValueError(
            f"{folder}: expected a file of training data (train.txt, train.jsonl, train.en, …) or .conllu files, got "
            f"{', '.join(list(files)[:5]) or 'no files'}; rename it, or give the path of a single file"
        )
    usual = (".txt", ".tsv", ".csv", ".parquet", *_BY_ENDING)
    known = [name for name in train if PurePath(name).suffix.lower() in usual]
    return _kind_of_file(files[known[0]]) if known else "translation"


def _kind_of_file(path: Path) -> str:
    ending = PurePath(bare_name(path.name)).suffix.lower()
    if ending in _BY_ENDING:
        return _BY_ENDING[ending]
    file = read_source(path)
    if ending == ".parquet":
        table = read_parquet(file)
        names = list(table.column_names)
        if len(set(names).intersection(RANKS)) > 1:
            return "hierarchy"
        first = [[str(cell) for cell in row.values()] for row in table.slice(0, _LOOKED_AT).to_pylist()]
        return _kind_of_rows([names, *first], file)
    lines = decode(file.content, file.source).splitlines()[:_LOOKED_AT]
    if ending == ".txt" and any(" > " in line for line in lines) and not any("\t" in line for line in lines):
        return "hierarchy"
    text = "\n".join(lines)
    table_of = parse_table(text.encode(), file.source, separator="," if ending == ".csv" else "\t")
    return _kind_of_rows([[cell.strip() for cell in row] for row in table_of if row], file)


def _kind_of_rows(rows: Sequence[list[str]], file: SourceFile) -> str:
    if not rows:
        raise ValueError(f"{file.source}: expected data, got an empty file; check the path")
    width = Counter(map(len, rows)).most_common(1)[0][0]
    body = [row for row in rows[1:] if len(row) == width] or [row for row in rows if len(row) == width]
    header = [cell.casefold() for cell in rows[0]]
    if recognise_header(header):
        return "kg"
    if width == 2:
        if tuple(header) == COLUMNS:
            return "hierarchy"
        words = sorted(len(cell.split()) for row in body for cell in row)
        return "translation" if words[len(words) // 2] >= _SENTENCE else "graph"
    numbers = [all(_is_number(row[at]) for row in body) for at in range(width)]
    if width > 2 and all(numbers[1:]) and not (width == 3 and numbers[0]):
        return "features" if not _pairs_of_nodes(body) else "graph"
    if width == 3:
        return "graph" if all(numbers) or numbers[2] else "kg"
    raise ValueError(
        f"{file.source}: expected triples, edges, sentences or features, got {width} columns: "
        f"{', '.join(rows[0])[:80]}; choose columns with --columns where you train"
    )


def _pairs_of_nodes(rows: Sequence[list[str]]) -> bool:
    """Whether the second column names nodes of the first."""
    return len({row[0] for row in rows} & {row[1] for row in rows}) > len(rows) // 4


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
