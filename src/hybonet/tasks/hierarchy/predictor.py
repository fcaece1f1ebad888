"""A trained embedding of a hierarchy."""

from __future__ import annotations

from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from hybonet.data import Hierarchy, display_name
from hybonet.geometry import Lorentz
from hybonet.reporting.answers import Answers, Measures
from hybonet.tasks.hierarchy.data import write
from hybonet.tasks.hierarchy.options import Evaluate, Predict
from hybonet.tasks.hierarchy.task import HierarchyTask, measure
from hybonet.tasks.predictor import Embedding, Predictor


class HierarchyModel(Predictor):
    """A hierarchy's names as points: the origin is the most general, and what belongs together lies near.

    Example:
        >>> from hybonet.tasks.hierarchy.task import HierarchySettings
        >>> family = Hierarchy.from_edges([("dog", "canine"), ("canine", "mammal"), ("cat", "mammal")])
        >>> task = HierarchyTask(HierarchySettings(), family)
        >>> model = HierarchyModel(task.build_model(), task)
        >>> [answer["ancestor"] for answer in model.predict(node="dog", top=2)]
        ['canine', 'mammal']
    """

    task_name = "hierarchy"

    task: HierarchyTask

    @cached_property
    def points(self) -> Tensor:
        """Where the names are, ``(nodes, dim)``."""
        return self.task.points(self.model)

    @property
    def hierarchy(self) -> Hierarchy:
        """What it was trained on."""
        return self.task.hierarchy

    @property
    def manifold(self) -> Lorentz:
        """Where the points are."""
        return self.task.manifold

    def __repr__(self) -> str:
        return f"HierarchyModel({len(self.hierarchy):,} nodes of {self.hierarchy.source})"

    def saved(self, folder: Path) -> dict[str, Any]:
        return {"settings": self.task.settings.model_dump(), "hierarchy": write(folder, self.hierarchy)}

    @torch.no_grad()
    def predict(self, node: Any = None, **options: Any) -> Answers:
        """Likely ancestors: of the points nearer to the origin, the nearest.

        Args:
            node: one name, or several; by default the nodes that have the most descendants.
            options: of ``hybonet predict``: ``top``.
        """
        asked = Predict.checked({"node": node, **options})
        names = list(self.hierarchy.names)
        if asked.node:
            places = [self._place_of(name, names, names) for name in asked.node]
        else:
            places = self.hierarchy.descendants.topk(min(asked.top, len(names))).indices.tolist()
        height = self.manifold.dist0(self.points)
        rows = []
        for place in places:
            distance = self.manifold.dist(self.points[place], self.points)
            above = (height < height[place]).nonzero().flatten()
            nearest = above[distance[above].argsort()[: asked.top]]
            ancestors = set(self.hierarchy.ancestors(place).tolist())
            for rank, number in enumerate(nearest.tolist(), 1):
                row = {"node": names[place], "rank": rank, "ancestor": names[number]}
                rows.append({**row, "distance": float(distance[number]), "known": number in ancestors})
        return Answers(rows, columns=["node", "rank", "ancestor", "distance", "known"])

    def evaluate(self, **options: Any) -> Measures:
        """How well distances give the hierarchy back: mean rank and mean average precision of all ancestors."""
        Evaluate.checked(options)
        metrics = asdict(measure(self.points, self.hierarchy, self.manifold))
        sizes = {"nodes": len(self.hierarchy), "pairs": len(self.hierarchy.closure)}
        return Measures({**sizes, "metrics": metrics, "protocol": self.task.describe()["protocol"]})

    def embedding(self) -> Embedding:
        names = list(self.hierarchy.names)
        return Embedding(names, [display_name(name) for name in names], self.points, self.manifold)

    def card_text(self) -> str:
        dim = self.points.shape[1]
        return (
            f"{len(self.hierarchy):,} names of a hierarchy as points of hyperbolic space (the Lorentz model, K = "
            f"{self.manifold.curvature:.6g}, {dim} ambient coordinates): general ones near the origin, related ones "
            "near one another."
        )

    def card_example(self) -> str:
        return f'print(model.predict("{self.hierarchy.names[0]}"))\nprint(model.similar("{self.hierarchy.names[0]}"))'
