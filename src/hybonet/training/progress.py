"""What is seen of a training: in a terminal, in a notebook, in TensorBoard, or nothing."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hybonet.extras import needed


class Reporter:
    """Hears of every batch and epoch; this one is silent.

    Example:
        >>> with Reporter().running(total=10, done=0):
        ...     pass
    """

    @contextmanager
    def running(self, total: int, done: int) -> Iterator[None]:
        """Around a training of ``total`` batches of which ``done`` are done already."""
        yield

    def advance(self, epoch: int, loss: float) -> None:
        """After a batch: the epoch (from 0) and its mean loss so far."""

    def epoch(self, row: dict[str, Any], monitor: str, best: float | None) -> None:
        """After an epoch: its line of the history, and the best value of the monitored metric."""

    @contextmanager
    def measuring(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """Around what a trained model is measured by, of ``total`` steps; is told how many more are done."""
        yield lambda done: None


class TerminalReporter(Reporter):
    """A progress bar with loss, metric, speed and time left; on a pipe, a line for each validation instead, and
    between validations one whenever nothing was said for a while.

    Args:
        rate: what a batch is worth, e.g. ``(1000, "triples/s")``.
        echo: prints a line; by default without delay, so that a log file can be watched.
        silence: seconds without a line after which a pipe gets one.
    """

    def __init__(
        self,
        epochs: int,
        rate: tuple[int, str] = (1, "batches/s"),
        echo: Callable[[str], None] | None = None,
        silence: float = 30.0,
        title: str = "",
        with_validations: bool = True,
    ) -> None:
        self.epochs, self.rate, self.silence = epochs, rate, silence
        self.title, self.with_validations = f"{title}  " if title else "", with_validations
        self.echo = echo or print_line
        self.metric = ""

    @contextmanager
    def running(self, total: int, done: int) -> Iterator[None]:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        from hybonet.reporting.console import Console

        console = Console(stderr=True)
        self.bar = None
        self.started, self.batches = time.monotonic(), 0
        self.total, self.done, self.shown = total, done, 0
        self.drawn = self.started
        if not console.is_terminal:
            yield
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[status]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=console, transient=True) as self.bar:
            self.line = self.bar.add_task(f"{self.title}training", total=total, completed=done, status="")
            yield

    def advance(self, epoch: int, loss: float) -> None:
        self.batches += 1
        now = time.monotonic()
        if now - self.drawn <= (self.silence if self.bar is None else 0.1):
            return
        self.drawn = now
        amount, unit = self.rate
        speed = amount * self.batches / (now - self.started)
        status = "  ".join(filter(None, (f"loss {loss:.4f}", self.metric, f"{speed:,.{int(speed < 10)}f} {unit}")))
        if self.bar is None:
            left = (self.total - self.done - self.batches) * (now - self.started) / self.batches
            self.echo(f"{self.title}epoch {epoch + 1:>4}/{self.epochs}  {status}  up to {_duration(left)} left")
            return
        self.bar.update(self.line, description=f"{self.title}epoch {epoch + 1}/{self.epochs}", status=status)
        self.bar.advance(self.line, self.batches - self.shown)
        self.shown = self.batches

    def epoch(self, row: dict[str, Any], monitor: str, best: float | None) -> None:
        if monitor in row:
            self.metric = f"{monitor} {row[monitor]:.4f} (best {best:.4f})"
            if not self.with_validations:
                return
            text = (
                f"{self.title}epoch {row['epoch']:>4}/{self.epochs}  loss {row['loss']:.4f}  {self.metric}  "
                f"{row['seconds']:.0f} s"
            )
            self.drawn = time.monotonic()
            for line in (text, *self._about_average(row, monitor)):
                self.bar.console.print(line) if self.bar is not None else self.echo(line)

    def _about_average(self, row: dict[str, Any], monitor: str) -> Iterator[str]:
        """At the end of a training with averaging: whether the mean of the weights is what was kept."""
        found = row.get(f"averaged_{monitor}")
        if "averaged_epochs" in row:
            epochs = ", ".join(map(str, row["averaged_epochs"]))
            yield f"{self.title}kept: the mean of the weights after epochs {epochs}, {monitor} {found:.4f}"
        elif found is not None:
            yield f"{self.title}the mean of the weights is no better than the best epoch: {monitor} {found:.4f}"

    @contextmanager
    def measuring(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        with counting(f"{self.title}{what}", total, say=self.echo) as progress:
            yield progress


def print_line(text: str, *, error: bool = False) -> None:
    """A line on standard output or standard error; where nobody reads it any more, neither it nor a later one."""
    stream = sys.stderr if error else sys.stdout
    try:
        print(text, file=stream, flush=True)
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())  # what is left in its buffer goes there, too
        os.close(nowhere)
        if not error:
            print_line("note: nobody reads this any more; what has begun goes on", error=True)


@contextmanager
def counting(what: str, total: int, say: Callable[[str], None] | None = None) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal's standard error, advanced by calling what it gives; on a pipe, a line ``say`` prints.

    Example:
        >>> with counting("translating", total=2, say=print) as progress:
        ...     progress(2)
        translating (2)
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from hybonet.reporting.console import Console

    console = Console(stderr=True)
    if not console.is_terminal and say is not None:
        say(f"{what} ({total:,})")
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        line = bar.add_task(what, total=total)
        yield lambda done: bar.advance(line, done)


def _duration(seconds: float) -> str:
    """As people say it: seconds, minutes, or hours and minutes.

    Example:
        >>> _duration(42), _duration(1500), _duration(9000)
        ('42 s', '25 min', '2 h 30 min')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


class TensorBoardReporter(Reporter):
    """Writes every number of an epoch's line as a curve, and passes everything on to another reporter.

    Args:
        folder: where ``tensorboard --logdir`` will look.
    """

    def __init__(self, folder: Path, shown: Reporter | None = None) -> None:
        self.writer_class = needed("torch.utils.tensorboard", "--tensorboard", "tensorboard").SummaryWriter
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
