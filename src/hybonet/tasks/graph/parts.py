"""What the graph task is made of; see :class:`hybonet.tasks.base.Parts`."""

from __future__ import annotations

from typing import Any

import torch

from hybonet.metrics.calibration import class_calibration, link_calibration
from hybonet.tasks.graph.candidates import candidates, edges_of, guess, twin
from hybonet.tasks.graph.data import load, notes, read, write
from hybonet.tasks.graph.evaluation import held_out_pairs
from hybonet.tasks.graph.models.node_model import NodeModel
from hybonet.tasks.graph.options import DataOptions
from hybonet.tasks.graph.pictures import pictures
from hybonet.tasks.graph.predictor import GraphModel
from hybonet.tasks.graph.recipes import DEFAULTS, RECIPES
from hybonet.tasks.graph.report import after_training, headline, next_command
from hybonet.tasks.graph.settings import GraphSettings
from hybonet.tasks.graph.task import GraphLearningTask
from hybonet.tasks.recipes import recipe
from hybonet.training import FitResult

settings, task, predictor = GraphSettings, GraphLearningTask, GraphModel


def measures(trained: GraphLearningTask, result: FitResult) -> dict[str, Any]:
    """Validation and test, and what turns distances or scores into probabilities."""
    assert isinstance(result.model, NodeModel)
    fitted = calibration(trained, result.model)
    test = trained.measure_in_full(result.model, fitted, "test")["test"]
    return {"valid": result.best, "test": test, "calibration": fitted}


@torch.no_grad()
def calibration(trained: GraphLearningTask, model: NodeModel) -> dict[str, float]:
    """What turns the model's distances or scores into probabilities, by the validation data."""
    z = trained.points(model)
    if trained.links is not None:
        pairs = held_out_pairs(trained.links, "valid")
        return link_calibration(*(model.squared_distance(z, part.to(z.device)) for part in pairs))
    assert trained.node_split is not None
    assert trained.graph.labels is not None
    nodes = trained.node_split.valid
    return class_calibration(model.class_logits(z[nodes.to(z.device)]), trained.graph.labels[nodes])


def choose_recipe(name: str | None, changes: list[str], options: DataOptions, data: Any) -> tuple[str, list[str]]:
    """The recipe to start from: that of what is to be predicted; one for something else is a mistake."""
    asked = options.task
    own = [change.partition("=")[2].strip() for change in changes if change.partition("=")[0].strip() == "task"]
    if asked is not None and any(each != asked for each in own):
        raise ValueError(f"expected one task, got --task {asked} and --set task={own[-1]}; leave one out")
    wanted = asked or (own[-1] if own else None)
    if name is None:
        return DEFAULTS.get(wanted or "lp", DEFAULTS["lp"]), changes
    made_for = recipe(name, "graph").settings.task
    if asked is not None and asked != made_for:
        raise ValueError(
            f"expected a recipe for --task {asked}, but {name!r} is one for --task {made_for}; leave --task out, or "
            "choose another recipe"
        )
    return name, changes
