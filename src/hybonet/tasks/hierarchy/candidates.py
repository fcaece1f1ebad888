"""Settings that suit a hierarchy: what its nodes with several parents and the number of its pairs say."""

from __future__ import annotations

from hybonet.data import Hierarchy
from hybonet.tasks.auto import Candidate
from hybonet.tasks.hierarchy.task import HierarchySettings, HierarchyTask
from hybonet.training.ranges import Value

#: A drawing in the plane is a good start where nearly all nodes have one parent; others must pass one another.
_WEB = 0.1
#: Of more nodes a validation takes seconds.
_SMALL = 10_000
#: Pairs of a node and an ancestor that a training sees, if its epochs are 20 to 300.
_PAIRS_IN_ALL = 20_000_000


def candidates(settings: HierarchySettings, hierarchy: Hierarchy) -> list[Candidate]:
    """What suits a hierarchy: one answer."""
    nodes, pairs = len(hierarchy), len(hierarchy.closure)
    several = sum(len(parents) > 1 for parents in hierarchy.parents) / nodes
    why = f"{nodes:,} nodes, {several:.0%} with several parents, {pairs:,} pairs of a node and an ancestor"
    epochs = min(300, max(20, _PAIRS_IN_ALL // pairs))
    changes: dict[str, Value] = {
        "epochs": epochs,
        "validate_every": max(1, epochs // 10 if nodes <= _SMALL else epochs // 4),
    }
    if several <= _WEB:
        return [Candidate("plane", changes, why)]
    return [Candidate("room", {**changes, "dim": 21, "start": "random"}, why)]


def guess(task: HierarchyTask) -> tuple[float, str]:
    """About the mean average precision of nodes in any order: the share of them that are ancestors."""
    hierarchy = task.hierarchy
    below = int((hierarchy.depths > 0).sum())
    return len(hierarchy.closure) / below / len(hierarchy), "nodes in any order"
