"""Ranges: the values of a setting that a search may try."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from hybonet.training import LoopSettings, ModelSettings, describe, override
from hybonet.training.settings import check_name, types_of

S = TypeVar("S", bound=LoopSettings)
Value = bool | int | float | str | None

#: Settings that are not searched: the luckiest seed is no better model, trials are compared at equal validations, and
#: the others change no result.
_FIXED = ("seed", "validate_every", "checkpoint_seconds", "device")
_FORMS = "low:high, low:high:log or a,b,c"


@dataclass(frozen=True)
class Between:
    """All numbers from ``low`` to ``high``; ``log``: each order of magnitude as likely as another.

    Example:
        >>> str(Between(0.002, 0.05, log=True))
        '0.002:0.05:log'
        >>> Between(3, 1)
        Traceback (most recent call last):
        ValueError: expected the lower end first, got 3:1; write 1:3
    """

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            raise ValueError(f"expected two finite ends, got {self}; give numbers that a training can use")
        if self.low == self.high:
            raise ValueError(f"expected two different ends, got {self}; fix a setting with --set instead")
        if self.low > self.high:
            raise ValueError(f"expected the lower end first, got {self}; write {Between(self.high, self.low)}")
        if self.log and self.low <= 0:
            raise ValueError(f"expected ends above 0 with log, got {self}; leave out log, or raise the lower end")

    def __str__(self) -> str:
        return f"{as_text(self.low)}:{as_text(self.high)}" + (":log" if self.log else "")

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and self.low <= value <= self.high

    def samples(self) -> tuple[Value, ...]:
        """Values that a setting must be able to take."""
        return self.low, self.high


@dataclass(frozen=True)
class OneOf:
    """A few values, all as likely.

    Example:
        >>> str(OneOf((250, 500, None)))
        '250,500,none'
    """

    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        if len(set(self.values)) < 2 or len(set(self.values)) < len(self.values):
            raise ValueError(f"expected two or more different values, got {self}; fix a setting with --set instead")

    def __str__(self) -> str:
        return ",".join(map(as_text, self.values))

    def __contains__(self, value: object) -> bool:
        return value in self.values

    def samples(self) -> tuple[Value, ...]:
        """Values that a setting must be able to take."""
        return self.values


Range = Between | OneOf


def check_ranges(settings: LoopSettings, ranges: Mapping[str, Range]) -> None:
    """Raise a ``ValueError`` unless every range is for a setting there is, and within what that setting takes.

    Example:
        >>> check_ranges(LoopSettings(), {"schedule.gamma": Between(0.9, 1.1)})
        Traceback (most recent call last):
        ValueError: range of schedule.gamma: expected less than or equal to 1, got '1.1' (exponential: the learning ...
    """
    for name, tried in ranges.items():
        check_name(settings, name)
        if name in _FIXED:
            raise ValueError(
                f"range of {name}: expected a setting that makes a better model; fix it with --set {name}=…"
            )
        is_number = not {int, float}.isdisjoint(types_of(type(settings), name))
        if isinstance(tried, Between) and not is_number:
            raise ValueError(f"range of {name}: expected values to choose from, such as a,b,c, got {tried}")
        for value in tried.samples():
            try:
                taken = value_of(override(settings, [f"{name}={as_text(value)}"]), name)
            except ValueError as error:
                raise ValueError(f"range of {name}: {str(error).removeprefix(f'setting {name}: ')}") from None
            if taken != value:
                raise ValueError(f"range of {name}: expected {taken!r}, got {value!r}; give it as the setting has it")


def read_ranges(settings: LoopSettings, assignments: Iterable[str]) -> dict[str, Range]:
    """Ranges from ``key=low:high``, ``key=low:high:log`` and ``key=a,b,c``, checked against the settings.

    Example:
        >>> read_ranges(LoopSettings(), ["schedule.gamma=0.9:0.99", "patience=2,4,none"])
        {'schedule.gamma': Between(low=0.9, high=0.99, log=False), 'patience': OneOf(values=(2, 4, None))}
        >>> read_ranges(LoopSettings(), ["gamma=0.9:0.99"])
        Traceback (most recent call last):
        ValueError: unknown setting 'gamma'; did you mean 'schedule.gamma'?
    """
    ranges: dict[str, Range] = {}
    for assignment in assignments:
        name, equals, text = (part.strip() for part in assignment.partition("="))
        if not equals:
            raise ValueError(
                f"expected a setting and its range, got {assignment!r}; for example --range lr=0.001:0.1:log or "
                "--range batch_size=250,500,1000"
            )
        name = check_name(settings, name)
        if name in ranges:
            raise ValueError(f"expected one range a setting, got two for {name}; leave one out")
        try:
            ranges[name] = _between(text) if ":" in text else _one_of(settings, name, text)
        except ValueError as error:
            raise ValueError(f"range of {name}: {error}") from None
    check_ranges(settings, ranges)
    return ranges


def _between(text: str) -> Between:
    low, high, *rest = (part.strip() for part in text.split(":"))
    if rest not in ([], ["log"]):
        raise ValueError(f"expected {_FORMS}, got {text!r}")
    try:
        ends = float(low), float(high)
    except ValueError:
        raise ValueError(f"expected numbers around the colon, got {text!r}; write {_FORMS}") from None
    return Between(*ends, log=bool(rest))


def _one_of(settings: LoopSettings, name: str, text: str) -> OneOf:
    if "," not in text:
        raise ValueError(f"expected {_FORMS}, got {text!r}; fix a setting with --set {name}={text}")
    texts = [part.strip() for part in text.split(",")]
    values = [value_of(override(settings, [f"{name}={each}"]), name) for each in texts]
    return OneOf(tuple(values))


def with_values(settings: S, values: Mapping[str, Value]) -> S:
    """Settings with some of them changed to values of the right type; those that the chosen model lacks are left out.

    Example:
        >>> with_values(LoopSettings(), {"epochs": 3, "schedule.gamma": 0.9}).schedule.gamma
        0.9
    """
    if isinstance(settings, ModelSettings) and settings.told_apart_by in values:  # other models have other settings
        settings = settings.with_model(as_text(values[settings.told_apart_by]))
        known = {name for name, _, _ in describe(settings)}
        values = {name: value for name, value in values.items() if name in known}
    return override(settings, [f"{name}={as_text(value)}" for name, value in values.items()])


def value_of(settings: LoopSettings, name: str) -> Value:
    """A setting's value, nested ones by dotted names."""
    return next(value for key, value, _ in describe(settings) if key == name)


def out_of_range(settings: LoopSettings, ranges: Mapping[str, Range]) -> dict[str, Value]:
    """The settings whose own values their ranges do not have: they cannot be the first trial.

    Example:
        >>> ranges = {"max_grad_norm": Between(0.1, 1.0), "validate_every": OneOf((1, 5))}
        >>> out_of_range(LoopSettings(max_grad_norm=2.0, validate_every=5), ranges)
        {'max_grad_norm': 2.0}
    """
    return {name: value for name, each in ranges.items() if (value := value_of(settings, name)) not in each}


def as_text(value: Value) -> str:
    """A value as ``--set`` and ``--range`` take it; a number comes back from it unchanged.

    Example:
        >>> as_text(500.0), as_text(0.1), as_text(None), as_text(True)
        ('500', '0.1', 'none', 'true')
    """
    if value is None or isinstance(value, bool):
        return str(value).lower()
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return str(int(value) if is_whole else value)
