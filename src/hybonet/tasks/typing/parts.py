"""What the typing task is made of; see :class:`hybonet.tasks.base.Parts`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hybonet.data.mentions.mention_data import MentionData
from hybonet.metrics.typing import THRESHOLD
from hybonet.tasks.typing.data import load, read, write
from hybonet.tasks.typing.options import DataOptions
from hybonet.tasks.typing.pictures import pictures
from hybonet.tasks.typing.predictor import TypingModel
from hybonet.tasks.typing.recipes import RECIPES
from hybonet.tasks.typing.report import after_training, headline, next_command
from hybonet.tasks.typing.settings import TypingSettings
from hybonet.tasks.typing.task import EntityTypingTask
from hybonet.training import FitResult

__all__ = [
    "RECIPES",
    "after_training",
    "choose_recipe",
    "headline",
    "load",
    "measures",
    "monitor_label",
    "next_command",
    "pictures",
    "predictor",
    "rate",
    "read",
    "settings",
    "task",
    "without_test",
    "write",
]

settings = TypingSettings

predictor = TypingModel


def task(chosen: TypingSettings, data: MentionData) -> EntityTypingTask:
    """What the training loop trains."""
    return EntityTypingTask(chosen, data)


def measures(trained: EntityTypingTask, result: FitResult) -> dict[str, Any]:
    """Valid and test at one half, and at the threshold that the validation data chooses."""
    splits = [split for split in ("valid", "test") if trained.data.split(split)]
    found = {split: trained.predictions(result.model, split) for split in splits}
    best = found["valid"].best_threshold()
    figures: dict[str, Any] = {"threshold": best if trained.settings.calibrate else THRESHOLD}
    for split, each in found.items():
        figures[split] = each.measure()
        figures[f"{split}_calibrated"] = {"threshold": best, **each.measure(best)}
    return figures


def choose_recipe(name: str | None, changes: list[str], options: DataOptions, data: Any) -> tuple[str, list[str]]:
    """The recipe to start from; the small data inside the package have one of their own."""
    return name or ("typing-tutorial" if data == "little-town" else "typing"), changes


def rate(chosen: TypingSettings) -> tuple[int, str]:
    """What the progress bar counts a batch as."""
    return chosen.batch_size, "mentions/s"


def monitor_label(trained: EntityTypingTask) -> str:
    """What the picture of the curves calls the figure that selects."""
    return "validation macro F1"


def without_test(data: MentionData) -> MentionData:
    """What a search may know."""
    return replace(data, test=())
