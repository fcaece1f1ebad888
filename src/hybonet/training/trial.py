"""A training that is one of several: it is judged by its best validation figure, and may fail without harm."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch

from hybonet.training.history import read_history
from hybonet.training.loop import Trainer
from hybonet.training.processes import Interrupted
from hybonet.training.progress import Reporter
from hybonet.training.task import Task

State = Literal["finished", "pruned", "failed"]


class Hopeless(Exception):  # noqa: N818 - not an error: other trials are better
    """What a reporter raises to end a trial early."""


@dataclass(frozen=True)
class Outcome:
    """What became of a trial."""

    state: State
    #: The best validation figure, if there was one.
    figure: float | None = None
    best_epoch: int = 0
    epochs: int = 0
    #: Training and validation, over all parts of a trial that was stopped.
    seconds: float = 0.0
    #: Of training alone, in time of the processor.
    processor_seconds: float = 0.0
    #: Why it failed.
    reason: str = ""


def run_trial(
    folder: Path,
    make_task: Callable[[], Task],
    *,
    name: str,
    resume_command: str,
    reporter: Callable[[Task], Reporter],
) -> Outcome:
    """Train in a folder, or go on there with more epochs; one that diverges, or whose settings do not go together,
    has failed.

    Args:
        make_task: gives what is trained.
        name: what a stop is reported with.
        resume_command: what a person types to go on.
        reporter: gives what hears of the training; it may raise :class:`Hopeless`.

    Raises:
        Interrupted: after a save, if Ctrl-C or SIGTERM asked for it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    state: State = "finished"
    task, reason = None, ""
    try:
        task = make_task()
        Trainer(task, folder, resume_command=resume_command, reporter=reporter(task)).fit(resume=True)
    except Hopeless:
        state = "pruned"
    except (ValueError, torch.OutOfMemoryError) as error:  # diverged, or settings that do not go together
        state, reason = "failed", str(error).splitlines()[0]
    except Interrupted as stop:
        raise Interrupted(f"{name}: {stop}") from None
    history = read_history(folder)
    measured = [row for row in history if task is not None and task.monitor in row]
    if task is None or not measured:
        return Outcome("failed" if state == "finished" else state, epochs=len(history), reason=reason)
    sign = 1 if task.higher_is_better else -1
    best = max(measured, key=lambda row: sign * row[task.monitor])
    seconds = history[-1]["seconds"] + sum(row.get("validation_seconds", 0.0) for row in history)
    figure: float | None = best[task.monitor]
    if state == "finished" and figure is not None and not math.isfinite(figure):
        state, figure, reason = "failed", None, f"the validation figure is {figure}"
    worked = history[-1].get("processor_seconds", 0.0)
    return Outcome(state, figure, best["epoch"], len(history), round(seconds, 2), worked, reason)
