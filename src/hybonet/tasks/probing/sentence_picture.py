"""The picture of one probed sentence: gold tree above its words, predicted tree below, and where the words are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from hybonet.geometry import Lorentz
from hybonet.reporting.charts import INK, LINE, SECOND, new_figure
from hybonet.reporting.disk_labels import write_labels
from hybonet.reporting.geodesics import disk_view, geodesic_arcs, two_columns
from hybonet.reporting.pictures import saved

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PALE, _GROUND = "#b8bcc4", "#f6f7f9"
_INCH_A_WORD, _LEAST_WIDTH = 0.72, 7.6
Edge = tuple[int, int]


@dataclass(frozen=True)
class ProbedSentence:
    """Words, their trees as heads (0: the root, words from 1), which words do not count, and points (words, d)."""

    words: tuple[str, ...]
    gold: tuple[int, ...]
    predicted: tuple[int, ...]
    left_out: Tensor
    points: Tensor
    #: The manifold of the points; None: they are Euclidean.
    manifold: Lorentz | None


def draw_sentence(
    sentence: ProbedSentence, path: Path | None = None, *, title: str, note: str = "", dpi: int = 120
) -> Figure:
    """Draw a sentence to a PNG file.

    Edges found are alike above and below; those missed are pale above, wrong ones stand out below. The words are drawn
    on the Poincaré disk (projected to two dimensions), joined by the gold edges, the predicted root in orange.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    gold, predicted = (_edges(heads, sentence.left_out) for heads in (sentence.gold, sentence.predicted))
    height = 1.1 + 0.36 * sum(max((b - a for a, b in edges), default=1) ** 0.7 for edges in (gold, predicted))
    width = max(_LEAST_WIDTH, _INCH_A_WORD * len(sentence.words) + 1.8)
    figure = new_figure((width, height + 6.4), dpi, "")
    renderer = FigureCanvasAgg(figure).get_renderer()
    total = height + 6.4
    figure.text(0.5, 1 - 0.12 / total, title, ha="center", va="top", fontsize=12.5, color=INK)
    figure.text(0.5, 1 - 0.42 / total, note, ha="center", va="top", fontsize=9.5, color=INK)
    arcs = figure.add_axes((0.01, 5.55 / total, 0.98, height / total))
    _draw_trees(arcs, sentence, gold, predicted)
    _draw_points(figure.add_axes((0.02, 0.05 / total, 0.96, 5.3 / total)), renderer, sentence, gold, predicted)
    return saved(figure, path)


def _edges(heads: Sequence[int], left_out: Tensor) -> set[Edge]:
    """Pairs of places, lower first, of words that both count."""
    pairs = ((min(word, head - 1), max(word, head - 1)) for word, head in enumerate(heads) if head)
    return {(a, b) for a, b in pairs if not left_out[a] and not left_out[b]}


def _draw_trees(axes: Axes, sentence: ProbedSentence, gold: set[Edge], predicted: set[Edge]) -> None:
    words = sentence.words
    tallest = max(((b - a) ** 0.7 for a, b in gold | predicted), default=1.0)
    axes.axis("off")
    axes.set(xlim=(-1.9, len(words) - 0.2), ylim=(-(tallest + 1.1), tallest + 1.1))
    for place, word in enumerate(words):
        is_out = bool(sentence.left_out[place])
        axes.text(place, 0, word, ha="center", va="center", fontsize=11, color=_PALE if is_out else INK, zorder=4)
    for edges, others, sign, colour in ((gold, predicted, 1, _PALE), (predicted, gold, -1, SECOND)):
        for a, b in edges:
            is_found = (a, b) in others
            _arc(axes, a, b, sign, LINE if is_found else colour, 1.8 if is_found else 1.4)
    for heads, sign, name in ((sentence.gold, 1, "gold"), (sentence.predicted, -1, "predicted")):
        root, is_right = heads.index(0), sentence.gold.index(0) == sentence.predicted.index(0)
        colour = LINE if is_right else (_PALE if sign > 0 else SECOND)
        axes.annotate(
            "root", (root, 0.3 * sign), (root, sign * (tallest + 0.85)), ha="center", va="center", fontsize=9,
            color=colour, arrowprops={"arrowstyle": "->", "color": colour, "linewidth": 1.2, "shrinkA": 1},
        )  # fmt: skip
        axes.text(-1.85, sign * (tallest + 0.85), name, ha="left", va="center", fontsize=10, weight="bold", color=INK)


def _arc(axes: Axes, a: int, b: int, sign: int, colour: str, width: float) -> None:
    """Half an ellipse between two words, higher the farther they are apart."""
    angle = torch.linspace(0, torch.pi, 40)
    x = (a + b) / 2 + (b - a) / 2 * angle.cos() * 0.94
    y = sign * (0.3 + (b - a) ** 0.7 * angle.sin())
    axes.plot(x.numpy(), y.numpy(), color=colour, linewidth=width, solid_capstyle="round", zorder=2)


def _draw_points(axes: Axes, renderer: Any, sentence: ProbedSentence, gold: set[Edge], predicted: set[Edge]) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Circle

    window = axes.get_window_extent(renderer)
    tall = 1.12
    axes.set(xlim=(-tall * window.width / window.height, tall * window.width / window.height), ylim=(-tall, tall))
    axes.axis("off")
    axes.set_aspect("equal")
    flat = _flat(sentence)
    if sentence.manifold is not None:
        axes.add_patch(Circle((0, 0), 1, facecolor=_GROUND, edgecolor=_PALE, linewidth=1))
    for edges, colour in ((gold & predicted, LINE), (gold - predicted, _PALE)):
        if edges:
            a, b = torch.tensor(sorted(edges)).T
            lines = (
                geodesic_arcs(flat[a], flat[b]) if sentence.manifold is not None else torch.stack((flat[a], flat[b]), 1)
            )
            axes.add_collection(LineCollection(list(lines.numpy()), colors=colour, linewidths=1.6, zorder=2))
    shown = (~sentence.left_out).nonzero().flatten()
    root = sentence.predicted.index(0)
    colours = [SECOND if place == root else LINE for place in shown.tolist()]
    x, y = flat[shown].T.numpy()
    axes.scatter(x, y, s=26, c=colours, linewidths=0, zorder=3)
    names = [sentence.words[place] for place in shown.tolist()]
    if not names:  # nothing but punctuation
        return
    write_labels(
        axes,
        renderer,
        flat[shown],
        names,
        range(len(names)),
        important=len(names),
        bold=shown == root,
        font_size=10,
        obstacles=[],
    )


def _flat(sentence: ProbedSentence) -> Tensor:
    """Two coordinates for every word, the middle of all words in the middle; ``-> (words, 2)`` in float64."""
    points = sentence.points.double()
    if sentence.manifold is not None:
        return disk_view(points, sentence.manifold.centroid(points), sentence.manifold)
    centred = points - points.mean(0)
    _, _, axes = torch.linalg.svd(centred, full_matrices=False)
    flat = two_columns(centred @ axes[:2].T)
    return flat / flat.norm(dim=-1).max().clamp_min(1e-12)
