"""Reading one file of triples as three columns of labels; every bad row is named with its line, value and reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mode
from typing import NamedTuple

from hybonet.data.io.cell_grid import SHOWN, row_place, several_mistakes
from hybonet.data.io.column_choice import ROLES, check_wanted, choose_columns, recognise_header
from hybonet.data.io.source_file import SourceFile
from hybonet.data.io.text_table import SEPARATOR_NAMES, TextTable, parse_table, separator_for

#: Column separator by file ending; Parquet files name their columns themselves.
SEPARATORS = {".txt": "\t", ".tsv": "\t", ".csv": ","}
PARQUET = ".parquet"
#: Endings a file of triples may have (before .gz or .xz).
ENDINGS = (*SEPARATORS, PARQUET)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True)
class TripleFile:
    """The triples of one file: three label columns of the same length."""

    source: str
    sha256: str
    heads: list[str]
    relations: list[str]
    tails: list[str]
    #: Column names of head, relation and tail, if the file has any.
    header: tuple[str, ...] = ()
    #: Whether the first triple might be a header in words that nobody knows.
    may_have_header: bool = False

    def __len__(self) -> int:
        return len(self.heads)


def read_triple_file(
    file: SourceFile,
    *,
    columns: Sequence[str | int] | None = None,
    header: bool | None = None,
    separator: str | None = None,
) -> TripleFile:
    """The triples of a TSV, CSV or Parquet file, in file order.

    Args:
        columns: names or positions (from 0) of head, relation and tail. Without them a header in usual words
            (head/relation/tail, subject/predicate/object, source/type/target) decides, else the first three of three.
        header: whether the first row holds column names; None looks whether it does.
        separator: the character between columns; None takes it from the ending (tab for .txt and .tsv, comma for .csv).
    """
    if columns is not None:
        check_wanted(columns)
    if file.bare_name.lower().endswith(PARQUET) and separator is None:
        from hybonet.data.io.parquet_file import read_parquet_triples

        cells = read_parquet_triples(file, columns)
        return TripleFile(file.source, file.sha256, *checked_columns(cells, row_place(file), file.source))
    return _read_text(file, columns, header, separator)


def checked_columns(
    cells: Sequence[list[str]], where: Callable[[int], str], source: str
) -> tuple[list[str], list[str], list[str]]:
    """Heads, relations and tails without lines, each of them printable; ``where`` is a row's place, for messages."""
    heads, relations, tails = cells
    problems = _bad_labels(cells, range(len(heads)))
    if problems:
        shown = [(where(row), problems[row]) for row in sorted(problems)[:SHOWN]]
        raise _bad_rows(source, len(heads), shown, len(problems))
    if not heads:
        raise ValueError(f"{source}: expected at least one triple, got none; add rows")
    return heads, relations, tails


def _read_text(
    file: SourceFile, columns: Sequence[str | int] | None, header: bool | None, separator: str | None
) -> TripleFile:
    if separator is not None and len(separator) != 1:
        raise ValueError(f"expected one character between columns, got {separator!r}; write e.g. --separator ';'")
    separator = separator or separator_for(file.bare_name, SEPARATORS)
    table = parse_table(file.content, file.source, separator=separator, row_is="triple")
    whole = _read_columns(table, columns, header)
    if whole is not None:
        return TripleFile(file.source, file.sha256, *whole, header is None and not whole[-1])
    # Something is not as plain as that: a quote, a blank line, a bad row. Go row by row to say where.
    # A line of nothing but spaces is as blank as an empty one.
    numbers = [at for at, row in enumerate(table.rows) if len(row) > 1 or (row and row[0].strip())]
    if not numbers:
        raise ValueError(
            f"{file.source}: expected at least one triple, got an empty file; write one triple per line, "
            f"head, relation and tail separated by {_name_of(separator)}"
        )
    widths = [len(table.rows[at]) for at in numbers]
    layout = _layout(table, numbers[0], table.rows[numbers[0]], widths, columns, header)
    numbers = numbers[bool(layout.header) :]
    if not numbers:
        raise ValueError(f"{file.source}: expected at least one triple, got a header alone; add rows below it")
    expected = f"expected {layout.width} columns{' (head, relation, tail)' if layout.width == len(ROLES) else ''}"
    problems = {
        at: f"{expected} separated by {_name_of(separator)}, got {len(row)}: {_short(separator.join(row))}"
        for at, row in ((at, table.rows[at]) for at in numbers)
        if len(row) != layout.width
    }
    wide_enough = [at for at in numbers if at not in problems]
    heads, relations, tails = ([table.rows[at][place].strip() for at in wide_enough] for place in layout.places)
    problems |= _bad_labels((heads, relations, tails), wide_enough)
    if problems:
        shown = [(table.where(at), problems[at]) for at in sorted(problems)[:SHOWN]]
        raise _bad_rows(file.source, len(numbers), shown, len(problems))
    may_have_header = header is None and not layout.header
    return TripleFile(file.source, file.sha256, heads, relations, tails, layout.header, may_have_header)


