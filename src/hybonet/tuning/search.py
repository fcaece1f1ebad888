"""The search: trainings by the one loop with settings that the study proposes, hopeless ones ended early."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hybonet.training import Interrupted, LoopSettings, Reporter, Task
from hybonet.training.history import read_history
from hybonet.training.processes import process_count, stop_requests
from hybonet.training.ranges import Range, with_values
from hybonet.training.trial import Hopeless, Outcome, run_trial
from hybonet.tuning.progress import SearchReporter
from hybonet.tuning.search_folder import write_results
from hybonet.tuning.study import Attempt, TrialResult, open_study

JOURNAL, TRIALS_FOLDER = "journal.log", "trials"


def run_search(
    folder: Path,
    make_task: Callable[[Any], Task],
    settings: LoopSettings,
    ranges: Mapping[str, Range],
    *,
    trials: int,
    seed: int = 0,
    minutes: float | None = None,
    resume_command: str = "",
    reporter: SearchReporter | None = None,
) -> list[TrialResult]:
    """Run trials in a folder until it holds so many, and return all of them; ``trials.csv`` and ``best.json`` follow.

    Each is a training as any other, in ``trials/NUMBER``, and is judged by the metric that the task monitors. One that
    diverges, or whose settings do not go together, counts as failed. Called again for the same folder, the search
    goes on, in the middle of a trial if it was stopped there.

    Args:
        settings: what all trials have in common, and what the first one tries.
        trials: how many the folder shall have in the end; fewer if the ranges are lists with fewer combinations.
        minutes: no further trial begins later than this.

    Raises:
        Interrupted: after a save, if Ctrl-C or SIGTERM asked for it.
    """
    require_one_process()
    reporter = reporter or SearchReporter()
    task = make_task(settings)
    again = resume_command or "the same call"

    def keep(results: list[TrialResult]) -> None:
        _drop_weights(folder, len(results))
        write_results(folder, results, settings, task.monitor, higher_is_better=task.higher_is_better)

    with open_study(folder / JOURNAL, settings, ranges, higher_is_better=task.higher_is_better, seed=seed) as study:
        results = study.results()
        keep(results)  # as a kill may have prevented
        begin_until = math.inf if minutes is None else time.monotonic() + 60 * minutes
        while len(results) < trials:
            with _stop_afterwards(again):
                attempt = study.next()
            if attempt is None:
                reporter.exhausted(len(results))
                break
            outcome = _run(folder, attempt, make_task, settings, again, reporter)
            with _stop_afterwards(again):
                about = asdict(outcome)
                study.end(attempt, about.pop("state"), **about)
                results = study.results()
                keep(results)
                reporter.ended(results)
            if time.monotonic() > begin_until:
                break
        return results


def require_one_process() -> None:
    """Raise a ``ValueError`` if `torchrun` or accelerate has started several."""
    if process_count() > 1:
        raise ValueError(
            f"expected one process for a search, got {process_count()}; start it without torchrun or accelerate"
        )


@contextmanager
def _stop_afterwards(again: str) -> Iterator[None]:
    """Between trainings, Ctrl-C and SIGTERM wait until the journal is written."""
    with stop_requests() as stop:
        yield
    if stop:
        raise Interrupted(f"stopped by {stop.signal} between two trials; go on with {again}")


def _run(
    folder: Path,
    attempt: Attempt,
    make_task: Callable[[Any], Task],
    settings: LoopSettings,
    again: str,
    reporter: SearchReporter,
) -> Outcome:
    """Train one trial, or the rest of it."""
    run = folder / TRIALS_FOLDER / f"{attempt.number:04}"
    if not attempt.begun:
        shutil.rmtree(run, ignore_errors=True)
    return run_trial(
        run,
        lambda: make_task(with_values(settings, attempt.values)),
        name=f"trial {attempt.number}",
        resume_command=again,
        reporter=lambda task: _Judge(attempt, task, run, reporter.training(attempt.number, task.settings)),
    )


class _Judge(Reporter):
    """Passes everything on to another reporter, and ends a training that is worse than most before it."""

    def __init__(self, attempt: Attempt, task: Task, run: Path, shown: Reporter) -> None:
        self.attempt, self.task, self.run, self.shown = attempt, task, run, shown

    @contextmanager
    def running(self, total: int, done: int) -> Iterator[None]:
        for row in read_history(self.run):  # if the trial goes on: what it was judged by before
            self._judge(row)
        with self.shown.running(total, done):
            yield

    def advance(self, epoch: int, loss: float) -> None:
        self.shown.advance(epoch, loss)

    def epoch(self, row: dict[str, Any], monitor: str, best: float | None) -> None:
        self.shown.epoch(row, monitor, best)
        self._judge(row)

    def _judge(self, row: dict[str, Any]) -> None:
        """Raise :class:`Hopeless` if a line of the history is; after the last epoch it is too late to spare any."""
        if self.task.monitor not in row:
            return
        hopeless = self.attempt.is_hopeless(row["epoch"], row[self.task.monitor])
        if hopeless and row["epoch"] < self.task.settings.epochs:
            raise Hopeless


def _drop_weights(folder: Path, ended: int) -> None:
    """Keep of the trials that have ended what is small: training again gives the same weights."""
    for number in range(1, ended + 1):
        for weights in (folder / TRIALS_FOLDER / f"{number:04}").glob("*.safetensors"):  # of averaged epochs, too
            weights.unlink()
