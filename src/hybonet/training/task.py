"""What a task fills in so that the one loop can train it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from torch import Tensor, nn
from torch.optim import Optimizer

from hybonet.training.settings import LoopSettings


class Task(Protocol):
    """A model, its data and its measure. Everything random must follow from the seed, the epoch and the batch number
    (or from torch's global generator, which checkpoints keep), so that a resumed run repeats itself bit for bit.
    """

    #: Short name, as in ``hybonet train NAME``.
    name: str
    #: The validation metric that selects the best model, and its direction. With ``monitor_label`` pictures call it so;
    #: with ``unit``, such as ``"triples/s"``, progress counts ``settings.batch_size`` of these for a batch.
    monitor: str
    higher_is_better: bool

    @property
    def settings(self) -> LoopSettings:
        """The loop's settings, perhaps with more that the task itself reads."""

    def build_model(self) -> nn.Module:
        """The untrained model."""

    def build_optimizer(self, model: nn.Module) -> Optimizer:
        """Its optimiser, with base learning rates."""

    def batches_per_epoch(self) -> int:
        """How many batches :meth:`batches` yields from the start of an epoch."""

    def batches(self, epoch: int, start: int, rank: int, world: int) -> Iterator[Any]:
        """The batches of an epoch from number ``start`` on; process ``rank`` of ``world`` gets its share of each."""

    def loss(self, model: nn.Module, batch: Any) -> Tensor:
        """Mean loss of a batch; the model is the one that was built, however many processes train it."""

    def validate(self, model: nn.Module) -> dict[str, float]:
        """Metrics on the validation data."""

    def describe(self) -> dict[str, Any]:
        """What the run record says of the task: data checksums, sizes, protocol."""
