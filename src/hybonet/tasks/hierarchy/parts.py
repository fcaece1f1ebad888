"""What the hierarchy task is made of; see :class:`hybonet.tasks.base.Parts`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from hybonet.tasks.hierarchy.candidates import candidates, guess
from hybonet.tasks.hierarchy.data import load, read, write
from hybonet.tasks.hierarchy.pictures import pictures
from hybonet.tasks.hierarchy.predictor import HierarchyModel
from hybonet.tasks.hierarchy.recipes import RECIPES
from hybonet.tasks.hierarchy.report import after_training, headline, next_command
from hybonet.tasks.hierarchy.task import HierarchySettings, HierarchyTask, measure
from hybonet.training import FitResult

settings, task, predictor = HierarchySettings, HierarchyTask, HierarchyModel


def measures(trained: HierarchyTask, result: FitResult) -> dict[str, Any]:
    """How well distances give the hierarchy back, at the end and before the first step."""
    at_start = asdict(measure(trained.start(), trained.hierarchy, trained.manifold))
    return {"metrics": {name: result.best[name] for name in at_start}, "metrics_at_start": at_start}
