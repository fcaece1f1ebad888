"""Reading `child, parent` edges from text; every error names the source, the line, the value and the remedy."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hybonet.data.io.text_table import SEPARATOR_NAMES, parse_table, separator_for

#: Column separator by file ending.
SEPARATORS = {".tsv": "\t", ".csv": ","}
#: What the columns of edges are called.
COLUMNS = ("child", "parent")


def parse_edges(content: bytes, source: str, *, name: str = "") -> list[tuple[str, str]]:
    r"""Edges of a TSV or CSV file, in file order; repeated ones are kept once, a header `child, parent` is skipped.

    Args:
        content: the file's bytes, UTF-8.
        source: its name, for error messages.
        name: the name whose ending (`.tsv` or `.csv`) gives the separator; the source by default.

    Example:
        >>> parse_edges(b"child,parent\ndog,canine\nwolf,canine\n", "animals.csv")
        [('dog', 'canine'), ('wolf', 'canine')]
        >>> parse_edges(b"dog\tcanine\nwolf\n", "animals.tsv")
        Traceback (most recent call last):
        ValueError: animals.tsv, line 2: expected 2 columns (child, parent) separated by a tab, got 1: 'wolf'; ...
    """
    table = parse_table(content, source, separator=separator_for(name or source, SEPARATORS), row_is="edge")
    edges: dict[tuple[str, str], None] = {}
    for number, row in enumerate(table):
        is_header = number == 0 and tuple(cell.strip() for cell in row) == COLUMNS
        if row and not is_header:  # a blank line is an empty row
            edges[checked_edge(row, number, table.where, table.separator)] = None
    if not edges:
        raise ValueError(
            f"{source}: expected at least one edge, got an empty file; write one edge a line, child then parent, "
            f"separated by {SEPARATOR_NAMES[table.separator]}"
        )
    return list(edges)


def checked_edge(row: Sequence[str], number: int, where: Callable[[int], str], separator: str = ",") -> tuple[str, str]:
    """Child and parent of a row, or a ``ValueError`` that names its place."""
    shown = separator.join(row)
    if len(row) != len(COLUMNS):
        raise ValueError(
            f"{where(number)}: expected 2 columns (child, parent) separated by {SEPARATOR_NAMES[separator]}, got "
            f"{len(row)}: {shown!r}; write one edge a line"
        )
    child, parent = (cell.strip() for cell in row)
    for column, name in zip(COLUMNS, (child, parent), strict=True):
        if not name:
            raise ValueError(
                f"{where(number)}: expected a name in the column {column}, got an empty one in {shown!r}; "
                "fill it in, or remove the line (a root needs no line of its own)"
            )
        if not name.isprintable():
            raise ValueError(
                f"{where(number)}: expected a printable name on one line in the column {column}, got {name!r}; remove "
                "its tabs, line breaks and control characters"
            )
    if child == parent:
        raise ValueError(
            f"{where(number)}: expected two different names, got the cycle {child!r} -> {parent!r}; remove the line"
        )
    return child, parent
