"""Settings by themselves: what follows from the data, and a short race on validation data for what does not.

A task's part ``candidates(settings, data)`` looks at the data and gives a few :class:`Candidate`, the likeliest first.
They are trained for a few epochs; the better half goes on for twice as many, until one is left (successive halving).
One alone is what the data settle; it is raced against the plain settings only if a budget is given. The test data have
no part in it. All is kept in ``auto.json`` of the run folder, so that a stopped race goes on.
"""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hybonet.tasks.base import TaskSpec
from hybonet.tasks.run_folder import AUTO, RACE, read_json, write_sealed
from hybonet.training import FitResult, LoopSettings, Reporter, Task, TerminalReporter, describe
from hybonet.training.ranges import Value, as_text, with_values
from hybonet.training.trial import Outcome, run_trial

#: The name that settings go by that were chosen here, as a recipe's does.
NAME = "auto"
#: The candidate that is as without it.
PLAIN = "plain"
#: Of the figure of one case, such as a reciprocal rank.
_DEVIATION = 0.4
#: Figures that differ by less, relative to the second, are even.
EVEN = 0.005
#: Of the training's epochs: what the race may take unless it is told.
_SHARE = 1 / 3
_BUDGET = re.compile(r"\s*(?:(?P<steps>\d+)(?:\s*steps?)?|(?P<time>\d+(?:\.\d+)?)\s*(?P<unit>[smh]))\s*")
_SECONDS = {"s": 1, "m": 60, "h": 3600}

Say = Callable[[str], None]


@dataclass(frozen=True)
class Candidate:
    """Settings that may suit the data.

    Attributes:
        name: a word or two.
        changes: what differs from the plain settings; nested ones by dotted names.
        why: what in the data speaks for it.
        lead: share of what its validation figure lacks to a perfect one, 1, that is added to it in the race: how far
            settings that learn slowly were behind at such a time on other data, and were best in the end. Where little
            is lacking, they are no longer behind.
        twin: it is the Euclidean twin of the one before it.
    """

    name: str
    changes: Mapping[str, Value] = field(default_factory=dict)
    why: str = ""
    lead: float = 0.0
    twin: bool = False


@dataclass(frozen=True)
class Budget:
    """What a race may cost: seconds, updates, or (both None) a third of the training's epochs.

    Example:
        >>> Budget.read("5m"), Budget.read("2000"), Budget.read(0)
        (Budget(seconds=300.0, steps=None), Budget(seconds=None, steps=2000), Budget(seconds=None, steps=0))
        >>> Budget.read("soon")
        Traceback (most recent call last):
        ValueError: expected a budget such as 5m, 90s or 1h, or a number of steps, got 'soon'; 0 is no race
    """

    seconds: float | None = None
    steps: int | None = None

    @classmethod
    def read(cls, text: str | float | None) -> Budget:
        """As the command line has it."""
        if text is None:
            return cls()
        found = _BUDGET.fullmatch(str(text))
        if found is None:
            raise ValueError(
                f"expected a budget such as 5m, 90s or 1h, or a number of steps, got {text!r}; 0 is no race"
            )
        if found["steps"] is not None:
            return cls(steps=int(found["steps"]))
        return cls(seconds=float(found["time"]) * _SECONDS[found["unit"]])


def settings_of(plain: LoopSettings, candidate: Candidate, fixed: Sequence[str]) -> LoopSettings | None:
    """The candidate's settings, but for those that a person has fixed and those that the model lacks that a person has
    chosen; None if they do not go together.
    """
    known = {name.casefold() for name, _, _ in describe(plain)} - {name.casefold() for name in fixed}
    changes = {name: value for name, value in candidate.changes.items() if name.casefold() in known}
    model = {name: changes.pop(name) for name in list(changes) if name == "model"}
    try:  # another model leaves out what it lacks
        return with_values(with_values(plain, changes), model)
    except ValueError:
        return None


def differences(plain: LoopSettings, chosen: LoopSettings) -> dict[str, Value]:
    """What settings have changed of others, by dotted names.

    Example:
        >>> differences(LoopSettings(), LoopSettings(epochs=3))
        {'epochs': 3}
    """
    before = {name: value for name, value, _ in describe(plain)}
    return {name: value for name, value, _ in describe(chosen) if name not in before or value != before[name]}


