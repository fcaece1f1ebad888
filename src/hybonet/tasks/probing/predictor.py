"""Trained probes: trees read off the states of test sentences, and how good they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from hybonet.data.trees.conllu import conllu_text
from hybonet.data.trees.dependency_tree import DependencyTree, heads_of
from hybonet.metrics.probing import ProbeScores, spanning_tree
from hybonet.reporting.answers import Answers, Measures
from hybonet.tasks.predictor import Predictor
from hybonet.tasks.probing.data import read, write
from hybonet.tasks.probing.models.tree_probe import TreeProbes
from hybonet.tasks.probing.options import Evaluate, Predict
from hybonet.tasks.probing.report import layers_table, title
from hybonet.tasks.probing.settings import ProbeSettings
from hybonet.tasks.probing.task import ProbeData, ProbeSplit, build_probes, make_batch, measure
from hybonet.tasks.run_folder import read_record

if TYPE_CHECKING:
    from hybonet.tasks.run import Run

_COLUMNS = ("sentence", "word", "form", "tag", "head", "gold_head")


class ProbeModel(Predictor):
    """Probes of every layer of an encoder, with the test sentences and their states.

    Example:
        >>> tree = DependencyTree(("dogs", "bark"), ("NOUN", "VERB"), (2, 0))
        >>> data = ProbeData({"test": ProbeSplit((tree,), torch.randn(2, 1, 5))}, None, (0,), {})
        >>> settings = ProbeSettings(dim=4)
        >>> model = ProbeModel(build_probes(settings, data.splits["test"].states, None), settings, data)
        >>> [answer["form"] for answer in model.predict(layer=0)]
        ['dogs', 'bark']
    """

    task_name = "probe"
    model: TreeProbes

    def __init__(self, model: TreeProbes, settings: ProbeSettings, data: ProbeData, **of_run: Any) -> None:
        super().__init__(model, **of_run)
        self.settings, self.data = settings, data

    @classmethod
    def of_run(cls, run: Run) -> ProbeModel:
        settings, data = run.settings, read(run.folder, run.about, ["test"])
        assert isinstance(settings, ProbeSettings)
        model = run.load_into(build_probes(settings, data.splits["test"].states, data.manifold))
        return cls(model, settings, data, config=run.config)

    def saved(self, folder: Path) -> dict[str, Any]:
        return {"settings": self.settings.model_dump(), "probed": write(folder, self.data, ["test"])}

    def export(self, output: str | Path, **options: Any) -> str:
        said = super().export(output, **options)
        return f"{said} (with the test sentences and their states; those of train and valid stay behind)"

    def __repr__(self) -> str:
        encoder = self.data.about.get("encoder", {}).get("name", "an encoder")
        return f"ProbeModel({self.settings.probe}, {len(self.data.layers)} layers of {encoder})"

    @cached_property
    def test(self) -> ProbeSplit:
        """The test sentences; under the control ``shuffled-labels`` with the trees that were to be learnt."""
        split = self.data.splits["test"]
        return split.shuffled(self.settings.seed, "test") if self.settings.control == "shuffled-labels" else split

    def finished(self) -> Mapping[str, Any]:
        """The record of the training, which chose the best layer; a training that goes on still has none."""
        if self.record is None:
            if self.run is not None:
                return read_record(self.run.folder)  # says what is missing
            raise ValueError("expected a layer, since these probes come without a record that names the best; give one")
        return self.record

    def place_of(self, layer: int | None = None) -> int:
        """The place of a layer among those probed; of the best one by default."""
        layer = self.finished()["best_layer"] if layer is None else layer
        if layer not in self.data.layers:
            raise ValueError(
                f"expected one of the layers probed ({', '.join(map(str, self.data.layers))}), got {layer}; choose one"
            )
        return self.data.layers.index(layer)

    def scores(self) -> list[ProbeScores]:
        """The four measures of every layer on the test sentences."""
        return measure(self.model, self.test, self._device)

    def evaluate(self, **options: Any) -> Measures:
        """The four measures of every layer on the test sentences, by the number of the layer."""
        Evaluate.checked(options)
        record = self.finished()
        scores = [asdict(each) for each in self.scores()]
        rows = [{**row, "test": each} for row, each in zip(record["layers"], scores, strict=True)]
        layers = {str(layer): each for layer, each in zip(self.data.layers, scores, strict=True)}
        figures: dict[str, Any] = {
            "split": "test",
            "sentences": len(self.test.trees),
            "best_layer": record["best_layer"],
        }
        figures["test"] = layers[str(record["best_layer"])]
        return Measures(
            {**figures, "layers": layers}, tables=lambda: (title(record), layers_table({**record, "layers": rows}))
        )

    def predict(self, **options: Any) -> Answers:
        """The words of the test sentences with the heads that a probe finds, 0 for the root."""
        trees = self.trees(Predict.checked(options).layer)
        rows = (
            (sentence, word, *each)
            for sentence, (tree, gold) in enumerate(zip(trees, self.test.trees, strict=True), 1)
            for word, each in enumerate(zip(tree.words, tree.tags, tree.heads, gold.heads, strict=True), 1)
        )
        records = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
        return Answers(records, columns=_COLUMNS, text=conllu_text(trees))

    @torch.no_grad()
    def trees(self, layer: int | None = None) -> list[DependencyTree]:
        """The test sentences with predicted trees: the minimum spanning tree of the distances between words, hung from
        the word of least depth. Punctuation, which the measures leave out, hangs from the nearest word.
        """
        place = self.place_of(layer)
        trees = []
        for number, tree in enumerate(self.test.trees):
            batch = make_batch(self.test, [number], self._device)
            distances, depths = (each.cpu() for each in self.model(batch.states, batch.place))
            left_out = tree.is_punctuation & ~tree.is_punctuation.all()
            found = distances[place, 0]
            edges = [(a, b) for a, b in spanning_tree(found, left_out).nonzero().tolist() if a < b]
            nearest = found.masked_fill(left_out, torch.inf).argmin(-1).tolist()
            edges += [(mark, nearest[mark]) for mark in left_out.nonzero().flatten().tolist()]
            root = int(depths[place, 0].masked_fill(left_out, torch.inf).argmin())
            heads = heads_of(edges, root, len(tree))
            trees.append(DependencyTree(tree.words, tree.tags, heads, space_after=tree.space_after))
        return trees

    @torch.no_grad()
    def points(self, sentence: int, layer: int | None = None) -> Tensor:
        """Where the distance probe puts the words of a test sentence; ``-> (words, dim)``."""
        batch = make_batch(self.test, [sentence], self._device)
        return self.model.distance.points(self.model.features(batch.states))[self.place_of(layer)].cpu()

    @property
    def _device(self) -> str:
        return str(next(self.model.parameters()).device)

    def card_text(self) -> str:
        encoder, data = self.data.about["encoder"]["name"], self.data.about["data"]["source"]
        return (
            f"Probes ({self.settings.probe}) of {len(self.data.layers)} layers of {encoder}, trained to give back the "
            f"dependency trees of {data}. The folder has the test sentences of {data} and their states, by which the "
            "probes are measured; the encoder and the states of train and valid are not in it."
        )

    def card_example(self) -> str:
        return "print(model.evaluate())\nprint(model.trees()[0].heads)"
