"""All pictures of a probing."""

from __future__ import annotations

from pathlib import Path

from hybonet.data.trees.dependency_tree import PUNCTUATION, DependencyTree
from hybonet.reporting.pictures import Pictures
from hybonet.tasks.probing.models.tree_probe import LorentzProbe, PoincareProbe
from hybonet.tasks.probing.options import Plot
from hybonet.tasks.probing.predictor import ProbeModel
from hybonet.tasks.probing.report import draw_layers
from hybonet.tasks.probing.sentence_picture import ProbedSentence, draw_sentence
from hybonet.tasks.probing.task import TreeProbingTask
from hybonet.tasks.run_folder import source_name

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
