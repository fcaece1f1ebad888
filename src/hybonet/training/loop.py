"""The one training loop."""

from __future__ import annotations

import math
import os
import sys
import time
import warnings
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from hybonet.files import flush
from hybonet.optim import clip_grad_norm_
from hybonet.training.averaging import Snapshots, averaged_weights
from hybonet.training.checkpoint import (
    Identity,
    load_checkpoint,
    load_model,
    newest_readable,
    save_checkpoint,
    save_model,
)
from hybonet.training.history import (
    HISTORY,
    append_to_history,
    check_history,
    history_sha256,
    keep_lines,
    read_history,
)
from hybonet.training.processes import Interrupted, joined_processes, stop_requests
from hybonet.training.progress import Reporter
from hybonet.training.random_numbers import seed_for
from hybonet.training.schedule import learning_rate_factor
from hybonet.training.task import Task

LAST, BEST = "checkpoint.safetensors", "model.safetensors"
#: Of the checkpoints before the last, by their number of updates.
_EARLIER = "checkpoint-{:09}.safetensors"
#: How far a figure of the stored model may be from that of its training: threads and devices round differently.
_SAME_FIGURE = {"rel_tol": 0.05, "abs_tol": 0.02}
#: Epochs may be as short as one step on a small graph: checkpoints after them are at least so many seconds apart.
_BETWEEN_EPOCHS = 1.0


def checkpoints(folder: Path) -> list[Path]:
    """All checkpoints of a run, the newest first."""
    earlier = sorted(folder.glob("checkpoint-*.safetensors"), reverse=True)
    return [path for path in (folder / LAST, *earlier) if path.exists()]


class TrainingDiverged(ValueError):  # noqa: N818 - what happened, as Interrupted
    """The loss or a parameter is no longer finite."""


#: What a figure of averaged weights is called beside the same of an epoch's.
_AVERAGED = "averaged_"
#: What a line of the history says of the training itself, beside the metrics.
_OF_THE_LOOP = ("epoch", "updates", "lr", "seconds", "processor_seconds")


@dataclass
class Position:
    """Where a training stands; all of it is in every checkpoint."""

    epoch: int = 0
    batch: int = 0
    update: int = 0
    loss_sum: float = 0.0
    best: float | None = None
    best_epoch: int = 0
    stale: int = 0  # validations since the best
    seconds: float = 0.0
    processor_seconds: float = 0.0  # of all threads: what a shared machine's other work does not lengthen
    history_lines: int = 0
    history_sha256: str = ""
    finished: bool = False


@dataclass
class FitResult:
    """A finished training: the best model is loaded, and also lies in the run folder."""

    model: nn.Module
    best: dict[str, float]
    best_epoch: int
    epochs: int
    updates: int
    seconds: float
    stopped_early: bool = False
    history: list[dict[str, Any]] = field(default_factory=list)
    #: Was told of the training, and may be told of the measuring.
    reporter: Reporter = field(default_factory=Reporter, repr=False)


class _Step(nn.Module):
    """Model and loss in one call: what averages gradients over processes must be called once per step."""

    def __init__(self, task: Task, model: nn.Module) -> None:
        super().__init__()
        self.task, self.model = task, model

    def forward(self, batch: Any) -> Tensor:
        return self.task.loss(self.model, batch)


