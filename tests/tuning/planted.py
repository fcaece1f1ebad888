"""A quick task whose best learning rate is known: the toy's training, judged by a formula."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field
from torch import Tensor, nn

from hybonet.training import LoopSettings
from hybonet.training.ranges import Between, OneOf
from hybonet.tuning.study import open_study
from tests.training.toy import ToyTask

BEST_LR = 0.03
RANGES = {"lr": Between(1e-4, 1.0, log=True), "colour": OneOf(("red", "green")), "width": Between(1, 9)}


class PlantedSettings(LoopSettings):
    lr: float = Field(1e-3, gt=0)
    colour: Literal["red", "green", "black"] = "red"
    width: int = Field(4, ge=1)


QUICK = PlantedSettings(epochs=4, validate_every=1)


class PlantedTask(ToyTask):
    """The nearer lr is to the best one, the better; black diverges, and a wide model with black does not even start."""

    def __init__(self, settings: PlantedSettings, *, pause: float = 0.0) -> None:
        if settings.colour == "black" and settings.width > 5:
            raise ValueError("expected a narrow model with black")
        super().__init__(settings, pause=pause)

    def loss(self, model: nn.Module, batch: Tensor) -> Tensor:
        return super().loss(model, batch) * (float("nan") if self.settings.colour == "black" else 1.0)

    def validate(self, model: nn.Module) -> dict[str, float]:
        return {"accuracy": planted_figure(self.settings)}


def planted_figure(settings: PlantedSettings) -> float:
    return 1.0 - abs(math.log10(settings.lr / BEST_LR)) / 5


def study_in(folder, *, seed=0, lr=1e-3):
    settings = PlantedSettings(epochs=8, lr=lr)
    return open_study(folder / "journal.log", settings, RANGES, higher_is_better=True, seed=seed)
