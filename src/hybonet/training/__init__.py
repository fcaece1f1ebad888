"""The training loop that every task uses."""

from hybonet.training.interruption import Interrupted
from hybonet.training.loop import FitResult, Trainer, TrainingDiverged
from hybonet.training.progress import Reporter, TerminalReporter
from hybonet.training.random_numbers import generator_for
from hybonet.training.settings import LoopSettings, ScheduleSettings, Settings, describe, near_match, override
from hybonet.training.task import Task

__all__ = [
    "FitResult",
    "Interrupted",
    "LoopSettings",
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
