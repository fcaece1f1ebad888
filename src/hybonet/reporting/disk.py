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
from hybonet.reporting.geodesics import disk_view, geodesic_arcs, midpoint
from hybonet.reporting.labels import Anchor, Box, choose_labels, place_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = "viridis_r"
_INK, _PALE, _GROUND, _NEW = "#222222", "#b8bcc4", "#f6f7f9", "#e4572e"
_LIMIT = 1.17  # of the axes, in units of the disk: room for the labels outside the rim
_LABELS, _LABELS_OF_DETAIL = 60, 30
_GAPS = (3, 7, 12, 19, 27, 37)  # between a node and its label, in points: tried in turn
_LARGE_SHARE = 0.05  # of all nodes: branches from this size on have their labels in bold
_DETAIL_SHARE = 0.2  # of all nodes: larger branches need no disk of their own


@dataclass(frozen=True)
class _Tree:
    """What every disk of the picture shows."""

    points: Tensor
    hierarchy: Hierarchy
    manifold: Lorentz
    shown: list[str]
    new_edges: Tensor | None


@dataclass(frozen=True)
class _Panel:
    """One disk of the picture: the point in its middle, and its labels, most important first."""

    centre: Tensor
    labels: list[int]
    title: str
    font_size: float


def require_matplotlib() -> None:
    """Raise a ``ValueError`` with the remedy if matplotlib is not installed.

    Example:
        >>> require_matplotlib()
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ValueError(
            "expected matplotlib for the picture, but it is not installed; run pip install hybonet[plot], or leave the "
            "picture out (--no-plot)"
        ) from None


def draw_disk(
    points: Tensor,
    hierarchy: Hierarchy,
    manifold: Lorentz,
    path: Path,
    *,
    title: str,
    note: str = "",
    shown: Sequence[str] | None = None,
    new_edges: Tensor | None = None,
    dpi: int = 150,
) -> None:
    """Draw an embedded hierarchy to a PNG file.

    The large disk has the root in its middle (or the centroid of several roots). The small ones show the same points
    moved by an isometry, with the point halfway between the root and a large branch in the middle: that spreads the
    branch over about half of the rim. With more than three ambient coordinates every disk is a projection, see
    :func:`~hybonet.reporting.geodesics.disk_view`.

    Args:
        points: row i is the point of the hierarchy's node i; shape (nodes, d).
        path: the file to write.
        note: a line under the title: how the points came about.
        shown: what people call the nodes, if not by the hierarchy's names.
        new_edges: which edges stand out as a model's own, not from data; shape (edges,).

    Example:
        >>> import tempfile
        >>> family = Hierarchy.from_edges([("dog", "canine"), ("wolf", "canine")])
        >>> points = Lorentz().random_normal(3, 3)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     picture = Path(folder) / "disk.png"
        ...     draw_disk(points, family, Lorentz(), picture, title="canines", dpi=40)
        ...     picture.read_bytes()[1:4]
        b'PNG'
    """
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    points = points.detach().double()
    figure = Figure(figsize=(14, 9.6), dpi=dpi, facecolor="white")
    canvas = FigureCanvasAgg(figure)  # measures text without a screen
    grid = figure.add_gridspec(
        2,
        2,
        width_ratios=(1.9, 1),
        left=0.005,
        right=0.995,
        top=0.885 if note else 0.915,
        bottom=0.02,
        wspace=0.01,
        hspace=0.09,
    )
    tree = _Tree(points, hierarchy, manifold, list(shown or map(display_name, hierarchy.names)), new_edges)
    dots: Any = None
    for place, panel in zip((grid[:, 0], grid[0, 1], grid[1, 1]), _panels(tree), strict=False):
        dots = _draw_panel(figure.add_subplot(place), canvas.get_renderer(), tree, panel)
    figure.suptitle(title, fontsize=15.5, color=_INK, y=0.99 if note else 0.978)
    figure.text(0.5, 0.963, note, fontsize=10, color=_INK, ha="center", va="top", linespacing=1.4)
    bar = figure.colorbar(dots, cax=figure.add_axes((0.02, 0.065, 0.13, 0.014)), orientation="horizontal")
    bar.locator = MaxNLocator(integer=True)
    bar.update_ticks()
    bar.set_label("depth below the root", fontsize=10, color=_INK)
    bar.outline.set_visible(False)
    figure.savefig(path)


def _panels(tree: _Tree) -> list[_Panel]:
    hierarchy, points, manifold = tree.hierarchy, tree.points, tree.manifold
    roots = hierarchy.roots
    root = manifold.centroid(points[roots])
    root_name = tree.shown[int(roots[0])] if len(roots) == 1 else f"the centroid of {len(roots)} roots"
    size = hierarchy.is_ancestor.sum(0).tolist()
    panels = [_Panel(root, choose_labels(hierarchy, _LABELS), f"{root_name} in the middle", 9.5)]
    for node in _branches(hierarchy):
        above = hierarchy.is_ancestor[node].nonzero().flatten().tolist()
        below = hierarchy.is_ancestor[:, node].nonzero().flatten().tolist()
        below = sorted(below, key=lambda n: (-size[n], n))[:_LABELS_OF_DETAIL]
        centre = midpoint(root, points[node], manifold)
        title = f"the same points, moved halfway to {tree.shown[node]}"
        panels.append(_Panel(centre, [node, *above, *below], title, 8))
    return panels


def _branches(hierarchy: Hierarchy) -> list[int]:
    """The two largest branches that are worth a disk of their own, neither inside the other."""
    size = hierarchy.is_ancestor.sum(0).tolist()
    chosen: list[int] = []
    for node in sorted(range(len(hierarchy)), key=lambda n: (-size[n], n)):
        related = any(bool(hierarchy.is_ancestor[node, other]) for other in chosen)
        if 2 <= size[node] <= _DETAIL_SHARE * len(hierarchy) and hierarchy.depths[node] > 0 and not related:
            chosen.append(node)
    return chosen[:2]


def _draw_panel(axes: Axes, renderer: Any, tree: _Tree, panel: _Panel) -> Any:
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Circle

    hierarchy = tree.hierarchy
    flat = disk_view(tree.points, panel.centre, tree.manifold)
    depths = hierarchy.depths.double()
    colours: dict[str, Any] = {"cmap": _COLOURS, "clim": (0.0, max(1.0, float(depths.max())))}
    window = axes.get_window_extent(renderer)
    wide, high = (_LIMIT * side / min(window.width, window.height) for side in (window.width, window.height))
    axes.set(xlim=(-wide, wide), ylim=(-high, high), aspect="equal")
    axes.axis("off")
    axes.set_title(panel.title, fontsize=10.5, color=_INK, pad=3)
    axes.add_patch(Circle((0, 0), 1, facecolor=_GROUND, edgecolor=_PALE, linewidth=1))
    child, parent = hierarchy.edges.unbind(-1)
    arcs = geodesic_arcs(flat[parent], flat[child])
    axes.add_collection(
        LineCollection(list(arcs.numpy()), array=depths[child].numpy(), linewidths=0.6, alpha=0.55, **colours)
    )
    if tree.new_edges is not None:
        axes.add_collection(LineCollection(list(arcs[tree.new_edges].numpy()), linewidths=1.3, colors=_NEW, zorder=2))
    # A mark of fixed hyperbolic size shrinks by this factor towards the rim.
    shrink = 1 - flat.square().sum(-1)
    x, y = flat.T.numpy()
    dots = axes.scatter(x, y, s=(5 + 70 * shrink).numpy(), c=depths.numpy(), linewidths=0, zorder=3, **colours)
    _write_labels(axes, renderer, flat, tree, panel)
    return dots


def _write_labels(axes: Axes, renderer: Any, flat: Tensor, tree: _Tree, panel: _Panel) -> None:
    pixels = torch.from_numpy(axes.transData.transform(flat.numpy()))
    window = axes.get_window_extent(renderer)
    frame = Box(window.x0 + window.width / 2, window.y0 + window.height / 2, window.width, window.height)
    point = renderer.points_to_pixels(1.0)  # lengths in points keep the layout the same at every resolution
    size = tree.hierarchy.is_ancestor.sum(0)
    texts, anchors = [], []
    for node in panel.labels:
        weight = "bold" if size[node] >= _LARGE_SHARE * len(size) else "normal"
        text = axes.text(
            0, 0, tree.shown[node], fontsize=panel.font_size, weight=weight, color=_INK, ha="center",
            va="center", zorder=5,
        )  # fmt: skip
        extent = text.get_window_extent(renderer)
        x, y = pixels[node].tolist()
        outward = math.atan2(float(flat[node, 1]), float(flat[node, 0]))
        at_rim = float(flat[node].norm()) > 0.97
        spread = math.radians(60) if at_rim else math.pi
        texts.append(text)
        anchors.append(Anchor(x, y, extent.width + 3 * point, extent.height + point, outward, spread))
    dots = [Box(anchor.x, anchor.y, 4 * point, 4 * point) for anchor in anchors]
    places = place_labels(anchors, frame, dots, gaps=[gap * point for gap in _GAPS])
    to_data = axes.transData.inverted()
    for text, anchor, box in zip(texts, anchors, places, strict=True):
        if box is None:
            text.remove()
            continue
        text.set_position(tuple(to_data.transform((box.x, box.y))))
        text.set_bbox({"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.4})
        ends = to_data.transform([(anchor.x, anchor.y), (box.x, box.y)])
        axes.plot(ends[:, 0], ends[:, 1], color=_PALE, linewidth=0.6, zorder=4)  # a leader, under the label
