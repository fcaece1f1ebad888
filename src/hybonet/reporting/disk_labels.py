"""Labels on a drawn disk: placed by their size in pixels, and joined with their nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from hybonet.reporting.labels import Anchor, Box, place_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

_INK, _LEADER = "#222222", "#8a909b"
_GAPS = (3, 6, 10, 15, 21, 28)  # between a node and its label, in points: tried in turn
_NEAR = _GAPS[:2]  # for labels of less importance: beside their nodes or not at all
_ROOM = 9.0  # points that the nearest other dot must be away for a label of less importance
_RIM = 0.97  # from this distance to the middle on, labels go outwards if they can


def write_labels(
    axes: Axes,
    renderer: Any,
    flat: Tensor,
    names: Sequence[str],
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
    """A matplotlib box in pixels as one of ours, with a margin on every side.

    Example:
        >>> from matplotlib.transforms import Bbox
        >>> pixel_box(Bbox([[0, 0], [10, 4]]), margin=1)
        Box(x=5.0, y=2.0, width=12.0, height=6.0)
    """
    (left, bottom), (right, top) = extent.get_points().tolist()
    return Box((left + right) / 2, (bottom + top) / 2, right - left + 2 * margin, top - bottom + 2 * margin)