def _read_columns(
    table: TextTable, columns: Sequence[str | int] | None, header: bool | None
) -> tuple[list[str], list[str], list[str], tuple[str, ...]] | None:
    """Heads, relations, tails and header of a table in which there is nothing to mend or to report, else None."""
    whole = table.columns()
    if whole is None or not table.text.strip():
        return None
    layout = _layout(table, 0, [column[0] for column in whole], [len(whole)], columns, header)
    heads, relations, tails = (whole[place][bool(layout.header) :] for place in layout.places)
    labels = set(heads).union(relations, tails)
    if not labels or any(not label or label != label.strip() or _CONTROL.search(label) for label in labels):
        return None
    return heads, relations, tails, layout.header


class _Layout(NamedTuple):
    places: tuple[int, int, int]  # of head, relation and tail
    width: int  # that every row must have
    header: tuple[str, ...]  # names of the three columns; empty if the first row is a triple


def _layout(
    table: TextTable,
    at: int,
    first: list[str],
    widths: list[int],
    columns: Sequence[str | int] | None,
    header: bool | None,
) -> _Layout:
    """Where the three columns are, judged by the first row and the rows' widths."""
    by_name = columns is not None and any(isinstance(column, str) for column in columns)
    if by_name and header is False:
        raise ValueError(
            f"{table.source}: expected column positions where header=False, got names {columns!r}; give positions, "
            "counted from 0"
        )
    recognised = recognise_header(first)
    has_header = bool(header or by_name or (header is None and recognised is not None))
    width = len(first) if has_header else mode(widths)
    if columns is not None:
        places = choose_columns(first if has_header else [""] * width, columns, table.source)
    elif has_header and recognised is not None:
        places = recognised
    elif width == len(ROLES):
        places = (0, 1, 2)
    else:
        line = table.separator.join(first)
        raise table.error(
            at,
            f"expected 3 columns (head, relation, tail) separated by {_name_of(table.separator)}, got {len(first)}: "
            f"{_short(line)}; {_width_hint(line, width)}",
        )
    return _Layout(places, width, tuple(first[place].strip() for place in places) if has_header else ())


def _width_hint(line: str, width: int) -> str:
    if width > len(ROLES):
        return "choose three with --columns, e.g. --columns 0,1,2 (in Python columns=(0, 1, 2))"
    for other, name in SEPARATOR_NAMES.items():
        if len(line.split(other)) == len(ROLES):
            return f"the columns seem to be separated by {name}: give --separator {other!r}"
    return "write head, relation and tail on each line"


def _bad_labels(cells: Sequence[Sequence[str]], numbers: Sequence[int]) -> dict[int, str]:
    """What is wrong with a row's labels, by row; looks at each distinct label once, as most occur many times."""
    problems: dict[int, str] = {}
    for role, column in zip(ROLES, cells, strict=True):
        bad = {label for label in set(column) if not label or _CONTROL.search(label)}
        for at, label in zip(numbers, column, strict=True) if bad else ():
            if label in bad:
                reason = "an empty field" if not label else f"control characters in {_short(label)}"
                problems.setdefault(at, f"expected a printable {role}, got {reason}")
    return problems


def _bad_rows(source: str, rows: int, shown: list[tuple[str, str]], total: int) -> ValueError:
    if total == 1:
        where, text = shown[0]
        return ValueError(f"{where}: {text}; correct or remove it, nothing was loaded")
    what = f"{total:,} of {rows:,} rows are not triples; correct or remove them, nothing was loaded"
    return several_mistakes(source, what, shown, total)


def _name_of(separator: str) -> str:
    return SEPARATOR_NAMES.get(separator, repr(separator))


def _short(text: str, limit: int = 80) -> str:
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")
