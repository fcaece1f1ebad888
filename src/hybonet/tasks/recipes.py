"""All recipes, and how to find one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from hybonet.files import parse_json
from hybonet.tasks.base import specs
from hybonet.training import LoopSettings, near_match
from hybonet.training.ranges import Range, check_ranges

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
    found: dict[str, Recipe] = {}
    for task, spec in specs().items():
        found |= _recipes_of(task, spec.recipe, spec.implementation)
    return found


@cache  # their ranges are checked, which takes most of a second
def _recipes_of(task: str, plain: str, parts: Any) -> dict[str, Recipe]:
    about = getattr(parts, "RECIPES", None)
    if about is None:
        return {plain: Recipe(plain, task, "The settings as they are.", parts.settings())}
    return {name: Recipe(name, task, **each) for name, each in about.items()}


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
        kind = specs()[task].implementation.settings
        return Recipe(name, task, "settings of a file", read_settings_file(Path(name), kind))
    fitting = [each.name for each in known.values() if task in (None, each.task)]
    if name not in known:
        raise ValueError(f"unknown recipe {name!r}; {near_match(name, fitting, _OLD_NAMES)}")
    if name not in fitting:
        raise ValueError(
            f"expected a recipe for train {task}, but {name!r} is one for train {known[name].task}; choose one of "
            f"{', '.join(fitting)}"
        )
    return known[name]


def read_settings_file(path: Path, kind: type[LoopSettings]) -> LoopSettings:
    """The settings that a file holds, checked; what it leaves out is as the settings' class has it.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "mine.json"
        >>> written = path.write_text('{"epochs": 3, "seeds": 1}')
        >>> read_settings_file(path, LoopSettings)
        Traceback (most recent call last):
        ValueError: .../mine.json: unknown setting 'seeds'; did you mean 'seed'?
    """
    if not path.is_file():
        raise ValueError(f"expected a file of settings, got {str(path)!r}, which is not there; check --recipe")
    try:
        values = parse_json(path.read_text(encoding="utf-8"))
        if not isinstance(values, dict):
            raise ValueError(f"expected a JSON object, got {values!r:.40}; hybonet recipes show default --json has one")
        return kind.checked(kind.fitting(kind.renewed(values), strict=True))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(
            f"{path}: expected JSON, but {error}; hybonet recipes show default --json has an example"
        ) from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
