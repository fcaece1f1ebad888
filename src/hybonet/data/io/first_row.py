"""Whether the first row of a table is a header in words that nobody knows: one rule for all kinds of data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

#: Rows of which the first is called a header at least.
_LEAST = 4


def first_row(
    columns: Sequence[Sequence[str]], others: Sequence[Sequence[Sequence[str]]] = ()
) -> Literal["data", "header", "unsure"]:
    """What the first row of some columns is, judged by the words of the rows below.

    It is a header if it stands above columns of numbers without one, or if it is the only row of four or more none of
    whose words occurs again. If there are more such rows, or too few, nothing is sure.

    Args:
        columns: all cells, by column.
        others: columns of other files of the same data, whose first rows may be headers, too.

    Example:
        >>> first_row([["who", "ann", "bob", "cat"], ["whom", "bob", "cat", "ann"]])
        'header'
        >>> first_row([["dan", "ann", "bob", "cat"], ["ann", "bob", "cat", "ann"]])
        'data'
        >>> first_row([["dan", "ann", "bob", "eve"], ["joe", "bob", "cat", "sue"]])
        'unsure'
    """
    first = [column[0] for column in columns]
    files = [columns, *others]
    if len(columns[0]) < 2 or any(word in column[1:] for word in first for part in files for column in part):
        return "data"
    if all(
        not is_number(word) and all(map(is_number, column[1:])) for word, column in zip(first, columns, strict=True)
    ):
        return "header"
    often = Counter(word for part in files for column in part for word in column[1:])
    alone = any(all(often[word] == 1 for word in row) for row in zip(*(column[1:] for column in columns), strict=True))
    return "unsure" if alone or len(columns[0]) < _LEAST else "header"


def header_note(source: str, row: Sequence[str], read_as: str, *, is_header: bool) -> str:
    """What people are told of a first row none of whose words occurs again."""
    shown = f"{source}: the first row ({', '.join(row)[:80]})"
    if is_header:
        return (
            f"{shown} is read as column names, as none of its words occurs again; if it is none, say header=False "
            "(--no-header)"
        )
    return (
        f"{shown} is read as {read_as}, though none of its words occurs again; if it is column names, say header=True "
        "(--header)"
    )


def is_number(text: str | float) -> bool:
    """Whether a cell is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
