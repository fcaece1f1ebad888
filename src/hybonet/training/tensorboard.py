"""Training curves for TensorBoard (extra ``tensorboard``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hybonet.training.progress import Reporter


class TensorBoardReporter(Reporter):
    """Writes every number of an epoch's line as a curve, and passes everything on to another reporter.

    Args:
        folder: where ``tensorboard --logdir`` will look.
    """

    def __init__(self, folder: Path, shown: Reporter | None = None) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise ValueError(
                "expected tensorboard for --tensorboard, but it is not installed; run pip install hybonet[tensorboard]"
            ) from None
        self.writer_class = SummaryWriter
        self.folder, self.shown = folder, shown or Reporter()

    @contextmanager
    def running(self, total: int, done: int) -> Iterator[None]:
        self.writer = self.writer_class(str(self.folder))
        try:
            with self.shown.running(total, done):
                yield
        finally:
            self.writer.close()

    def advance(self, epoch: int, loss: float) -> None:
        self.shown.advance(epoch, loss)

    def epoch(self, row: dict[str, Any], monitor: str, best: float | None) -> None:
        for name, value in row.items():
            if name != "epoch" and isinstance(value, int | float):
                self.writer.add_scalar(name, value, row["epoch"])
        self.shown.epoch(row, monitor, best)

    @contextmanager
    def measuring(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        with self.shown.measuring(what, total) as progress:
            yield progress
