"""What a person sees while a search runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from hybonet.training import LoopSettings, Reporter, TerminalReporter
from hybonet.training.ranges import Value, as_text
from hybonet.tuning.study import TrialResult


class SearchReporter:
    """Hears of every trial; this one is silent."""

    #: Whether the search ended because all there is was tried.
    nothing_left = False

    def training(self, number: int, settings: LoopSettings) -> Reporter:
        """What hears of the batches of a trial."""
        return Reporter()

    def ended(self, results: Sequence[TrialResult]) -> None:
        """After a trial, the last of the results."""

    def exhausted(self, trials: int) -> None:
        """When there is nothing left to try."""
        self.nothing_left = True


class TerminalSearchReporter(SearchReporter):
    """A bar while a trial trains, and a line when it has ended.

    Example:
        >>> shown = TerminalSearchReporter(30, "mrr", higher_is_better=True)
        >>> shown.ended([TrialResult("finished", 0.5, seconds=3.0, number=1, values={"lr": 0.0123456})])
        trial  1/30  mrr 0.5000 (the best so far)  3 s  lr=0.0123
    """

    def __init__(
        self, trials: int, monitor: str, *, higher_is_better: bool, echo: Callable[[str], None] | None = None
    ) -> None:
        self.trials, self.monitor, self.higher_is_better = trials, monitor, higher_is_better
        self.echo = echo or partial(print, flush=True)

    def training(self, number: int, settings: LoopSettings) -> Reporter:
        return TerminalReporter(settings.epochs, echo=self.echo, title=self._title(number), with_validations=False)

    def ended(self, results: Sequence[TrialResult]) -> None:
        last, best = results[-1], best_of(results, higher_is_better=self.higher_is_better)
        figure = "" if last.figure is None else f"{self.monitor} {last.figure:.4f} "
        if best is last:
            comparison = "(the best so far)"
        else:
            comparison = f"(best {best.figure:.4f}, trial {best.number})" if best else ""
        state = {"finished": "", "pruned": f"pruned at epoch {last.epochs}: ", "failed": "failed: "}[last.state]
        tried = " ".join(f"{name}={shortened(value)}" for name, value in last.values.items())
        parts = (self._title(last.number), f"{state}{figure}{comparison}".strip(), f"{last.seconds:.0f} s", tried)
        self.echo("  ".join(filter(None, parts)))
        if last.reason:
            self.echo(f"    {last.reason}")

    def exhausted(self, trials: int) -> None:
        super().exhausted(trials)
        self.echo(f"All {trials} combinations have been tried")

    def _title(self, number: int) -> str:
        return f"trial {number:>{len(str(self.trials))}}/{self.trials}"


def best_of(results: Sequence[TrialResult], *, higher_is_better: bool) -> TrialResult | None:
    """The finished trial with the best figure, the first of equals; None if none has finished."""
    return next(iter(ranked(results, higher_is_better=higher_is_better)), None)


def ranked(results: Sequence[TrialResult], *, higher_is_better: bool) -> list[TrialResult]:
    """The finished trials, best first."""
    sign = -1 if higher_is_better else 1
    finished = [(sign * each.figure, each) for each in results if each.state == "finished" and each.figure is not None]
    return [each for _, each in sorted(finished, key=lambda pair: pair[0])]


def shortened(value: Value) -> str:
    """A value with three digits at most behind the zeros, for people."""
    return f"{value:.3g}" if isinstance(value, float) else as_text(value)