class Trainer:
    """Trains a task in a run folder.

    The folder gets ``checkpoint.safetensors`` (to resume from), ``model.safetensors`` (the best so far on validation)
    and ``history.jsonl`` (one line per epoch). A killed run goes on with ``resume=True`` and ends with the same
    weights, bit for bit, as one that was not. A finished one goes on if its settings now ask for more epochs or more
    patience.
    """

    def __init__(self, task: Task, folder: Path, *, resume_command: str = "", reporter: Reporter | None = None) -> None:
        self.task, self.settings, self.folder = task, task.settings, folder
        self.resume_command = resume_command or "the same command with --resume"
        self.reporter = reporter or Reporter()
        self.position = Position()
        self.saved_update: int | None = None
        self.model: nn.Module
        self.optimizer: Optimizer

    def fit(self, *, resume: bool = False) -> FitResult:
        """Train to the end, from the start or from the last checkpoint.

        Raises:
            Interrupted: after a save, if Ctrl-C or SIGTERM asked for it.
            TrainingDiverged: if the loss is not finite, naming the step and the parameter.
        """
        with joined_processes(self.settings) as self.processes, stop_requests() as self.stop:
            torch.manual_seed(self.settings.seed)
            self.model = self.task.build_model().to(self.settings.device)
            self.optimizer = self.task.build_optimizer(self.model)
            self.base_rates = [group["lr"] for group in self.optimizer.param_groups]
            self.identity = Identity.of(self.task)
            if resume and (present := checkpoints(self.folder)):
                self._go_on_from(present)
            self._tidy_up()
            self.step = self.processes.wrap(_Step(self.task, self.model))
            self.saved_at = time.monotonic()
            done = self.position.epoch * self.task.batches_per_epoch() + self.position.batch
            with self.reporter.running(self._total_batches(), done):
                while not self.position.finished:
                    self._train_epoch()
                    self._finish_epoch()
            self.processes.wait_for_all()  # the main process may still be writing what the others now read
            return self._result()

    def _go_on_from(self, present: list[Path]) -> None:
        """Put back the newest checkpoint that is whole: the training after it is the same from each of them."""
        path, saved = newest_readable(
            present, lambda each: load_checkpoint(each, self.model, self.optimizer, self.identity)
        )
        self.position = Position(**saved)
        self.position.finished = self.position.batch == 0 and self._at_the_end()
        check_history(self.folder, self.position.history_lines, self.position.history_sha256)
        if path.name == LAST:
            self.saved_update = self.position.update
        elif self.processes.is_main:
            warnings.warn(f"{self.folder / LAST} is damaged or missing; going on from {path.name}", stacklevel=4)

    # -- one epoch ------------------------------------------------------------------------------------------------

    def _train_epoch(self) -> None:
        self.step.train()
        position, per_epoch = self.position, self.task.batches_per_epoch()
        started, worked = time.monotonic() - position.seconds, time.process_time() - position.processor_seconds
        rank, world = self.processes.rank, self.processes.world
        if self._all_steps_done():  # saved after the last step, and killed before the epoch was closed
            return
        for batch in self.task.batches(position.epoch, position.batch, rank, world):
            if rank:  # the main process's random numbers go on from its checkpoint, the others' from the place
                torch.manual_seed(seed_for(self.settings.seed, position.epoch, position.batch, rank))
            last_of_update = (position.batch + 1) % self.settings.accumulate == 0 or position.batch + 1 == per_epoch
            loss = self._forward_backward(batch, last_of_update)
            position.batch += 1
            position.loss_sum += loss
            if last_of_update:
                self._update()
                position.seconds = time.monotonic() - started
                position.processor_seconds = time.process_time() - worked
                self._save_if_due()
            self.reporter.advance(position.epoch, position.loss_sum / position.batch)
            if last_of_update and self._all_steps_done():
                return

    def _forward_backward(self, batch: Any, last_of_update: bool) -> float:
        """Gradients of one batch; they are exchanged between processes only with the last of an update."""
        alone = nullcontext() if last_of_update or self.processes.world == 1 else self.step.no_sync()  # type: ignore[operator]
        device = torch.device(self.settings.device).type
        with alone:
            with torch.autocast(device, torch.bfloat16, enabled=self.settings.precision == "bfloat16"):
                loss = self.step(batch)
            (loss / self._batches_of_update()).backward()
        value = self.processes.mean(loss.item())
        if not math.isfinite(value):
            raise TrainingDiverged(self._diagnosis(value))
        return value

    def _batches_of_update(self) -> int:
        """How many batches the coming update is the mean of: at the end of an epoch, what is left of it."""
        accumulate = self.settings.accumulate
        first = self.position.batch - self.position.batch % accumulate
        return min(accumulate, self.task.batches_per_epoch() - first)

    def _update(self) -> None:
        position = self.position
        per_epoch = -(-self.task.batches_per_epoch() // self.settings.accumulate)
        total = min(per_epoch * self.settings.epochs, self.settings.steps or sys.maxsize)
        factor = learning_rate_factor(self.settings.schedule, position.update, per_epoch, total)
        for group, base in zip(self.optimizer.param_groups, self.base_rates, strict=True):
            group["lr"] = base * factor
        if self.settings.max_grad_norm is not None:
            clip_grad_norm_(self.model.parameters(), self.settings.max_grad_norm)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        position.update += 1

    def _diagnosis(self, loss: float) -> str:
        """Which parameter went wrong first, as far as it shows."""
        culprit = "none of the parameters; the batch itself gives it"
        for name, parameter in self.model.named_parameters():
            if not bool(parameter.isfinite().all()):
                culprit = f"parameter {name!r} is not finite"
                break
            grad: Tensor | None = parameter.grad
            values = grad.coalesce().values() if grad is not None and grad.is_sparse else grad
            if values is not None and not bool(values.isfinite().all()):
                culprit = f"the gradient of parameter {name!r} is not finite"
                break
        return (
            f"the loss became {loss} at epoch {self.position.epoch + 1}, batch {self.position.batch + 1}: {culprit}; "
            "lower the learning rate, or clip gradients with max_grad_norm"
        )

    # -- between epochs -------------------------------------------------------------------------------------------

    def _finish_epoch(self) -> None:
        position, settings = self.position, self.settings
        row: dict[str, Any] = {
            "epoch": position.epoch + 1,
            "updates": position.update,
            "loss": position.loss_sum / max(1, position.batch),
            "lr": self.optimizer.param_groups[0]["lr"],
            "seconds": round(position.seconds, 3),
            "processor_seconds": round(position.processor_seconds, 3),
        }
        out_of_time = self.processes.agree(self._out_of_time())
        final = position.epoch + 1 == settings.epochs or self._all_steps_done() or out_of_time
        if final or (position.epoch + 1) % settings.validate_every == 0:
            metrics = self._validate()
            row |= metrics
            self._select(metrics[self.task.monitor])
            if settings.average > 1:
                row |= self._average(metrics[self.task.monitor], final or self._out_of_patience())
        position.epoch, position.batch, position.loss_sum = position.epoch + 1, 0, 0.0
        position.finished = self.processes.agree(self._at_the_end())
        if self.processes.is_main:
            append_to_history(self.folder, row)
            position.history_lines += 1
            if position.finished or time.monotonic() - self.saved_at >= min(
                _BETWEEN_EPOCHS, settings.checkpoint_seconds
            ):
                self._save()
        self.reporter.epoch(row, self.task.monitor, position.best)

    def _at_the_end(self) -> bool:
        """Whether, after a whole number of epochs, no more are to follow."""
        all_done = self.position.epoch >= self.settings.epochs or self._all_steps_done()
        return all_done or self._out_of_patience() or self._out_of_time()

    def _all_steps_done(self) -> bool:
        return self.settings.steps is not None and self.position.update >= self.settings.steps

    def _out_of_patience(self) -> bool:
        return self.settings.patience is not None and self.position.stale >= self.settings.patience

    def _out_of_time(self) -> bool:
        return self.settings.minutes is not None and self.position.seconds >= 60 * self.settings.minutes

    def _validate(self) -> dict[str, float]:
        """Metrics from the main process, for all; validation draws no random numbers of the training."""
        metrics = None
        if self.processes.is_main:
            state = torch.get_rng_state()
            started = time.monotonic()
            self.model.eval()
            with torch.no_grad():
                metrics = self.task.validate(self.model)
            torch.set_rng_state(state)
            metrics["validation_seconds"] = round(time.monotonic() - started, 3)
        return self.processes.agree(metrics)

    def _select(self, value: float) -> None:
        if self._is_best(value):
            self._keep_as_best(value)
            self.position.stale = 0
        else:
            self.position.stale += 1

    def _is_best(self, value: float) -> bool:
        best, sign = self.position.best, 1.0 if self.task.higher_is_better else -1.0
        return best is None or sign * value > sign * best

    def _keep_as_best(self, value: float) -> None:
        position = self.position
        position.best, position.best_epoch = value, position.epoch + 1
        if self.processes.is_main:
            save_model(self.folder / BEST, self.model, epoch=position.epoch + 1, **{self.task.monitor: value})

    def _average(self, value: float, final: bool) -> dict[str, Any]:
        """Keep this epoch's weights for the average; at the end, see whether it is better than any single epoch.

        What is returned stands beside the epoch's own figures.
        """
        settings, epoch = self.settings, self.position.epoch + 1
        kept = Snapshots(self.folder, settings.average, settings.average_of, self.task.higher_is_better)
        if self.processes.is_main:
            kept.add(self.model, epoch, value)
        if not final:
            return {}
        self.processes.wait_for_all()
        epochs = kept.epochs()
        with averaged_weights(self.model, kept.paths()):
            metrics = self._validate()
            average = metrics[self.task.monitor]
            found: dict[str, Any] = {f"{_AVERAGED}{name}": value for name, value in metrics.items()}
            if self._is_best(average):
                self._keep_as_best(average)  # patience counts epochs, so a run that is out of it ends all the same
                found["averaged_epochs"] = epochs
        return found

    # -- saving ---------------------------------------------------------------------------------------------------

    def _save_if_due(self) -> None:
        if self.processes.agree(bool(self.stop)) if self.processes.world > 1 else self.stop:
            if self.processes.is_main:
                self._save()
            raise Interrupted(
                f"stopped by {self.stop.signal or 'another process'} at epoch {self.position.epoch + 1}, batch "
                f"{self.position.batch}; everything is saved, go on with {self.resume_command}"
            )
        if self.processes.is_main and time.monotonic() - self.saved_at >= self.settings.checkpoint_seconds:
            self._save()

    def _save(self) -> None:
        position, last = self.position, self.folder / LAST
        position.history_sha256 = history_sha256(self.folder, position.history_lines)
        if position.history_sha256:
            flush(self.folder / HISTORY)  # before the checkpoint that counts its lines
        if self.settings.keep > 1 and self.saved_update is not None and last.exists():
            os.replace(last, self.folder / _EARLIER.format(self.saved_update))
        save_checkpoint(last, self.model, self.optimizer, asdict(position), self.identity)
        for path in checkpoints(self.folder)[self.settings.keep :]:
            path.unlink()
        self.saved_at, self.saved_update = time.monotonic(), position.update

    def _tidy_up(self) -> None:
        """Drop what a killed run left half done: unfinished files, and lines after its last checkpoint."""
        if not self.processes.is_main:
            return
        for unfinished in self.folder.glob(".*.partial"):
            unfinished.unlink()
        keep_lines(self.folder, self.position.history_lines)

    def _total_batches(self) -> int:
        s, per_epoch = self.settings, self.task.batches_per_epoch()
        if s.steps is None:
            return s.epochs * per_epoch
        # The last update of an epoch may have fewer batches than the others.
        epochs, rest = divmod(s.steps, -(-per_epoch // s.accumulate))
        return min(s.epochs * per_epoch, epochs * per_epoch + rest * s.accumulate)

    def _result(self) -> FitResult:
        history = read_history(self.folder)
        load_model(self.folder / BEST, self.model)
        self.model.eval()
        best: dict[str, Any] | None = next((row for row in history if row["epoch"] == self.position.best_epoch), None)
        measured = self._validate()  # the stored model, not the one that was in memory
        best = best or measured  # somebody took the history away
        averaged = {name: value for name, value in best.items() if name.startswith(_AVERAGED)}
        best = {name: value for name, value in best.items() if name not in averaged}
        if "averaged_epochs" in averaged:  # the model is the average
            epochs = averaged.pop("averaged_epochs")
            best |= {name.removeprefix(_AVERAGED): value for name, value in averaged.items()}
            best["averaged_epochs"] = epochs
        best |= self._confirmed(measured)
        return FitResult(
            model=self.model,
            best={k: v for k, v in best.items() if k not in _OF_THE_LOOP},
            best_epoch=self.position.best_epoch,
            epochs=self.position.epoch,
            updates=self.position.update,
            seconds=self.position.seconds,
            stopped_early=self.position.epoch < self.settings.epochs and not self._all_steps_done(),
            history=history,
            reporter=self.reporter,
        )

    def _confirmed(self, measured: dict[str, float]) -> dict[str, float]:
        """What validation finds of the stored model, which must be what it found when the model was chosen."""
        chosen, found = self.position.best, measured[self.task.monitor]
        if chosen is not None and math.isfinite(chosen) and not math.isclose(found, chosen, **_SAME_FIGURE):
            raise ValueError(
                f"{self.folder / BEST}: expected the model of epoch {self.position.best_epoch} with "
                f"{self.task.monitor} {chosen:.6g}, but validation measures {found:.6g}; restore the file or train "
                "again"
            )
        return measured
