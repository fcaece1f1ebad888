"""All pictures of a probing; of a sentence the gold tree, the predicted tree, and where its words are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from hybonet.data.trees.dependency_tree import PUNCTUATION, DependencyTree
from hybonet.geometry import Lorentz
from hybonet.reporting.charts import INK, LINE, SECOND, new_figure
from hybonet.reporting.geodesics import disk_view, geodesic_arcs, two_columns
from hybonet.reporting.labels import write_labels
from hybonet.reporting.pictures import Pictures, saved
from hybonet.tasks.probing.models.tree_probe import LorentzProbe, PoincareProbe
from hybonet.tasks.probing.options import Plot
from hybonet.tasks.probing.predictor import ProbeModel
from hybonet.tasks.probing.report import draw_layers
from hybonet.tasks.probing.task import TreeProbingTask
from hybonet.tasks.run_folder import source_name

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


LAYERS, SENTENCE = "layers.png", "sentence.png"
#: Lengths of a sentence that makes a readable picture.
_READABLE = range(8, 15)


def pictures(model: ProbeModel, folder: Path, options: Plot) -> Pictures:
    """Draw ``layers.png`` (the four measures by layer), ``sentence.png`` and ``curves.png`` into ``folder``.

    Args:
        options: the sentence, by default one whose tree is found as well as trees are on average; and the layer whose
            tree is drawn, by default the best.
    """
    record, predicted = model.finished(), model.trees(options.layer)
    number = typical_sentence(model, predicted) if options.sentence is None else options.sentence - 1
    if not 0 <= number < len(predicted):
        raise ValueError(
            f"expected a test sentence from 1 to {len(predicted)}, got {options.sentence}; hybonet predict lists them"
        )
    encoder, data = record["encoder"]["name"], source_name(record["data"]["source"])
    control = "" if model.settings.control == "none" else f" ({model.settings.control.replace('-', ' ')})"
    title = f"{model.settings.probe.capitalize()} probe, {data} trees: {encoder}{control}"
    draw_layers(record["layers"], record["best_layer"], folder / LAYERS, title=title)
    tree, guess = model.test.trees[number], predicted[number]
    probe = model.model.distance
    shown = ProbedSentence(
        tree.words,
        tree.heads,
        guess.heads,
        tree.is_punctuation,
        model.points(number, options.layer),
        probe.manifold if isinstance(probe, LorentzProbe | PoincareProbe) else None,
    )
    of_layer = record["best_layer"] if options.layer is None else options.layer
    note = (
        f"test sentence {number + 1}, layer {of_layer}; teal: found, grey: missed, orange: wrong\n"
        "below: its words as the probe places them, joined by the gold edges, the predicted root in orange"
    )
    draw_sentence(shown, folder / SENTENCE, title=title, note=note)
    curves = model.draw_curves(folder, TreeProbingTask, title)
    return Pictures([folder / LAYERS, folder / SENTENCE, *curves], missing=curves.missing)


def typical_sentence(model: ProbeModel, predicted: list[DependencyTree]) -> int:
    """The first readable test sentence whose share of edges found is nearest to that of all."""
    average = model.finished()["test"]["uuas"]
    trees = model.test.trees
    readable = [number for number, tree in enumerate(trees) if len(tree) in _READABLE] or list(range(len(trees)))
    return min(readable, key=lambda number: abs(_share(trees[number], predicted[number]) - average))


def _share(gold: DependencyTree, predicted: DependencyTree) -> float:
    """The share of the gold edges between words, punctuation left out, that were found."""
    left_out = {number for number, tag in enumerate(gold.tags, 1) if tag == PUNCTUATION}
    edges = [
        {frozenset((word, head)) for word, head in enumerate(tree.heads, 1) if head and not {word, head} & left_out}
        for tree in (gold, predicted)
    ]
    return len(edges[0] & edges[1]) / max(1, len(edges[0]))
