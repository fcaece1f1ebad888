"""Which columns of a table hold head, relation and tail, and whether its first row is a header."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from typing import Literal

#: What the three columns are called in messages.
ROLES = ("head", "relation", "tail")
_HEADER_WORDS = (
    frozenset(("head", "subject", "source", "from", "h", "s", "head_id", "subject_id", "source_id")),
    frozenset(("relation", "predicate", "property", "rel", "edge", "type", "r", "p", "relation_id", "predicate_id")),
    frozenset(("tail", "object", "target", "to", "t", "o", "tail_id", "object_id", "target_id")),
)


def recognise_header(cells: Sequence[str]) -> tuple[int, int, int] | None:
    """Positions of head, relation and tail if a row is a header in usual words, else None."""
    words = [cell.strip().casefold() for cell in cells]
    found = [[at for at, word in enumerate(words) if word in known] for known in _HEADER_WORDS]
    if any(len(places) != 1 for places in found):
        return None
    return found[0][0], found[1][0], found[2][0]


def choose_columns(header: Sequence[str], wanted: Sequence[str | int], source: str) -> tuple[int, int, int]:
    """Positions of the wanted columns, given by name or by position from 0."""
    check_wanted(wanted)
    names = [cell.strip() for cell in header]
    places = [place_of(column, names, source, otherwise="name three of these with --columns") for column in wanted]
    if len(set(places)) != len(places):
        raise ValueError(
            f"{source}: expected three different columns for head, relation and tail, got "
            f"{', '.join(map(str, wanted))}; name each column once"
        )
    return places[0], places[1], places[2]


def check_wanted(wanted: Sequence[str | int]) -> None:
    """Refuse anything but three names or positions, e.g. a single string."""
    if isinstance(wanted, str) or len(wanted) != len(ROLES) or not all(isinstance(item, str | int) for item in wanted):
        raise ValueError(
            f"expected three columns (head, relation, tail) by name or position, got {_listed(wanted)}; write e.g. "
            "--columns subject,predicate,object or --columns 0,1,2 (in Python a tuple)"
        )


def _listed(wanted: object) -> str:
    return ", ".join(map(str, wanted)) if isinstance(wanted, tuple | list) else repr(wanted)


def place_of(column: str | int, names: Sequence[str], source: str, *, otherwise: str) -> int:
    """Position of one column, given by name or by position from 0.

    Args:
        column: the name or position.
        names: of all columns.
        source: the file, for messages.
        otherwise: the remedy where no name is near.
    """
    if isinstance(column, int):
        if not 0 <= column < len(names):
            raise ValueError(
                f"{source}: expected column positions from 0 to {len(names) - 1}, got {column}; count from 0"
            )
        return column
    if list(names).count(column) > 1:
        raise ValueError(
            f"{source}: expected one column called {column!r}, got {list(names).count(column)}; give positions instead"
        )
    if column in names:
        return list(names).index(column)
    near = difflib.get_close_matches(column, names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else otherwise
    raise ValueError(f"{source}: expected a column {column!r}, got {', '.join(names)}; {hint}")


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
    try:
        float(text)
    except ValueError:
        return False
    return True
