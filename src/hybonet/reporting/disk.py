"""The picture of an embedded hierarchy: the Poincaré disk, edges as geodesic arcs, nodes coloured by depth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from hybonet.data import Hierarchy, display_name
from hybonet.geometry import Lorentz
from hybonet.reporting.geodesics import disk_view, geodesic_arcs
from hybonet.reporting.labels import Anchor, Box, choose_labels, place_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = "viridis_r"
_INK, _PALE = "#222222", "#b8bcc4"


@dataclass(frozen=True)
class _Panel:
    """One disk of the picture: the node in its middle, and how many labels it may carry."""

    centre: int
    labels: list[int]
    title: str
    font_size: float


def require_matplotlib() -> None:
    """Raise a ``ValueError`` with the remedy if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ValueError(
            "expected matplotlib for the picture, but it is not installed; run pip install hybonet[plot], or leave the "
            "picture out with --no-plot"
        ) from None


def draw_disk(points: Tensor, hierarchy: Hierarchy, manifold: Lorentz, path: Path, *, title: str, dpi: int = 150) -> None:
    """Draw an embedded hierarchy to a PNG file.

    The large disk has the root in its middle; the small ones show the same points moved by an isometry so that another
    node is in the middle, which magnifies its surroundings. No picture is drawn to another scale: the Poincaré disk of
    the whole plane is the same everywhere.

    Args:
        points: row i is the point of the hierarchy's node i; shape (nodes, d).
        path: the file to write.
    """
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14, 9.4), dpi=dpi, facecolor="white")
    canvas = FigureCanvasAgg(figure)  # measures text without a screen
    grid = figure.add_gridspec(2, 2, width_ratios=(2, 1), left=0.01, right=0.985, top=0.915, bottom=0.075, wspace=0.02, hspace=0.1)
    panels = _panels(hierarchy)
    shades: Any = None
    for place, panel in zip((grid[:, 0], grid[0, 1], grid[1, 1]), panels, strict=False):
        axes = figure.add_subplot(place)
        shades = _draw_panel(axes, canvas.get_renderer(), points, hierarchy, manifold, panel)
    figure.suptitle(title, fontsize=17, color=_INK, y=0.975)
    bar_axes = figure.add_axes((0.2, 0.05, 0.26, 0.014))
    bar = figure.colorbar(shades, cax=bar_axes, orientation="horizontal")
    bar.set_label("depth: edges below the root", fontsize=10, color=_INK)
    bar.outline.set_visible(False)
    figure.savefig(path)


def _panels(hierarchy: Hierarchy) -> list[_Panel]:
    root = int(hierarchy.roots[0])
    labels = choose_labels(hierarchy, 60)
    panels = [_Panel(root, labels, f"centred on {display_name(hierarchy.names[root])}", 9.5)]
    for node in _foci(hierarchy, labels):
        below = hierarchy.is_ancestor[:, node].nonzero().flatten().tolist()
        family = [node, *(label for label in labels if label in below)]
        size = hierarchy.is_ancestor.sum(0)
        family += sorted(below, key=lambda n: (-int(size[n]), n))
        around = list(dict.fromkeys([*family[:28], *hierarchy.is_ancestor[node].nonzero().flatten().tolist()]))
        panels.append(_Panel(node, around, f"the same points, centred on {display_name(hierarchy.names[node])}", 8))
    return panels


def _foci(hierarchy: Hierarchy, labels: Sequence[int]) -> list[int]:
    """Two large branches for the small disks: neither a root nor one inside the other."""
    size = hierarchy.is_ancestor.sum(0)
    roots = set(hierarchy.roots.tolist())
    chosen: list[int] = []
    for node in sorted(labels, key=lambda n: (-int(size[n]), n)):
        covers_most = int(size[node]) > 0.5 * len(hierarchy)
        related = any(bool(hierarchy.is_ancestor[node, other] or hierarchy.is_ancestor[other, node]) for other in chosen)
        if node not in roots and not covers_most and not related and size[node] > 0:
            chosen.append(node)
    return chosen[:2]


def _draw_panel(
    axes: Axes, renderer: Any, points: Tensor, hierarchy: Hierarchy, manifold: Lorentz, panel: _Panel
) -> Any:
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Circle

    flat = disk_view(points, points[panel.centre], manifold)
    depths = hierarchy.depths.double()
    deepest = max(1.0, float(depths.max()))
    axes.set_aspect("equal")
    axes.set_xlim(-1.2, 1.2)
    axes.set_ylim(-1.2, 1.2)
    axes.axis("off")
    axes.set_title(panel.title, fontsize=11, color=_INK, y=0.97)
    axes.add_patch(Circle((0, 0), 1, facecolor="#f6f7f9", edgecolor=_PALE, linewidth=1))
    child, parent = hierarchy.edges.unbind(-1)
    arcs = geodesic_arcs(flat[parent], flat[child])
    lines = LineCollection(list(arcs.numpy()), cmap=_COLOURS, linewidths=0.6, alpha=0.55)
    lines.set_array(depths[child].numpy())
    lines.set_clim(0, deepest)
    axes.add_collection(lines)
    # A disk of fixed hyperbolic size shrinks by this factor towards the rim.
    shrink = 1 - flat.square().sum(-1)
    sizes = 5 + 70 * shrink
    dots = axes.scatter(
        *flat.T.numpy(), s=sizes.numpy(), c=depths.numpy(), cmap=_COLOURS, vmin=0, vmax=deepest, linewidths=0, zorder=3
    )
    _write_labels(axes, renderer, flat, hierarchy, panel)
    return dots


def _write_labels(axes: Axes, renderer: Any, flat: Tensor, hierarchy: Hierarchy, panel: _Panel) -> None:
    axes.apply_aspect()  # the equal aspect decides where the pixels of a point are
    pixels = torch.from_numpy(axes.transData.transform(flat.numpy()))
    frame_box = axes.get_window_extent(renderer)
    frame = Box(frame_box.x0 + frame_box.width / 2, frame_box.y0 + frame_box.height / 2, frame_box.width, frame_box.height)
    texts, anchors = [], []
    for node in panel.labels:
        name = display_name(hierarchy.names[node])
        text = axes.text(0, 0, name, fontsize=panel.font_size, color=_INK, ha="center", va="center", zorder=5)
        extent = text.get_window_extent(renderer)
        x, y = pixels[node].tolist()
        outward = math.atan2(float(flat[node, 1]), float(flat[node, 0])) if float(flat[node].norm()) > 1e-6 else 0.5
        texts.append(text)
        anchors.append(Anchor(x, y, extent.width + 3, extent.height + 1, outward))
    dots = [Box(anchor.x, anchor.y, 5, 5) for anchor in anchors]
    to_data = axes.transData.inverted()
    for text, anchor, box in zip(texts, anchors, place_labels(anchors, frame, dots), strict=True):
        if box is None:
            text.remove()
            continue
        text.set_position(to_data.transform((box.x, box.y)))
        text.set_bbox({"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.4})
        gap_x = max(0.0, abs(box.x - anchor.x) - box.width / 2)
        gap_y = max(0.0, abs(box.y - anchor.y) - box.height / 2)
        if math.hypot(gap_x, gap_y) > 8:  # far enough from its node to need a leader
            ends = to_data.transform([(anchor.x, anchor.y), (box.x, box.y)])
            axes.plot(ends[:, 0], ends[:, 1], color=_PALE, linewidth=0.6, zorder=4)
