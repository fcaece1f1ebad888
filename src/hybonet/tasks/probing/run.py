"""A probing on disk: everything that training, measuring and drawing need, the encoder itself no longer.

Files: ``config.json``; ``train.conllu``, ``valid.conllu`` and ``test.conllu`` (words, tags and heads); ``states.
safetensors`` (of the words of train and valid, large, of no use once training is done) and ``test_states.safetensors``;
``model.safetensors``; ``checkpoint.safetensors`` and ``history.jsonl`` of the training; ``record.json``; pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from hybonet.data.trees.conllu import read_conllu, write_conllu
from hybonet.data.trees.dependency_tree import DependencyTree, heads_of
from hybonet.data.trees.loading import SPLITS
from hybonet.geometry import Lorentz
from hybonet.metrics.probing import ProbeScores, spanning_tree
from hybonet.tasks.probing.models.tree_probe import TreeProbes
from hybonet.tasks.probing.settings import ProbeSettings
from hybonet.tasks.probing.task import (
    ProbeData,
    ProbeSplit,
    TreeProbingTask,
    best_layer,
    build_probes,
    chain_scores,
    make_batch,
    measure,
)
from hybonet.tasks.run_folder import (
    CONFIG,
    load_best,
    new_run,
    read_config,
    read_record,
    read_settings_as,
    write_json,
)
from hybonet.tasks.run_training import train_task
from hybonet.training import FitResult, Reporter
from hybonet.training.checkpoint import read_tensors, write_tensors

STATES, TEST_STATES = "states.safetensors", "test_states.safetensors"
#: Training sentences that are measured as well, to see what the probe has learnt by heart.
_OF_TRAIN = 500


def start_run(folder: Path, settings: ProbeSettings, data: ProbeData, *, overwrite: bool = False, **about: Any) -> None:
    """Write what a training starts from into a new or empty folder, or over an earlier run: all of it or nothing."""
    K = None if data.manifold is None else data.manifold.curvature
    with new_run(folder, overwrite=overwrite) as staging:
        for name, split in data.splits.items():
            write_conllu(staging / f"{name}.conllu", split.trees)
        write_tensors(staging / STATES, {name: data.splits[name].states.contiguous() for name in ("train", "valid")})
        write_tensors(staging / TEST_STATES, {"test": data.splits["test"].states.contiguous()})
        probed = {"about": data.about, "layers": list(data.layers), "K": K}
        write_json(
            staging / CONFIG,
            {"task": TreeProbingTask.name, **about, "settings": settings.model_dump(), "probed": probed},
        )


def train_run(folder: Path, *, resume: bool, resume_command: str = "", reporter: Reporter | None = None) -> FitResult:
    """Train what the folder describes, and store the record of it: the four measures of every layer, valid and test."""
    task = TreeProbingTask(read_settings(folder), read_data(folder))
    return train_task(
        folder,
        task,
        lambda result: _measures(task, result.model),
        resume=resume,
        resume_command=resume_command,
        reporter=reporter,
    )


def _measures(task: TreeProbingTask, model: torch.nn.Module) -> dict[str, Any]:
    device, train = task.settings.device, task.splits["train"]
    some = train.trees[:_OF_TRAIN]
    splits = {**task.splits, "train": ProbeSplit(some, train.states[: sum(map(len, some))])}
    scores = {name: measure(model, splits[name], device) for name in ("train", "valid", "test")}
    best = best_layer(scores["valid"])
    rows = [
        {"layer": layer, **{name: asdict(scores[name][place]) for name in scores}}
        for place, layer in enumerate(task.data.layers)
    ]
    chosen = {name: asdict(scores[name][best]) for name in scores}
    chain = {name: asdict(chain_scores(task.splits[name].trees)) for name in ("valid", "test")}
    return {"layers": rows, "best_layer": task.data.layers[best], **chosen, "chain": chain}


def read_settings(folder: Path) -> ProbeSettings:
    """The settings of a run."""
    return read_settings_as(ProbeSettings, read_config(folder, TreeProbingTask.name), folder)


def read_settings_to_resume(folder: Path) -> ProbeSettings:
    """The settings of a run whose states are still there; without them it cannot go on."""
    settings = read_settings(folder)
    if not (folder / STATES).is_file():
        raise ValueError(
            f"expected {STATES} in the run {str(folder)!r} to go on with, found none; restore it or start a new run"
        )
    return settings


def read_data(folder: Path, splits: Sequence[str] = SPLITS) -> ProbeData:
    """What a run probes, or some splits of it."""
    probed = read_config(folder, TreeProbingTask.name)["probed"]
    tensors: dict[str, Tensor] = {}
    for name, held in ((STATES, ("train", "valid")), (TEST_STATES, ("test",))):
        if set(held) & set(splits):
            tensors |= read_tensors(folder / name)
    missing = [split for split in splits if split not in tensors]
    if missing:
        raise ValueError(f"{folder}: expected states of {missing[0]}, found none; restore {STATES} or start a new run")
    parts = {}
    for split in splits:
        try:
            parts[split] = ProbeSplit(tuple(read_conllu(folder / f"{split}.conllu")), tensors[split])
        except ValueError as error:
            raise ValueError(f"{error} (in the run {str(folder)!r}: restore its files, or start a new run)") from None
    manifold = None if probed["K"] is None else Lorentz(probed["K"])
    return ProbeData(parts, manifold, tuple(probed["layers"]), probed["about"])


@dataclass(frozen=True)
class ProbeRun:
    """A finished probing as read from disk, with the test sentences.

    Example: ``ProbeRun.load("runs/probe").predict()[0].heads`` are the heads of the first test sentence's words.
    """

    settings: ProbeSettings
    data: ProbeData
    model: TreeProbes
    record: dict[str, Any]

    @classmethod
    def load(cls, folder: str | Path) -> ProbeRun:
        """Read a run of ``hybonet probe``."""
        folder = Path(folder)
        settings, data = read_settings(folder), read_data(folder, ["test"])
        model = build_probes(settings, data.splits["test"].states, data.manifold)
        return cls(settings, data, load_best(folder, model), read_record(folder))

    @cached_property
    def test(self) -> ProbeSplit:
        """The test sentences; under the control ``shuffled-labels`` with the trees that were to be learnt."""
        split = self.data.splits["test"]
        return split.shuffled(self.settings.seed, "test") if self.settings.control == "shuffled-labels" else split

    def place_of(self, layer: int | None = None) -> int:
        """The place of a layer among those probed; of the best one by default."""
        layer = self.record["best_layer"] if layer is None else layer
        if layer not in self.data.layers:
            raise ValueError(
                f"expected one of the layers probed ({', '.join(map(str, self.data.layers))}), got {layer}; choose one"
            )
        return self.data.layers.index(layer)

    def evaluate(self) -> list[ProbeScores]:
        """The four measures of every layer on the test sentences."""
        return measure(self.model, self.test)

    @torch.no_grad()
    def predict(self, layer: int | None = None) -> list[DependencyTree]:
        """The test sentences with predicted trees: the minimum spanning tree of the distances between words, hung from
        the word of least depth. Punctuation, which the measures leave out, hangs from the nearest word.
        """
        place = self.place_of(layer)
        trees = []
        for number, tree in enumerate(self.test.trees):
            batch = make_batch(self.test, [number])
            distances, depths = self.model(batch.states, batch.place)
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
        batch = make_batch(self.test, [sentence])
        return self.model.distance.points(self.model.features(batch.states))[self.place_of(layer)]
