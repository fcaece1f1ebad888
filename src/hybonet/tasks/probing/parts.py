"""What the probing task is made of; see :class:`hybonet.tasks.base.Parts`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from hybonet.tasks.probing.candidates import candidates, guess, twin
from hybonet.tasks.probing.data import load, read, write
from hybonet.tasks.probing.pictures import pictures
from hybonet.tasks.probing.predictor import ProbeModel
from hybonet.tasks.probing.recipes import RECIPES
from hybonet.tasks.probing.report import after_training, headline, next_command
from hybonet.tasks.probing.settings import ProbeSettings
from hybonet.tasks.probing.task import ProbeSplit, TreeProbingTask, best_layer, chain_scores, measure
from hybonet.training import FitResult

settings, task, predictor = ProbeSettings, TreeProbingTask, ProbeModel
not_searched = {"control": "a control is compared with the probe itself; fix it with --set {name}=…"}

#: Training sentences that are measured as well, to see what the probe has learnt by heart.
_OF_TRAIN = 500


def measures(trained: TreeProbingTask, result: FitResult) -> dict[str, Any]:
    """The four measures of every layer, and of the layer that is best on validation data."""
    device, train = trained.settings.device, trained.splits["train"]
    some = train.trees[:_OF_TRAIN]
    splits = {**trained.splits, "train": ProbeSplit(some, train.states[: sum(map(len, some))])}
    scores = {name: measure(result.model, splits[name], device) for name in ("train", "valid", "test")}
    best = best_layer(scores["valid"])
    rows = [
        {"layer": layer, **{name: asdict(scores[name][place]) for name in scores}}
        for place, layer in enumerate(trained.data.layers)
    ]
    chosen = {name: asdict(scores[name][best]) for name in scores}
    chain = {name: asdict(chain_scores(trained.splits[name].trees)) for name in ("valid", "test")}
    return {"layers": rows, "best_layer": trained.data.layers[best], **chosen, "chain": chain}
