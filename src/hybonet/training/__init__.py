"""The training loop that every task uses."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hybonet.training.settings import (
    LoopSettings,
    ModelSettings,
    ScheduleSettings,
    Settings,
    describe,
    near_match,
    override,
)

if TYPE_CHECKING:
    from hybonet.training.loop import FitResult, Trainer, TrainingDiverged
    from hybonet.training.processes import Interrupted
    from hybonet.training.progress import Reporter, TerminalReporter
    from hybonet.training.random_numbers import generator_for
    from hybonet.training.task import Task

#: Imported when they are first asked for: settings are read, and help is given, without torch.
_NEED_TORCH = {
    "FitResult": "loop",
    "Interrupted": "processes",
    "Reporter": "progress",
    "Task": "task",
    "TerminalReporter": "progress",
    "Trainer": "loop",
    "TrainingDiverged": "loop",
    "generator_for": "random_numbers",
}

__all__ = [
    "FitResult",
    "Interrupted",
    "LoopSettings",
    "ModelSettings",
    "Reporter",
    "ScheduleSettings",
    "Settings",
    "Task",
    "TerminalReporter",
    "Trainer",
    "TrainingDiverged",
    "describe",
    "generator_for",
    "near_match",
    "override",
]


def __getattr__(name: str) -> Any:
    if name not in _NEED_TORCH:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_NEED_TORCH[name]}"), name)
