"""Which columns of a table hold head, relation and tail: by name, by position, or by words that headers use."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

#: What the three columns are called in messages.
ROLES = ("head", "relation", "tail")
_HEADER_WORDS = (
    frozenset(("head", "subject", "source", "from", "h", "s", "head_id", "subject_id", "source_id")),
    frozenset(("relation", "predicate", "property", "rel", "edge", "type", "r", "p", "relation_id", "predicate_id")),
    frozenset(("tail", "object", "target", "to", "t", "o", "tail_id", "object_id", "target_id")),
)


def recognise_header(cells: Sequence[str]) -> tuple[int, int, int] | None:
    """Positions of head, relation and tail if a row is a header in usual words, else None.

    Example:
        >>> recognise_header(["subject", "object", "predicate"])
        (0, 2, 1)
        >>> recognise_header(["dog", "hypernym", "canine"]) is None
        True
    """
    words = [cell.strip().casefold() for cell in cells]
    found = [[at for at, word in enumerate(words) if word in known] for known in _HEADER_WORDS]
    if any(len(places) != 1 for places in found):
        return None
    return found[0][0], found[1][0], found[2][0]


def choose_columns(header: Sequence[str], wanted: Sequence[str | int], source: str) -> tuple[int, int, int]:
    """Positions of the wanted columns, given by name or by position from 0.

    Example:
        >>> choose_columns(["id", "subject", "predicate", "object"], ("subject", "predicate", "object"), "facts.csv")
        (1, 2, 3)
        >>> choose_columns(["id", "subject", "predicate", "object"], ("subject", "verb", "object"), "facts.csv")
        Traceback (most recent call last):
        ValueError: facts.csv: expected a column 'verb', got id, subject, predicate, object; name ...
    """
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
