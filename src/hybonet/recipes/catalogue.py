"""All recipes, and how to find one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hybonet.recipes.settings_file import read_settings_file
from hybonet.tasks.graph.recipes import RECIPES as GRAPH
from hybonet.tasks.hierarchy.recipes import RECIPES as HIERARCHY
from hybonet.tasks.knowledge_graph.recipes import RECIPES as KNOWLEDGE_GRAPH
from hybonet.tasks.probing.recipes import RECIPES as TREE_PROBING
from hybonet.tasks.run_folder import command_for
from hybonet.tasks.translation.recipes import RECIPES as TRANSLATION
from hybonet.tasks.typing.recipes import RECIPES as ENTITY_TYPING
from hybonet.training import near_match
from hybonet.training.ranges import Range, check_ranges

_BY_TASK: dict[str, dict[str, dict[str, Any]]] = {
    "kg": KNOWLEDGE_GRAPH,
    "hierarchy": HIERARCHY,
    "graph": GRAPH,
    "probe": TREE_PROBING,
    "translation": TRANSLATION,
    "typing": ENTITY_TYPING,
}
#: What recipes were called in earlier versions.
_OLD_NAMES = {"wn18rr-32-taught": "wn18rr-32-distilled"}


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
    #: Whether it is for learning from trained runs, and nothing without them.
    distilled: bool = False
    #: What ``hybonet tune`` tries, by setting.
    ranges: Mapping[str, Range] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_ranges(self.settings, self.ranges)


def recipes() -> dict[str, Recipe]:
    """Every recipe by name.

    Example:
        >>> recipes()["paper-wn18rr-32"].published["mrr"]
        0.489
    """
    return {name: Recipe(name, task, **parts) for task, members in _BY_TASK.items() for name, parts in members.items()}


def recipe(name: str, task: str | None = None) -> Recipe:
    """A recipe by name, for a task if one is given; an unknown name is an error that suggests a near one.

    For a task, the path of a ``.json`` file with settings is as good as a name.

    Example:
        >>> recipe("defaults")
        Traceback (most recent call last):
        ValueError: unknown recipe 'defaults'; did you mean 'default'?
        >>> recipe("hierarchy", task="kg")
        Traceback (most recent call last):
        ValueError: expected a recipe for train kg, but 'hierarchy' is one for train hierarchy; ...
    """
    known = recipes()
    if task is not None and Path(name).suffix == ".json":
        kind = type(next(each.settings for each in known.values() if each.task == task))
        return Recipe(name, task, "settings of a file", read_settings_file(Path(name), kind))
    fitting = [each.name for each in known.values() if task in (None, each.task)]
    if name not in known:
        raise ValueError(f"unknown recipe {name!r}; {near_match(name, fitting, _OLD_NAMES)}")
    if name not in fitting:
        raise ValueError(
            f"expected a recipe for {_verb(task)}, but {name!r} is one for {_verb(known[name].task)}; choose one of "
            f"{', '.join(fitting)}"
        )
    return known[name]


def _verb(task: str | None) -> str:
    return command_for(str(task)).removeprefix("hybonet ")
