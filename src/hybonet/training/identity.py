"""What makes a run this one, so that no other goes on from its checkpoint."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hybonet.training.settings import CHANGEABLE
from hybonet.training.task import Task

_SETTINGS, _FILES = "settings.", "data.sha256."
#: Prose may be worded anew in another version of the package.
_PROSE = ("protocol", "data.notes")


@dataclass(frozen=True)
class Identity:
    """Facts about a run that cannot change on the way: its task, its data, and most settings.

    Args:
        facts: by name, like ``settings.schedule.kind`` or ``data.sha256.train``.
        defaults: of the settings among them.
        renewed: gives settings that an earlier version saved the names of today.

    Example:
        >>> run = Identity({"task": "kg", "settings.lr": 0.01, "settings.new": 0}, defaults={"settings.new": 0})
        >>> run.differences({"task": "kg", "settings.lr": 0.02})
        ['lr=0.02 instead of 0.01']
    """

    facts: dict[str, Any]
    defaults: dict[str, Any]
    renewed: Callable[[Mapping[str, Any]], dict[str, Any]] = dict

    @classmethod
    def of(cls, task: Task) -> Identity:
        """That of a task with its settings."""
        settings = task.settings
        facts = _flat({**task.describe(), "settings": settings.model_dump(exclude=set(CHANGEABLE))})
        return cls(
            {name: value for name, value in facts.items() if name not in _PROSE},
            _flat({"settings": {**type(settings).model_construct().model_dump(), **settings.before}}),  # that have one
            type(settings).renewed,
        )

    def differences(self, saved: Mapping[str, Any]) -> list[str]:
        """How the facts that were saved with a run differ from these; none if it is this run.

        A setting that the package did not have then had, in effect, its default, or what ``before`` says. Files of data
        must be the same ones; other facts may have become known since, or are not told any more.
        """
        settings = {name.removeprefix(_SETTINGS): saved[name] for name in saved if name.startswith(_SETTINGS)}
        saved = {**saved, **{_SETTINGS + name: value for name, value in self.renewed(settings).items()}}
        found = []
        files = {name: None for name in (*saved, *self.facts) if name.startswith(_FILES)}
        then, now = {**files, **self.defaults, **saved}, {**files, **self.facts}
        for name, value in now.items():
            if name in then and then[name] != value:
                found.append(f"{name.removeprefix(_SETTINGS)}={then[name]} instead of {value}")
        return found


def _flat(content: dict[str, Any]) -> dict[str, Any]:
    """Nested mappings as one, names joined by dots, values as JSON gives them back."""

    def pairs(part: dict[str, Any], before: str = "") -> list[tuple[str, Any]]:
        return [
            pair
            for name, value in part.items()
            for pair in (pairs(value, f"{before}{name}.") if isinstance(value, dict) else [(before + name, value)])
        ]

    return dict(pairs(json.loads(json.dumps(content))))
