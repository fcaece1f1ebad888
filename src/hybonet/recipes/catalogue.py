"""All recipes, and how to find one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hybonet.recipes.hierarchy import RECIPES as HIERARCHY
from hybonet.recipes.knowledge_graph import RECIPES as KNOWLEDGE_GRAPH
from hybonet.training import near_match

_BY_TASK: dict[str, dict[str, dict[str, Any]]] = {"kg": KNOWLEDGE_GRAPH, "hierarchy": HIERARCHY}


@dataclass(frozen=True)
class Recipe:
    """Settings with what they are for and, if they come from a paper, its figures."""

    name: str
    #: What it is a recipe for, as in ``hybonet train TASK``.
    task: str
    about: str
    #: Settings of the task's own class.
    settings: Any
    #: The graph the recipe was made for, or None if it is for any.
    data: str | None = None
    published: dict[str, float] = field(default_factory=dict)


def recipes() -> dict[str, Recipe]:
    """Every recipe by name.

    Example:
        >>> recipes()["paper-wn18rr-32"].published["mrr"]
        0.489
    """
    return {name: Recipe(name, task, **parts) for task, members in _BY_TASK.items() for name, parts in members.items()}


def recipe(name: str, task: str | None = None) -> Recipe:
    """A recipe by name, for a task if one is given; an unknown name is an error that suggests a near one.

    Example:
        >>> recipe("defaults")
        Traceback (most recent call last):
        ValueError: unknown recipe 'defaults'; did you mean 'default'?
        >>> recipe("hierarchy", task="kg")
        Traceback (most recent call last):
        ValueError: expected a recipe for train kg, but 'hierarchy' is one for train hierarchy; ...
    """
    known = recipes()
    fitting = [each.name for each in known.values() if task in (None, each.task)]
    if name not in known:
        raise ValueError(f"unknown recipe {name!r}; {near_match(name, fitting)}")
    if name not in fitting:
        raise ValueError(
            f"expected a recipe for train {task}, but {name!r} is one for train {known[name].task}; choose one of "
            f"{', '.join(fitting)}"
        )
    return known[name]
