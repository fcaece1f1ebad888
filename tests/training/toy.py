"""A small task with dropout and a manifold parameter, so that a resumed run has everything to get wrong."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from hybonet.nn import LorentzDistanceHead, LorentzEmbedding, LorentzLinear
from hybonet.optim import RiemannianAdam
from hybonet.training import LoopSettings, Reporter


class ToyModel(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = LorentzEmbedding(30, 6, form="paper")
        self.linear = LorentzLinear(6, 6, dropout=0.2)
        self.head = LorentzDistanceHead(6, 3, form="paper")

    def forward(self, index: Tensor) -> Tensor:
        return self.head(self.linear(self.table(index)))


class ToyTask:
    name, monitor, higher_is_better = "toy", "accuracy", True

    def __init__(self, settings: LoopSettings, *, pause: float = 0.0, poison: int | None = None) -> None:
        self.settings, self.pause, self.poison = settings, pause, poison
        generator = torch.Generator().manual_seed(1)
        self.labels = torch.randint(0, 3, (30,), generator=generator)

    def build_model(self) -> nn.Module:
        return ToyModel()

    def build_optimizer(self, model: nn.Module) -> RiemannianAdam:
        return RiemannianAdam(model, lr=0.02)

    def batches_per_epoch(self) -> int:
        return 5

    def batches(self, epoch: int, start: int, rank: int = 0, world: int = 1) -> Iterator[Tensor]:
        order = torch.randperm(30, generator=torch.Generator().manual_seed(1000 * self.settings.seed + epoch))
        for number in range(start, 5):
            time.sleep(self.pause)
            yield order[6 * number : 6 * number + 6][rank::world]

    def loss(self, model: nn.Module, batch: Tensor) -> Tensor:
        loss = nn.functional.cross_entropy(model(batch), self.labels[batch])
        return loss * float("nan") if self.poison == int(batch[0]) else loss

    def validate(self, model: nn.Module) -> dict[str, float]:
        torch.rand(3)  # a careless task: validation must not disturb the training's random numbers
        scores = model(torch.arange(30))
        return {"accuracy": (scores.argmax(-1) == self.labels).double().mean().item()}

    def describe(self) -> dict[str, str]:
        return {"task": "toy"}


class StopAt(Reporter):
    """Asks for a stop, by a real signal, after so many batches."""

    def __init__(self, batches: int, number: signal.Signals = signal.SIGINT) -> None:
        self.left, self.number = batches, number

    def advance(self, epoch: int, loss: float) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), self.number)