@dataclass(frozen=True)
class Plan:
    """How long each round of a race is, in epochs, for how many."""

    entrants: int
    epochs: tuple[int, ...]

    @classmethod
    def of(cls, candidates: int, budget: float) -> Plan:
        """For a budget in epochs of all trainings together; fewer candidates where it is too small for all.

        Example:
            >>> Plan.of(4, 60), Plan.of(4, 4), Plan.of(4, 1)
            (Plan(entrants=4, epochs=(10, 20)), Plan(entrants=2, epochs=(2,)), Plan(entrants=1, epochs=()))
        """
        for entrants in range(candidates, 1, -1):
            sizes = _sizes(entrants)
            # A round doubles the epochs of those that are left, who have half of them already.
            shares = [2.0**number for number in range(len(sizes))]
            cost = sum(size * (share - share // 2) for size, share in zip(sizes, shares, strict=True))
            if (first := int(budget / cost)) >= 1:
                return cls(entrants, tuple(int(first * share) for share in shares))
        return cls(1, ())


def _sizes(entrants: int) -> list[int]:
    """How many run in each round."""
    sizes = []
    while entrants > 1:
        sizes.append(entrants)
        entrants = -(-entrants // 2)
    return sizes


class Race:
    """Candidates, trained for a few epochs in ``race/NAME`` of a run folder, the better half for longer.

    Args:
        folder: of the run.
        entrants: the likeliest first, with their settings.
        make_task: gives what is trained, without test data.
        budget: what it may cost.
        guess: the validation figure of guessing; those below it are even.
        resume_command: what a person types to go on.
        say: prints a line.
    """

    def __init__(
        self,
        folder: Path,
        entrants: Sequence[tuple[Candidate, LoopSettings]],
        make_task: Callable[[LoopSettings], Task],
        budget: Budget,
        *,
        guess: Callable[[Task], float] | None = None,
        resume_command: str = "",
        say: Say | None = None,
    ) -> None:
        self.folder, self.make_task, self.budget = folder, make_task, budget
        self.entrants, self.again, self.say = list(entrants), resume_command, say
        self.state: dict[str, Any] = read_json(folder, AUTO) if (folder / AUTO).exists() else {"rounds": []}
        settings = self.entrants[0][1]
        task = make_task(settings)
        self.higher_is_better = task.higher_is_better
        # The likeliest is beaten by more than one standard error of such a figure, or not at all.
        cases = getattr(task, "validation_cases", None)
        self.chance = _DEVIATION / math.sqrt(cases) if cases else 0.0
        self.guess = guess(task) if guess else -math.inf if task.higher_is_better else math.inf
        self.state["monitor"] = task.monitor
        updates = -(-task.batches_per_epoch() // settings.accumulate)
        epochs = min(
            each.epochs for _, each in self.entrants
        )  # the shortest of the trainings: patience ends longer ones
        whole = epochs if settings.steps is None else min(epochs, settings.steps / updates)
        self.epochs = whole * _SHARE if budget.steps is None else budget.steps / updates
        self.most = whole * len(self.entrants)  # no trial needs to be longer than the training
        self.limit = budget.seconds
        if budget == Budget() and settings.minutes is not None:
            self.limit = 60 * settings.minutes * _SHARE

    def run(self) -> dict[str, Any]:
        """Run, or go on, and return what ``auto.json`` says: the figures of every round, and all names, best first."""
        left = list(range(len(self.entrants)))
        for number, epochs in enumerate(self._plan()):
            if number == 0:
                left = left[: self.state["entrants"]]
            elif self._out_of_time():
                break
            self._round(number, epochs, left)
            left = sorted(left, key=lambda place: self._rank(number, place))
            left = left[: max(1, -(-len(left) // 2))]
        self.state["order"] = [self.entrants[place][0].name for place in self._order(left)]
        self._keep()
        return self.state

    def _plan(self) -> tuple[int, ...]:
        if self.limit and "epoch_seconds" not in self.state:
            self.state["epoch_seconds"] = max(1e-6, self._train(0, 1).seconds)
        if self.limit is not None:
            affordable = self.limit / self.state.get("epoch_seconds", math.inf)
            self.epochs = min(affordable, self.most if self.budget.seconds is not None else self.epochs)
        plan = Plan.of(len(self.entrants), self.epochs)
        self.state["entrants"] = plan.entrants
        self._keep()
        return plan.epochs

    def _round(self, number: int, epochs: int, places: Sequence[int]) -> None:
        rounds = self.state["rounds"]
        if number == len(rounds):
            rounds.append({"epochs": epochs, "trials": {}})
        trials = rounds[number]["trials"]
        for place in places:
            name = self.entrants[place][0].name
            if name not in trials:
                found = asdict(self._train(place, epochs))
                trials[name] = {key: value for key, value in found.items() if value not in ("", "finished")}
                self.state["seconds"] = self.seconds()
                self._keep()

    def _train(self, place: int, epochs: int) -> Outcome:
        """So many epochs in all. A schedule ends with them, and begins again if there is another round."""
        candidate, settings = self.entrants[place]
        every = min(settings.validate_every, epochs)
        short = settings.model_copy(update={"epochs": epochs, "validate_every": every, "average": 1})
        title = f"race: {candidate.name}"

        def reporter(task: Task) -> Reporter:
            if self.say is None:
                return Reporter()
            return TerminalReporter(epochs, echo=self.say, title=title, with_validations=False)

        place_of_it = self.folder / RACE / candidate.name.replace(" ", "-")
        return run_trial(
            place_of_it, lambda: self.make_task(short), name=title, resume_command=self.again, reporter=reporter
        )

    def seconds(self, of: str = "seconds") -> float:
        """What it has cost so far: training and validation of all, or, in ``processor_seconds``, training alone."""
        last: dict[str, float] = {}
        for each in self.state["rounds"]:
            last |= {name: found.get(of, 0.0) for name, found in each["trials"].items()}
        return round(sum(last.values()), 2)

    def figures(self, number: int) -> dict[str, float | None]:
        """The best validation figure of all that ran in a round, by name."""
        return {name: found.get("figure") for name, found in self.state["rounds"][number]["trials"].items()}

    def place(self, number: int, name: str) -> tuple[float, int]:
        """Where a candidate came in a round; the best have the least."""
        return self._rank(number, next(n for n, (each, _) in enumerate(self.entrants) if each.name == name))

    def _rank(self, number: int, place: int) -> tuple[float, int]:
        """The best have the least; those without a figure the most; of equals the likelier comes first."""
        candidate = self.entrants[place][0]
        figure = self.figures(number).get(candidate.name)
        if figure is None:
            return math.inf, place
        sign = 1 if self.higher_is_better else -1
        value = max(sign * figure, sign * self.guess)
        lead = candidate.lead * max(0.0, sign - value) + (self.chance if place == 0 else 0.0)
        return -value - lead, place

    def _order(self, best: Sequence[int]) -> list[int]:
        """Those that were left first, then by the last round that they ran in."""
        rounds = self.state["rounds"]

        def key(place: int) -> tuple[int, float, int]:
            ran = [n for n in range(len(rounds)) if self.entrants[place][0].name in rounds[n]["trials"]]
            return (-ran[-1], *self._rank(ran[-1], place)) if ran else (1, math.inf, place)

        rest = [place for place in range(len(self.entrants)) if place not in best]
        return [*best, *sorted(rest, key=key)]

    def _out_of_time(self) -> bool:
        return self.limit is not None and self.seconds() > self.limit

    def _keep(self) -> None:
        write_sealed(self.folder / AUTO, self.state)


def settle(
    folder: Path,
    spec: TaskSpec,
    plain: LoopSettings,
    data: Any,
    asked: Mapping[str, Any],
    *,
    resume_command: str = "",
    say: Say | None = None,
) -> tuple[LoopSettings, dict[str, Any]]:
    """The settings that suit the data best, as far as the data and a race can tell, and what there is to say of them.

    Args:
        folder: of the run.
        plain: what the changes of the candidates apply to.
        asked: ``fixed``, the settings that are as a person wants them; and ``budget``.
        say: prints a line.
    """
    data = data.without_test() if hasattr(data, "without_test") else data
    found = list(spec.implementation.candidates(plain, data))
    if len(found) == 1 and asked["budget"] is not None and (twin := spec.part("twin")):
        like_it = settings_of(plain, found[0], asked["fixed"]) or plain
        flat = {**found[0].changes, **twin(like_it)}
        found.append(Candidate("Euclidean twin", flat, "the same in flat space", twin=True))
    if len(found) > 1 or asked["budget"] is not None:
        found.append(Candidate(PLAIN, why="as without auto"))
    entrants: list[tuple[Candidate, LoopSettings]] = []
    for candidate in found:
        settings = settings_of(plain, candidate, asked["fixed"])
        if settings is not None and all(settings != other for _, other in entrants):
            entrants.append((candidate, settings))
    entrants = entrants or [(Candidate(PLAIN, why="what suits the data does not go with what is fixed"), plain)]

    def make_task(settings: LoopSettings) -> Task:
        return spec.implementation.task(settings, data)

    guess = spec.part("guess")
    race = Race(
        folder,
        entrants,
        make_task,
        Budget.read(asked["budget"]),
        guess=None if guess is None else lambda task: guess(task)[0],
        resume_command=resume_command,
        say=say,
    )
    state = race.run()
    chosen, settings = next(pair for pair in entrants if pair[0].name == state["order"][0])
    afterwards = Candidate("", spec.part("AFTERWARDS", {}))
    settings = settings_of(settings, afterwards, asked["fixed"]) or settings
    about = {
        **asked,
        "chosen": chosen.name,
        "why": chosen.why,
        "changes": differences(plain, settings),
        "seconds": race.seconds(),
        "processor_seconds": race.seconds("processor_seconds"),
        "monitor": state["monitor"],
        **_comparisons(race, chosen, entrants),
    }
    shutil.rmtree(folder / RACE, ignore_errors=True)
    for line in report(about, race):
        (say or _nobody)(line)
    return settings, about


def _comparisons(race: Race, chosen: Candidate, entrants: Sequence[tuple[Candidate, LoopSettings]]) -> dict[str, Any]:
    """The chosen one's figure beside the plain settings' and the Euclidean twin's, where they ran for as long."""
    found: dict[str, Any] = {}
    twins = [candidate.name for candidate, _ in entrants if candidate.twin]
    for what, names in (("over_plain", [PLAIN]), ("over_twin", twins)):
        for number in range(len(race.state["rounds"])):
            figures = race.figures(number)
            for other in names:
                one, two = figures.get(chosen.name), figures.get(other)
                if other != chosen.name and one is not None and two is not None:
                    epochs = race.state["rounds"][number]["epochs"]
                    found[what] = {"name": other, "epochs": epochs, "chosen": one, "figure": two}
    return found


def report(about: Mapping[str, Any], race: Race) -> Iterator[str]:
    """What was chosen, why, what it cost and what it gained, in a few lines."""
    changes = ", ".join(f"{name}={as_text(value)}" for name, value in about["changes"].items())
    yield f"auto: {about['chosen']} ({changes or 'no change'})"
    if about["why"]:
        yield f"  why: {about['why']}"
    rounds = race.state["rounds"]
    if not rounds:
        why = "the budget has no epoch for two candidates" if len(race.entrants) > 1 else "the data leave no choice"
        yield f"  no race: {why}; --budget 5m has one"
        return
    for number, each in enumerate(rounds):
        figures = sorted(race.figures(number).items(), key=lambda pair: race.place(number, pair[0]))
        shown = ", ".join(f"{name} {'failed' if figure is None else f'{figure:.3f}'}" for name, figure in figures)
        yield f"  validation {about['monitor']} after {each['epochs']} epochs: {shown}"
    yield f"  the race took {about['seconds']:.0f} s"
    for what, title in (("over_plain", "the plain settings"), ("over_twin", "the Euclidean twin")):
        if each := about.get(what):
            gain = each["chosen"] - each["figure"]
            yield f"  beside {title}, at {each['epochs']} epochs: {gain:+.3f}"


def guessing(spec: TaskSpec, task: Task, result: FitResult) -> dict[str, Any] | None:
    """What guessing reaches on the validation data, and how, if the model is no better."""
    guess = spec.part("guess")
    if guess is None:
        return None
    figure, how = guess(task)
    own, sign = result.best[task.monitor], 1 if task.higher_is_better else -1
    if sign * (own - figure) > EVEN * abs(figure):
        return None
    return {"monitor": task.monitor, "figure": own, "guess": figure, "how": how}


def guessing_note(record: Mapping[str, Any]) -> str:
    """That a model is no better than guessing, and what to do; by its record.

    Example:
        >>> found = {"monitor": "f1", "figure": 0.0, "guess": 0.67, "how": "one class for all"}
        >>> guessing_note({"guessing": found}).split(";")[0]
        'no better than guessing: validation f1 0.000, and 0.670 by one class for all'
        >>> guessing_note({"guessing": found, "recipe": "auto"}).split(";")[1]
        ' look at the data, which may not tell what is asked of them'
    """
    found, remedy = record["guessing"], "look at the data, which may not tell what is asked of them"
    if record.get("recipe") != NAME:
        remedy = f"leave --recipe out, so that settings follow from the data, or {remedy}"
    return (
        f"no better than guessing: validation {found['monitor']} {found['figure']:.3f}, and {found['guess']:.3f} by "
        f"{found['how']}; {remedy}"
    )


def _nobody(line: str) -> None:
    """Hears nothing."""
