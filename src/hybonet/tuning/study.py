"""What to try next, by optuna (extra ``tune``): its samplers and pruners, and its journal of every trial on disk.

The journal is a file of JSON lines that optuna's own tools read as well. A trial that was cut off by a kill is tried
again with the same values; what came before it and after it is as if nothing had happened, since every trial draws its
values by random numbers of its own.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from hybonet.extras import needed
from hybonet.training import LoopSettings, generator_for
from hybonet.training.lock import locked
from hybonet.training.ranges import Between, Range, Value, out_of_range, value_of
from hybonet.training.settings import types_of
from hybonet.training.trial import Outcome, State

if TYPE_CHECKING:
    import optuna

_NAME = "hybonet"
#: Trials before any is pruned, and the share of the epochs in which none is: too early, a figure says little.
_SURE_TRIALS, _SURE_SHARE = 5, 0.25
#: Of lists of values with up to so many combinations none is tried twice.
_FEW = 100
#: Attribute of a trial: the number of the one that it repeats.
_AGAIN = "again"


@dataclass(frozen=True)
class TrialResult(Outcome):
    """What became of a trial of a search."""

    number: int = 0
    #: The values that it tried, by setting.
    values: dict[str, Value] = field(default_factory=dict)


@dataclass
class Attempt:
    """A trial that is to be run."""

    number: int
    values: dict[str, Value]
    #: Whether it was begun before, and stopped.
    begun: bool
    _trial: optuna.trial.Trial
    _reported: set[int] = field(default_factory=set)

    def is_hopeless(self, epoch: int, figure: float) -> bool:
        """Take note of a validation figure, and say whether earlier trials were better at this epoch."""
        if epoch not in self._reported:
            self._trial.report(figure, epoch)
            self._reported.add(epoch)
        return self._trial.should_prune()


class Study:
    """The trials of a search so far, and the next one; :func:`open_study` makes it."""

    def __init__(
        self, path: Path, settings: LoopSettings, ranges: Mapping[str, Range], *, higher_is_better: bool, seed: int
    ) -> None:
        import optuna
        from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.seed, self.states = seed, optuna.trial.TrialState
        self.distributions = {name: _distribution(settings, name, each) for name, each in ranges.items()}
        try:
            backend = JournalFileBackend(str(path), JournalFileOpenLock(str(path)))
            self.study = optuna.create_study(
                storage=optuna.storages.JournalStorage(backend),
                study_name=_NAME,
                load_if_exists=True,
                direction="maximize" if higher_is_better else "minimize",
                pruner=optuna.pruners.MedianPruner(_SURE_TRIALS, int(_SURE_SHARE * settings.epochs)),
            )
        except (ValueError, KeyError) as error:
            raise ValueError(
                f"{path}: expected optuna's journal, but {error}; restore the file, or search in a new folder"
            ) from None
        if not self.study.trials and not out_of_range(settings, ranges):
            self.study.enqueue_trial({name: value_of(settings, name) for name in ranges})
        self._repeat_what_was_cut_off()

    def _repeat_what_was_cut_off(self) -> None:
        """A trial that still runs, though nobody runs it, fails; one with the same values waits in its place."""
        waiting = self.study.get_trials(states=(self.states.WAITING,))
        for trial in self.study.get_trials(states=(self.states.RUNNING,)):
            whole = trial.params.keys() == self.distributions.keys()
            if not any(other.user_attrs.get(_AGAIN) == trial.number for other in waiting):
                self.study.enqueue_trial(trial.params if whole else {}, {_AGAIN: trial.number})
            self.study.tell(trial.number, state=self.states.FAIL)

    def results(self) -> list[TrialResult]:
        """All trials that have ended, in their order; those that were cut off do not count."""
        trials = self.study.get_trials(deepcopy=False)
        repeated = {trial.user_attrs.get(_AGAIN) for trial in trials}
        ended = [trial for trial in trials if trial.state.is_finished() and trial.number not in repeated]
        named = {self.states.COMPLETE: "finished", self.states.PRUNED: "pruned", self.states.FAIL: "failed"}
        return [
            TrialResult(
                named[trial.state],  # type: ignore[arg-type]
                number=number,
                values={name: trial.params[name] for name in self.distributions},
                **{name: value for name, value in trial.user_attrs.items() if name != _AGAIN},
            )
            for number, trial in enumerate(ended, 1)
        ]

    def next(self) -> Attempt | None:
        """The next trial to run; None if the ranges are lists and all of their few combinations have been tried."""
        from optuna.samplers import TPESampler

        number = len(self.results()) + 1
        # Random numbers of its own make a trial the same whether the search was stopped before it or not.
        generator = generator_for(self.seed, number)
        self.study.sampler = TPESampler(seed=generator.initial_seed() % (1 << 32))
        untried = self._untried()
        if untried is not None and not self.study.get_trials(deepcopy=False, states=(self.states.WAITING,)):
            if not untried:
                return None
            self.study.enqueue_trial(untried[int(torch.randint(len(untried), (), generator=generator))])
        trial = self.study.ask(self.distributions)
        return Attempt(number, dict(trial.params), _AGAIN in trial.user_attrs, trial)

    def _untried(self) -> list[dict[str, Value]] | None:
        """The combinations of listed values that are left; None if there are many, or numbers between two ends."""
        from optuna.distributions import CategoricalDistribution

        lists = [each.choices for each in self.distributions.values() if isinstance(each, CategoricalDistribution)]
        if len(lists) < len(self.distributions) or math.prod(map(len, lists)) > _FEW:
            return None
        tried = [each.values for each in self.results()]
        combinations = (dict(zip(self.distributions, values, strict=True)) for values in product(*lists))
        return [each for each in combinations if each not in tried]

    def end(self, attempt: Attempt, state: State, **about: Any) -> TrialResult:
        """Store what became of a trial: ``figure``, ``best_epoch``, ``epochs``, ``seconds``, ``reason``."""
        for name, value in about.items():
            attempt._trial.set_user_attr(name, value)
        ended = {"finished": self.states.COMPLETE, "pruned": self.states.PRUNED, "failed": self.states.FAIL}[state]
        self.study.tell(attempt._trial, about["figure"] if state == "finished" else None, state=ended)
        return TrialResult(state, number=attempt.number, values=attempt.values, **about)


@contextmanager
def open_study(
    path: Path, settings: LoopSettings, ranges: Mapping[str, Range], *, higher_is_better: bool, seed: int
) -> Iterator[Study]:
    """The study of a journal, new or old, for this process alone.

    Args:
        settings: those of the recipe; if all its values lie within the ranges, they are tried first.
    """
    require_optuna()
    with locked(path.parent, "search", "searched"):
        _repair(path)
        yield Study(path, settings, ranges, higher_is_better=higher_is_better, seed=seed)


def require_optuna() -> None:
    """Raise a ``ValueError`` with the remedy if optuna is not installed."""
    needed("optuna", "the search", "tune")


def _distribution(settings: LoopSettings, name: str, tried: Range) -> optuna.distributions.BaseDistribution:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if not isinstance(tried, Between):
        return CategoricalDistribution(tried.values)
    if int in types_of(type(settings), name):
        return IntDistribution(int(tried.low), int(tried.high), log=tried.log)
    return FloatDistribution(tried.low, tried.high, log=tried.log)


def _repair(path: Path) -> None:
    """Drop what a kill may leave: half of a last line, and optuna's own lock."""
    if path.exists():
        content = path.read_bytes()
        os.truncate(path, content.rfind(b"\n") + 1)
    for left in path.parent.glob(f"{path.name}.lock*"):
        left.unlink()
