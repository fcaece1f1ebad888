"""All pictures of a probing, drawn from its folder alone."""

from __future__ import annotations

from pathlib import Path

from hybonet.data.trees.dependency_tree import PUNCTUATION, DependencyTree
from hybonet.reporting.charts import draw_curves
from hybonet.tasks.probing.models.tree_probe import LorentzProbe, PoincareProbe
from hybonet.tasks.probing.report import draw_layers
from hybonet.tasks.probing.run import ProbeRun
from hybonet.tasks.probing.sentence_picture import ProbedSentence, draw_sentence
from hybonet.tasks.run_folder import CURVES, source_name
from hybonet.training.history import read_history

LAYERS, SENTENCE = "layers.png", "sentence.png"
#: Lengths of a sentence that makes a readable picture.
_READABLE = range(8, 15)


def draw_run(
    folder: Path, target: Path, *, sentence: int | None = None, layer: int | None = None, dpi: int = 120
) -> list[Path]:
    """Draw ``layers.png`` (the four measures by layer), ``sentence.png`` and ``curves.png`` of a finished run.

    Args:
        folder: the run.
        target: where pictures go.
        sentence: number of a test sentence, from 1; by default one whose tree is found as well as trees are on average.
        layer: whose tree is drawn; by default the best.
    """
    run = ProbeRun.load(folder)
    predicted = run.predict(layer)
    number = typical_sentence(run, predicted) if sentence is None else sentence - 1
    if not 0 <= number < len(predicted):
        raise ValueError(
            f"expected a test sentence from 1 to {len(predicted)}, got {sentence}; hybonet predict lists them"
        )
    target.mkdir(parents=True, exist_ok=True)
    encoder, data = run.record["encoder"]["name"], source_name(run.record["data"]["source"])
    control = "" if run.settings.control == "none" else f" ({run.settings.control.replace('-', ' ')})"
    title = f"{run.settings.probe.capitalize()} probe, {data} trees: {encoder}{control}"
    draw_layers(run.record["layers"], run.record["best_layer"], target / LAYERS, title=title, dpi=dpi)
    tree, guess = run.test.trees[number], predicted[number]
    probe = run.model.distance
    shown = ProbedSentence(
        tree.words,
        tree.heads,
        guess.heads,
        tree.is_punctuation,
        run.points(number, layer),
        probe.manifold if isinstance(probe, LorentzProbe | PoincareProbe) else None,
    )
    of_layer = run.record["best_layer"] if layer is None else layer
    note = (
        f"test sentence {number + 1}, layer {of_layer}; teal: found, grey: missed, orange: wrong\n"
        "below: its words as the probe places them, joined by the gold edges, the predicted root in orange"
    )
    draw_sentence(shown, target / SENTENCE, title=title, note=note, dpi=dpi)
    label = "mean of the measures"
    draw_curves(read_history(folder), "score", target / CURVES, title=title, label=f"{label} on valid", dpi=dpi)
    return [target / LAYERS, target / SENTENCE, target / CURVES]


def typical_sentence(run: ProbeRun, predicted: list[DependencyTree]) -> int:
    """The first readable test sentence whose share of edges found is nearest to that of all."""
    average = run.record["test"]["uuas"]
    trees = run.test.trees
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
