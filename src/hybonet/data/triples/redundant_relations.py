"""Relations that say the same thing twice: symmetric ones, inverses of each other, and duplicates, as in FB15k."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class RedundantRelations:
    """Two relations (or one with itself) that repeat each other on most of their entity pairs.

    ``symmetric``: (h, r, t) comes with (t, r, h). ``inverse``: (h, first, t) comes with (t, second, h).
    ``duplicate``: (h, first, t) comes with (h, second, t).

    Example:
        >>> pair = RedundantRelations("inverse", 0, 1, matches=9, share=0.9)
        >>> pair.describe(["parent of", "child of"])
        "'parent of' and 'child of' are inverses of each other on 90 % of their triples"
    """

    kind: Literal["symmetric", "inverse", "duplicate"]
    first: int
    second: int
    #: Entity pairs on which they repeat each other.
    matches: int
    #: How much of the larger relation repeats the other.
    share: float

    def describe(self, relations: Sequence[str]) -> str:
        """One line for people."""
        share = f"{100 * self.share:.0f} %"
        if self.kind == "symmetric":
            return f"{relations[self.first]!r} is symmetric: {share} of its triples occur in both directions"
        return (
            f"{relations[self.first]!r} and {relations[self.second]!r} are {self.kind}s of each other on {share} of "
            "their triples"
        )


def find_redundant_relations(triples: Ids, *, threshold: float = 0.8, min_matches: int = 2) -> list[RedundantRelations]:
    """Relations that repeat each other, reversed or not, on at least ``threshold`` of their triples.

    Args:
        triples: ``(n, 3)`` head, relation, tail ids, each triple once.
        threshold: the least share of the larger relation, and so of both.
        min_matches: fewer repeated entity pairs than this are chance.

    Example:
        >>> triples = np.array([[0, 0, 1], [1, 1, 0], [2, 0, 3], [3, 1, 2], [4, 0, 5], [0, 1, 4]])
        >>> [pair] = find_redundant_relations(triples, threshold=0.6)
        >>> pair.kind, pair.first, pair.second, pair.matches
        ('inverse', 0, 1, 2)
    """
    if len(triples) == 0:
        return []
    relation = triples[:, 1]
    counts: Counter[int] = Counter()
    codes = int(relation.max()) + 1
    for i, j, same_direction in same_pair_matches(triples):
        code, number = np.unique(_codes(relation, i, j, same_direction, codes), return_counts=True)
        counts.update(dict(zip(code.tolist(), number.tolist(), strict=True)))
    sizes = np.bincount(relation[triples[:, 0] != triples[:, 2]], minlength=codes).tolist()
    found = []
    for repeated, matches in sorted(counts.items()):
        (first, second), same = divmod(repeated // 2, codes), repeated % 2
        # A match of a relation with itself covers two of its triples.
        share = 2 * matches / sizes[first] if first == second else matches / max(sizes[first], sizes[second])
        if matches >= min_matches and share >= threshold:
            kind: Literal["symmetric", "inverse", "duplicate"]
            kind = "duplicate" if same else "symmetric" if first == second else "inverse"
            found.append(RedundantRelations(kind, first, second, matches, share))
    return found


def group_redundant(triples: Ids, redundant: Sequence[RedundantRelations]) -> Ids:
    """A group number for each triple; triples that repeat each other by ``redundant`` share theirs.

    Example:
        >>> triples = np.array([[0, 0, 1], [1, 0, 0], [2, 0, 3]])
        >>> group_redundant(triples, [RedundantRelations("symmetric", 0, 0, 1, 1.0)]).tolist()
        [0, 0, 2]
    """
    group = np.arange(len(triples))
    if not redundant or len(triples) == 0:
        return group
    codes = int(triples[:, 1].max()) + 1
    wanted = np.array([2 * (pair.first * codes + pair.second) + (pair.kind == "duplicate") for pair in redundant])
    links: list[tuple[Ids, Ids]] = []
    for i, j, same_direction in same_pair_matches(triples):
        kept = np.isin(_codes(triples[:, 1], i, j, same_direction, codes), wanted)
        links.append((i[kept], j[kept]))
    a, b = (np.concatenate(ends) for ends in zip(*links, strict=True)) if links else (group[:0], group[:0])
    while True:  # the least number spreads along the links; groups are small, so two or three rounds do
        low = np.minimum(group[a], group[b])
        if (group[a] == low).all() and (group[b] == low).all():
            return group
        np.minimum.at(group, a, low)
        np.minimum.at(group, b, low)


def first_rows(triples: Ids) -> Ids:
    """Rows that hold each triple for the first time, ordered by head, relation, tail."""
    keys = triple_keys(triples, *sizes_of(triples))
    return np.unique(keys, return_index=True)[1]


def triple_keys(triples: Ids, entities: int, relations: int) -> Ids:
    """One number for each triple, ordered as the triples are."""
    if entities * entities * relations >= 2**63:
        raise ValueError(
            f"expected a graph whose triples can be numbered in 63 bits, got {entities:,} entities and {relations:,} "
            "relations; use fewer"
        )
    return (triples[:, 0] * relations + triples[:, 1]) * entities + triples[:, 2]


def sizes_of(triples: Ids) -> tuple[int, int]:
    """How many entity and relation ids there are, judged by the largest."""
    return int(triples[:, ::2].max(initial=0)) + 1, int(triples[:, 1].max(initial=0)) + 1


def same_pair_matches(triples: Ids) -> Iterator[tuple[Ids, Ids, NDArray[np.bool_]]]:
    """Rows i and j of triples that join the same two entities, and whether in the same direction.

    Comes in batches no larger than the triples, so that many relations between the same entities fit in memory.
    """
    head, tail = triples[:, 0], triples[:, 2]
    rows = np.flatnonzero(head != tail)  # a loop is its own inverse: nothing to find
    if len(rows) == 0:
        return
    pair = np.minimum(head, tail)[rows] * (max(int(head.max()), int(tail.max())) + 1) + np.maximum(head, tail)[rows]
    order = np.argsort(pair, kind="stable")
    rows, pair = rows[order], pair[order]
    end = np.searchsorted(pair, pair, side="right")
    at, step = np.arange(len(rows)), 1
    while len(at := at[at + step < end[at]]):
        i, j = rows[at], rows[at + step]
        yield i, j, head[i] == head[j]
        step += 1


def _codes(relation: Ids, i: Ids, j: Ids, same_direction: NDArray[np.bool_], relations: int) -> Ids:
    """One number for the two relations, the lesser first, and the direction."""
    low, high = np.minimum(relation[i], relation[j]), np.maximum(relation[i], relation[j])
    return 2 * (low * relations + high) + same_direction
