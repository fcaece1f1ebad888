"""What the typing task is made of; see :class:`hybonet.tasks.base.Parts`."""

from __future__ import annotations

from typing import Any

from hybonet.metrics.typing import THRESHOLD
from hybonet.tasks.typing.candidates import candidates, guess, twin
from hybonet.tasks.typing.data import load, read, write
from hybonet.tasks.typing.options import DataOptions
from hybonet.tasks.typing.pictures import pictures
from hybonet.tasks.typing.predictor import TypingModel
from hybonet.tasks.typing.recipes import RECIPES
from hybonet.tasks.typing.report import after_training, headline, next_command
from hybonet.tasks.typing.settings import TypingSettings
from hybonet.tasks.typing.task import EntityTypingTask, fit_types, measure_in_full
from hybonet.training import FitResult

settings, task, predictor = TypingSettings, EntityTypingTask, TypingModel


def measures(trained: EntityTypingTask, result: FitResult) -> dict[str, Any]:
    """Valid and test at one half, and at the threshold that the validation data chooses."""
    splits = [split for split in ("valid", "test") if trained.data.split(split)]
    found = {split: trained.predictions(result.model, split) for split in splits}
    best = found["valid"].best_threshold()
    figures: dict[str, Any] = {"threshold": best if trained.settings.calibrate else THRESHOLD}
    fitted = fit_types(found["valid"])
    if fitted is not None:
        figures["calibration"] = fitted.as_dict()
    for split, each in found.items():
        figures[split] = measure_in_full(each, THRESHOLD, fitted)
        figures[f"{split}_calibrated"] = {"threshold": best, **measure_in_full(each, best, fitted)}
    return figures


def choose_recipe(name: str | None, changes: list[str], options: DataOptions, data: Any) -> tuple[str, list[str]]:
    """The recipe to start from; the small data inside the package have one of their own."""
    return name or ("typing-tutorial" if isinstance(data, str) and data == "little-town" else "typing"), changes
