"""Dependency trees: words, the head of each, and the distances and depths that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

#: The universal part-of-speech tag of punctuation.
PUNCTUATION = "PUNCT"


@dataclass(frozen=True, eq=False)
class DependencyTree:
    """A sentence with the head of every word: words are numbered from 1, the root's head is 0, as in CoNLL-U.

    Raises:
        ValueError: unless there is exactly one root and every word leads to it.

    Example:
        >>> tree = DependencyTree(("the", "dog", "barks", "."), ("DET", "NOUN", "VERB", "PUNCT"), (2, 3, 0, 3))
        >>> tree.root, tree.depths.tolist()
        (2, [2, 1, 0, 1])
        >>> tree.distances[0].tolist()
        [0, 1, 2, 3]
        >>> DependencyTree(("a", "b"), ("X", "X"), (2, 1))
        Traceback (most recent call last):
        ValueError: expected one word with head 0 (the root), got none
    """

    words: tuple[str, ...]
    #: Universal part-of-speech tags; ``PUNCT`` marks punctuation.
    tags: tuple[str, ...]
    heads: tuple[int, ...]
    #: Names of the relations to the heads; empty if unknown.
    relations: tuple[str, ...] = ()
    #: Whether a space follows each word in the text; empty: one follows every word.
    space_after: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        count = len(self.words)
        if not count or not len(self.tags) == len(self.heads) == count:
            raise ValueError(
                f"expected as many tags and heads as words, at least one, got {count} words, {len(self.tags)} tags and "
                f"{len(self.heads)} heads"
            )
        if any(not 0 <= head <= count for head in self.heads):
            wrong = next(number for number, head in enumerate(self.heads, 1) if not 0 <= head <= count)
            raise ValueError(f"expected heads from 0 to {count}, got head {self.heads[wrong - 1]} of word {wrong}")
        roots = [number for number, head in enumerate(self.heads, 1) if head == 0]
        if len(roots) != 1:
            found = f"words {', '.join(map(str, roots))}" if roots else "none"
            raise ValueError(f"expected one word with head 0 (the root), got {found}")
        if cycle := self._cycle():
            raise ValueError(f"expected a tree, got the cycle {' -> '.join(map(str, cycle))}")

    def __len__(self) -> int:
        return len(self.words)

    def _cycle(self) -> list[int]:
        """A cycle of heads by word numbers, empty if every word leads to the root."""
        leads_to_root = {0}
        for word in range(1, len(self.words) + 1):
            path = [word]
            while path[-1] not in leads_to_root:
                head = self.heads[path[-1] - 1]
                if head in path:
                    return [*path[path.index(head) :], head]
                path.append(head)
            leads_to_root.update(path)
        return []

    @property
    def root(self) -> int:
        """Place of the root, counted from 0."""
        return self.heads.index(0)

    @property
    def text(self) -> str:
        """The words as written, with spaces only where the text had them.

        Example:
            >>> DependencyTree(("Go", "!"), ("VERB", "PUNCT"), (0, 1), space_after=(False, True)).text
            'Go!'
        """
        spaces = self.space_after or (True,) * len(self)
        return "".join(word + " " * space for word, space in zip(self.words, spaces, strict=True)).rstrip()

    @property
    def is_punctuation(self) -> Tensor:
        """Which words are punctuation; shape (words,)."""
        return torch.tensor([tag == PUNCTUATION for tag in self.tags])

    @cached_property
    def _ancestors(self) -> Tensor:
        """Entry (i, j) is 1 if j is i or above it; shape (words, words)."""
        above: list[list[int]] = [[] for _ in self.words]
        rows = torch.zeros(len(self), len(self))
        for word in range(len(self)):
            path, place = [], word
            while place >= 0 and not above[place]:
                path.append(place)
                place = self.heads[place] - 1
            known = above[place] if place >= 0 else []
            for step in reversed(path):
                known = [step, *known]
                above[step] = known
            rows[word, above[word]] = 1.0
        return rows

    @property
    def depths(self) -> Tensor:
        """Edges between every word and the root; shape (words,)."""
        return self._ancestors.sum(1).long() - 1

    @property
    def distances(self) -> Tensor:
        """Edges on the path between every two words; shape (words, words)."""
        # Two words have as many common ancestors as their lowest one has ancestors of its own, itself included.
        common = self._ancestors @ self._ancestors.T
        levels = self._ancestors.sum(1)
        return (levels[:, None] + levels - 2 * common).long()


def heads_of(edges: Sequence[tuple[int, int]], root: int, count: int) -> tuple[int, ...]:
    """Heads (numbered from 1, 0 for the root) of an undirected tree on places 0 to count - 1, hung from its root."""
    neighbours: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    heads = {root: 0}
    order = [root]
    for place in order:  # grows while it is read
        for other in neighbours[place]:
            if other not in heads:
                heads[other] = place + 1
                order.append(other)
    if len(heads) < count:
        raise ValueError(f"expected edges that join all {count} words, got a tree of {len(heads)}")
    return tuple(heads[place] for place in range(count))
