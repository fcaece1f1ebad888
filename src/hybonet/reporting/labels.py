"""Which nodes of a hierarchy get a label, and where labels go so that none covers another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hybonet.data import Hierarchy

#: Labelled first when a hierarchy has them: kinds that everybody knows, groups before single animals.
WELL_KNOWN = (
    "mammal", "carnivore", "ungulate", "rodent", "primate", "dog", "cat", "horse", "whale", "bat", "monkey",
    "marsupial", "cattle", "bear", "elephant", "rabbit", "mouse", "lion", "wolf", "seal", "dolphin", "deer",
    "pig", "sheep", "squirrel", "ape", "human", "kangaroo", "fox", "hound", "terrier", "feline", "canine",
    "giraffe", "platypus", "hippopotamus", "goat", "camel", "rhinoceros", "otter", "weasel", "sloth", "armadillo",
    "tiger", "poodle", "gorilla", "chimpanzee", "lemur", "rat",
)  # fmt: skip


def choose_labels(hierarchy: Hierarchy, count: int) -> list[int]:
    """Nodes worth a label, most important first: roots, well-known kinds, then those with most descendants.

    Example:
        >>> family = Hierarchy.from_edges([("dog", "canine"), ("wolf", "canine"), ("canine", "beast")])
        >>> [family.names[node] for node in choose_labels(family, 3)]
        ['beast', 'dog', 'wolf']
    """
    descendants = hierarchy.is_ancestor.sum(0)
    by_size = sorted(range(len(hierarchy)), key=lambda node: (-int(descendants[node]), node))
    known = [node for word in WELL_KNOWN if (node := hierarchy.find(word)) is not None]
    return list(dict.fromkeys([*hierarchy.roots.tolist(), *known, *by_size]))[:count]


@dataclass(frozen=True)
class Box:
    """An upright rectangle in pixels.

    Example:
        >>> Box(0, 0, 10, 4).overlaps(Box(9, 3, 10, 4)), Box(0, 0, 10, 4).overlaps(Box(20, 0, 10, 4))
        (True, False)
    """

    x: float  # of the middle
    y: float
    width: float
    height: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two share any area."""
        return (
            abs(self.x - other.x) * 2 < self.width + other.width
            and abs(self.y - other.y) * 2 < self.height + other.height
        )

    def inside(self, other: Box) -> bool:
        """Whether this one lies wholly in the other."""
        return (
            abs(self.x - other.x) * 2 <= other.width - self.width
            and abs(self.y - other.y) * 2 <= other.height - self.height
        )


@dataclass(frozen=True)
class Anchor:
    """A point that wants a label of the given size, within ``spread`` of the direction ``outward``, both in radians."""

    x: float
    y: float
    width: float
    height: float
    outward: float
    spread: float = math.pi


def place_labels(
    anchors: Sequence[Anchor],
    frame: Box,
    obstacles: Sequence[Box] = (),
    *,
    gaps: Sequence[float] = (4, 10, 18, 28, 40, 54),
) -> list[Box | None]:
    """Greedy placement: each label in turn takes the first free place near its anchor, or none at all.

    Places are tried by gap between anchor and label, and for each gap from the preferred direction away. A place is
    free if it is inside the frame and meets no obstacle and no earlier label.
    """
    placed: list[Box] = []
    result: list[Box | None] = []
    for anchor in anchors:
        taken = (*placed, *obstacles)
        free = (box for box in _places(anchor, gaps) if box.inside(frame) and not any(box.overlaps(b) for b in taken))
        box = next(free, None)
        result.append(box)
        if box is not None:
            placed.append(box)
    return result


def _places(anchor: Anchor, gaps: Sequence[float]) -> Iterator[Box]:
    degrees = range(0, round(math.degrees(anchor.spread)) + 1, 15)
    turns = [sign * math.radians(step) for step in degrees for sign in (1, -1)]
    for gap in gaps:
        for turn in turns:
            dx, dy = math.cos(anchor.outward + turn), math.sin(anchor.outward + turn)
            # The label's middle goes round a rectangle, not a circle: even a long label is never farther than the gap.
            reach = 1 / max(abs(dx), abs(dy))
            x, y = dx * reach * (anchor.width / 2 + gap), dy * reach * (anchor.height / 2 + gap)
            yield Box(anchor.x + x, anchor.y + y, anchor.width, anchor.height)
