"""Which nodes of a hierarchy get a label, where labels go so that none covers another, and how they are drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from hybonet.data import Hierarchy
from hybonet.reporting.lettering import dress

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

_INK, _LEADER = "#222222", "#8a909b"
_GAPS = (3, 6, 10, 15, 21, 28)  # between a node and its label, in points: tried in turn
_NEAR = _GAPS[:2]  # for labels of less importance: beside their nodes or not at all
_ROOM = 9.0  # points that the nearest other dot must be away for a label of less importance
_RIM = 0.97  # from this distance to the middle on, labels go outwards if they can


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
    descendants = hierarchy.descendants.tolist()
    by_size = sorted(range(len(hierarchy)), key=lambda node: (-descendants[node], node))
    known = [node for word in WELL_KNOWN if (node := hierarchy.find(word)) is not None]
    return list(dict.fromkeys([*hierarchy.roots.tolist(), *known, *by_size]))[:count]


@dataclass(frozen=True)
class Box:
    """An upright rectangle in pixels."""

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


def write_labels(
    axes: Axes,
    renderer: Any,
    flat: Tensor,
    names: Sequence[str] | Mapping[int, str],
    order: Sequence[int],
    *,
    important: int,
    bold: Tensor,
    font_size: float,
    obstacles: Sequence[Box],
) -> list[int]:
    """Label nodes at ``flat (n, 2)`` in the given order as far as there is room; returns the nodes that have a label.

    Args:
        important: how many of the first nodes may have their labels farther off, and over other nodes.
        obstacles: what no label may cover, in pixels.
    """
    pixels = torch.from_numpy(axes.transData.transform(flat.numpy()))
    frame = pixel_box(axes.get_window_extent(renderer))
    point = renderer.points_to_pixels(1.0)  # lengths in points keep the layout the same at every resolution
    texts: dict[int, Text] = {}
    anchors: dict[int, Anchor] = {}
    for node in order:
        weight = "bold" if bold[node] else "normal"
        text = axes.text(
            0, 0, names[node], fontsize=font_size, weight=weight, color=_INK, ha="center", va="center", zorder=5
        )
        dress(text)
        extent = text.get_window_extent(renderer)
        outward = math.atan2(float(flat[node, 1]), float(flat[node, 0]))
        spread = math.radians(60) if float(flat[node].norm()) > _RIM else math.pi
        texts[node] = text
        x, y = pixels[node].tolist()
        anchors[node] = Anchor(x, y, extent.width + 3 * point, extent.height + point, outward, spread)

    first = list(order[:important])
    alone = _least_distance(pixels, order) >= _ROOM * point
    apart = [node for node, is_alone in zip(order, alone.tolist(), strict=True) if is_alone]
    dots = [Box(x, y, 4 * point, 4 * point) for x, y in pixels.tolist()]
    seen = [dots[node] for node in {*first, *apart}]  # in a crowd, one dot more or less is not missed
    gaps, near = ([gap * point for gap in some] for some in (_GAPS, _NEAR))
    places = place_labels([anchors[node] for node in first], frame, [*seen, *obstacles], gaps=gaps)
    placed = {node: box for node, box in zip(first, places, strict=True) if box is not None}
    # Nodes that stand apart get a label, too, on any side, but close by.
    others = [node for node in apart if node not in placed]
    taken = [*dots, *obstacles, *placed.values()]
    places = place_labels([replace(anchors[node], spread=math.pi) for node in others], frame, taken, gaps=near)
    placed |= {node: box for node, box in zip(others, places, strict=True) if box is not None}

    for node, text in texts.items():
        if node in placed:
            _write(axes, text, anchors[node], placed[node])
        else:
            text.remove()
    return list(placed)


def _least_distance(places: Tensor, nodes: Sequence[int]) -> Tensor:
    """How far the nearest other place is from each of the nodes; ``(n, 2) -> (nodes,)``."""
    chosen = torch.tensor(nodes)
    distance = torch.cdist(places[chosen], places)
    distance[torch.arange(len(chosen)), chosen] = torch.inf
    return distance.amin(1)


def _write(axes: Axes, text: Text, anchor: Anchor, box: Box) -> None:
    to_data = axes.transData.inverted()
    text.set_position(tuple(to_data.transform((box.x, box.y))))
    text.set_bbox({"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.4})
    ends = to_data.transform([(anchor.x, anchor.y), (box.x, box.y)])
    axes.plot(ends[:, 0], ends[:, 1], color=_LEADER, linewidth=0.7, zorder=2.5)  # a leader, under dots and labels


def pixel_box(extent: Any, margin: float = 0.0) -> Box:
    """A matplotlib box in pixels as one of ours, with a margin on every side."""
    (left, bottom), (right, top) = extent.get_points().tolist()
    return Box((left + right) / 2, (bottom + top) / 2, right - left + 2 * margin, top - bottom + 2 * margin)
