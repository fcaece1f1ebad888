"""Reading `child, parent` edges from text; every error names the source, the line, the value and the remedy."""

from __future__ import annotations

import csv
import io
from pathlib import PurePath

#: Column separator by file ending.
SEPARATORS = {".tsv": "\t", ".csv": ","}
_SEPARATOR_NAMES = {"\t": "a tab", ",": "a comma"}
_COLUMNS = ("child", "parent")


def parse_edges(content: bytes, source: str) -> list[tuple[str, str]]:
    r"""Edges of a TSV or CSV file, in file order; repeated edges are kept once, and a header `child, parent` is skipped.

    Args:
        content: the file's bytes, UTF-8.
        source: its name, for the separator (`.tsv` or `.csv`) and for error messages.

    Example:
        >>> parse_edges(b"child,parent\ndog,canine\nwolf,canine\n", "animals.csv")
        [('dog', 'canine'), ('wolf', 'canine')]
        >>> parse_edges(b"dog\tcanine\nwolf\n", "animals.tsv")
        Traceback (most recent call last):
        ValueError: animals.tsv, line 2: expected 2 columns (child, parent) separated by a tab, got 1: 'wolf'; ...
    """
    separator = separator_of(source)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{source}, line {line}: expected UTF-8 text, got the byte {content[error.start]:#04x}; "
            "save the file as UTF-8"
        ) from None
    # TSV has no quoting: a quote there is part of a name.
    quoting = csv.QUOTE_MINIMAL if separator == "," else csv.QUOTE_NONE
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, quoting=quoting, strict=True)
    edges: dict[tuple[str, str], None] = {}
    try:
        for row in reader:
            if not row:  # a blank line
                continue
            edge = _edge_of(row, f"{source}, line {reader.line_num}", separator)
            if edge == _COLUMNS and not edges:
                continue
            edges[edge] = None
    except csv.Error as error:
        raise ValueError(
            f"{source}, line {reader.line_num}: expected one edge a line as CSV, got malformed text ({error}); "
            'close every quote, and write a quote inside a name as ""'
        ) from None
    if not edges:
        raise ValueError(
            f"{source}: expected at least one edge, got an empty file; write one edge a line, child then parent, "
            f"separated by {_SEPARATOR_NAMES[separator]}"
        )
    return list(edges)


def separator_of(source: str) -> str:
    """The column separator that a file's name promises.

    Example:
        >>> separator_of("animals.csv")
        ','
    """
    suffix = PurePath(source).suffix.lower()
    if suffix not in SEPARATORS:
        raise ValueError(
            f"{source}: expected a file name ending in {' or '.join(SEPARATORS)}, got {suffix or 'no ending'!r}; "
            "rename the file so that its ending says how its columns are separated"
        )
    return SEPARATORS[suffix]


def _edge_of(row: list[str], where: str, separator: str) -> tuple[str, str]:
    if len(row) != len(_COLUMNS):
        raise ValueError(
            f"{where}: expected 2 columns (child, parent) separated by {_SEPARATOR_NAMES[separator]}, got {len(row)}: "
            f"{separator.join(row)!r}; write one edge a line"
        )
    child, parent = (cell.strip() for cell in row)
    for column, name in zip(_COLUMNS, (child, parent), strict=True):
        if not name:
            raise ValueError(
                f"{where}: expected a name in the column {column}, got an empty one in {separator.join(row)!r}; "
                "fill it in, or remove the line (a root needs no line of its own)"
            )
    if child == parent:
        raise ValueError(f"{where}: expected two different names, got the cycle {child!r} -> {parent!r}; remove the line")
    return child, parent
