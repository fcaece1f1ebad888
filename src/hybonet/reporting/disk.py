"""The picture of an embedded hierarchy: the Poincaré disk, edges as geodesic arcs, nodes coloured by depth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor

from hybonet.data import Hierarchy, display_name
from hybonet.extras import needed
from hybonet.geometry import Lorentz
from hybonet.reporting.geodesics import disk_view, geodesic_arcs, midpoint
from hybonet.reporting.labels import Box, choose_labels, pixel_box, write_labels
from hybonet.reporting.pictures import saved

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = "viridis_r"
_INK, _PALE, _GROUND, _NEW = "#222222", "#b8bcc4", "#f6f7f9", "#e4572e"
_LIMIT = 1.17  # of the axes, in units of the disk: room for the labels outside the rim
_LABELS, _LABELS_OF_DETAIL = 60, 30  # that are important
_MORE_LABELS = 240  # tried as well, for places with plenty of room
_SHARE_IN_COLOUR = 0.95  # of the nodes: a few very deep ones would leave the others a part of the colours
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

    @property
    def deepest_colour(self) -> int:
        """The depth from which on nodes have the last colour."""
        depths = self.hierarchy.depths.double()
        return max(1, math.ceil(float(depths.quantile(_SHARE_IN_COLOUR))))


@dataclass(frozen=True)
class _Panel:
    """One disk of the picture: the point in its middle, and its labels, most important first."""

    centre: Tensor
    labels: list[int]
    important: int
    title: str
    font_size: float


def require_matplotlib() -> None:
    """Raise a ``ValueError`` with the remedy if matplotlib is not installed."""
    needed("matplotlib", "the picture", "plot", ", or leave the picture out (--no-plot)")


def draw_disk(
    points: Tensor,
    hierarchy: Hierarchy,
    manifold: Lorentz,
    path: Path | None = None,
    *,
    title: str,
    note: str = "",
    shown: Sequence[str] | None = None,
    new_edges: Tensor | None = None,
    dpi: int = 150,
) -> Figure:
    """Draw an embedded hierarchy to a PNG file.

    The large disk has the root in its middle (or the centroid of several roots). The small ones show the same points
    moved by an isometry, with the point halfway between the root and a large branch in the middle: that spreads the
    branch over about half of the rim. With more than three ambient coordinates every disk is a projection, see
    :func:`~hybonet.reporting.geodesics.disk_view`.

    Args:
        points: row i is the point of the hierarchy's node i; shape (nodes, d).
        shown: what people call the nodes, if not by the hierarchy's names.
        new_edges: which edges stand out as a model's own, not from data; shape (edges,).
    """
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    points = points.detach().double()
    tree = _Tree(points, hierarchy, manifold, list(shown or map(display_name, hierarchy.names)), new_edges)
    panels = _panels(tree)
    is_single = len(panels) == 1
    figure = Figure(figsize=(12 if is_single else 14, 9.6), dpi=dpi, facecolor="white")
    renderer = FigureCanvasAgg(figure).get_renderer()  # measures text without a screen
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
    figure.suptitle(title, fontsize=15.5 if len(title) < 80 else 13, color=_INK, y=0.99 if note else 0.978)
    figure.text(0.5, 0.963, note, fontsize=10, color=_INK, ha="center", va="top", linespacing=1.4)
    legend = _draw_colour_bar(figure, renderer, tree)
    for place, panel in zip((grid[:, :] if is_single else grid[:, 0], grid[0, 1], grid[1, 1]), panels, strict=False):
        _draw_panel(figure.add_subplot(place), renderer, tree, panel, legend)
    return saved(figure, path)


def _draw_colour_bar(figure: Figure, renderer: Any, tree: _Tree) -> Box:
    """Say what the colours mean, in the lower left corner; returns the place that it takes."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.ticker import FixedLocator, MaxNLocator

    last = tree.deepest_colour
    colours = ScalarMappable(cmap=_COLOURS)
    colours.set_clim(0, last)
    bar = figure.colorbar(colours, cax=figure.add_axes((0.02, 0.065, 0.13, 0.014)), orientation="horizontal")
    depths = [int(depth) for depth in MaxNLocator(5, integer=True).tick_values(0, last) if depth < last]
    # A tick that the last one would touch gives way to it.
    ticks = [*(depth for depth in depths if last - depth > 0.12 * last), last]
    is_clipped = last < int(tree.hierarchy.depths.max())
    labels = [*map(str, ticks[:-1]), f"≥ {last}" if is_clipped else str(last)]
    bar.ax.xaxis.set_major_locator(FixedLocator(ticks))
    bar.ax.set_xticklabels(labels)
    bar.set_label("depth below the root", fontsize=10, color=_INK)
    bar.outline.set_visible(False)
    return pixel_box(bar.ax.get_tightbbox(renderer), margin=renderer.points_to_pixels(4.0))


def _panels(tree: _Tree) -> list[_Panel]:
    hierarchy, points, manifold = tree.hierarchy, tree.points, tree.manifold
    roots = hierarchy.roots
    root = manifold.centroid(points[roots])
    root_name = tree.shown[int(roots[0])] if len(roots) == 1 else f"the centroid of {len(roots)} roots"
    size = hierarchy.descendants.tolist()
    labels = choose_labels(hierarchy, _LABELS + _MORE_LABELS)
    panels = [_Panel(root, labels, _LABELS, f"{root_name} in the middle", 9.5)]
    for node in _branches(hierarchy):
        above = hierarchy.ancestors(node).tolist()
        below = sorted(hierarchy.below(node).tolist(), key=lambda n: (-size[n], n))
        centre = midpoint(root, points[node], manifold)
        title = f"the same points, moved halfway to {tree.shown[node]}"
        important = 1 + len(above) + _LABELS_OF_DETAIL
        labels = [node, *above, *below][: important + _MORE_LABELS]
        panels.append(_Panel(centre, labels, important, title, 8))
    return panels


def _branches(hierarchy: Hierarchy) -> list[int]:
    """The two largest branches that are worth a disk of their own, neither inside the other."""
    size = hierarchy.descendants.tolist()
    chosen: list[int] = []
    for node in sorted(range(len(hierarchy)), key=lambda n: (-size[n], n)):
        if len(chosen) == 2:
            break
        fits = 2 <= size[node] <= _DETAIL_SHARE * len(hierarchy) and hierarchy.depths[node] > 0
        if fits and not set(hierarchy.ancestors(node).tolist()) & set(chosen):
            chosen.append(node)
    return chosen


def _draw_panel(axes: Axes, renderer: Any, tree: _Tree, panel: _Panel, legend: Box) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Circle

    hierarchy = tree.hierarchy
    flat = disk_view(tree.points, panel.centre, tree.manifold)
    depths = hierarchy.depths.double()
    colours: dict[str, Any] = {"cmap": _COLOURS, "clim": (0, tree.deepest_colour)}
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
    axes.scatter(x, y, s=(5 + 70 * shrink).numpy(), c=depths.numpy(), linewidths=0, zorder=3, **colours)
    size = hierarchy.descendants
    write_labels(
        axes,
        renderer,
        flat,
        tree.shown,
        panel.labels,
        important=panel.important,
        bold=size >= _LARGE_SHARE * len(size),
        font_size=panel.font_size,
        obstacles=[legend],
    )
