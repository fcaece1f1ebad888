"""Reading `child, parent` edges from text; every error names the source, the line, the value and the remedy."""

from __future__ import annotations

from hybonet.data.io.text_table import SEPARATOR_NAMES, TextTable, parse_table, separator_for

#: Column separator by file ending.
SEPARATORS = {".tsv": "\t", ".csv": ","}
_COLUMNS = ("child", "parent")


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
        is_header = number == 0 and tuple(cell.strip() for cell in row) == _COLUMNS
        if row and not is_header:  # a blank line is an empty row
            edges[_edge_of(table, number)] = None
    if not edges:
        raise ValueError(
            f"{source}: expected at least one edge, got an empty file; write one edge a line, child then parent, "
            f"separated by {SEPARATOR_NAMES[table.separator]}"
        )
    return list(edges)


def _edge_of(table: TextTable, number: int) -> tuple[str, str]:
    row, separator = table.rows[number], table.separator
    if len(row) != len(_COLUMNS):
        raise table.error(
            number,
            f"expected 2 columns (child, parent) separated by {SEPARATOR_NAMES[separator]}, got {len(row)}: "
            f"{separator.join(row)!r}; write one edge a line",
        )
    child, parent = (cell.strip() for cell in row)
    for column, name in zip(_COLUMNS, (child, parent), strict=True):
        if not name:
            raise table.error(
                number,
                f"expected a name in the column {column}, got an empty one in {separator.join(row)!r}; "
                "fill it in, or remove the line (a root needs no line of its own)",
            )
        if not name.isprintable():
            raise table.error(
                number,
                f"expected a printable name on one line in the column {column}, got {name!r}; remove its "
                "tabs, line breaks and control characters",
            )
    if child == parent:
        raise table.error(
            number, f"expected two different names, got the cycle {child!r} -> {parent!r}; remove the line"
        )
    return child, parent
