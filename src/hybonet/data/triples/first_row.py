"""A first row that was read as a triple but may be a header in unusual words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from hybonet.data.triples.triple_file import TripleFile


def doubtful_first_rows(files: Sequence[TripleFile]) -> list[str]:
    """A note for each file whose first row has no word in common with any row below it, in this file or the others.

    Example:
        >>> file = TripleFile("kin.csv", "", ["x", "ann", "bob"], ["y", "knows", "knows"], ["z", "bob", "ann"])
        >>> doubtful_first_rows([file])[0].split("; ")[1]
        'if it is a header, give --columns x,y,z'
    """
    return [
        f"{file.source}: the first row ({', '.join(row)}) is read as a triple, though none of its words occurs again; "
        f"if it is a header, give --columns {','.join(row)}"
        for file in files
        if len(file) > 1
        for row in [(file.heads[0], file.relations[0], file.tails[0])]
        if not any(_below(word, other) for word in row for other in files)
    ]


def _below(word: str, file: TripleFile) -> bool:
    """Whether a word occurs below the first row."""
    return any(word in islice(column, 1, None) for column in (file.relations, file.heads, file.tails))
