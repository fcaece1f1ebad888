"""What a report shows of a record: the measures that count, where records keep them, and what they mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Measure:
    """A number of a record, and how it is written.

    Example:
        >>> Measure("MRR", ("test", "both", "mrr")).of({"test": {"both": {"mrr": 0.5}}})
        0.5
        >>> Measure("MRR", ("test", "both", "mrr")).of({"valid": {"mrr": 0.5}}) is None
        True
    """

    header: str
    path: tuple[str, ...]
    decimals: int = 3

    @property
    def name(self) -> str:
        """Where it stands in a record, in one word."""
        return ".".join(self.path)

    def of(self, record: Mapping[str, Any]) -> float | None:
        """The number, or None if the record has none, as that of a run without test data."""
        value = look_up(record, *self.path)
        return float(value) if isinstance(value, int | float) else None


@dataclass(frozen=True)
class Headline:
    """What a table says of runs of one kind."""

    title: str
    #: What the headers mean.
    note: str
    #: Columns that tell runs apart, data and recipe aside: where they stand in a record.
    details: Mapping[str, tuple[str, ...]]
    #: Columns of numbers, the most important first.
    measures: tuple[Measure, ...]
    #: The measure of the validation data, for runs without test data; None if nothing is held out.
    validation: Measure | None = None

    def figures(self, record: Mapping[str, Any]) -> dict[str, float]:
        """The numbers of a record by their headers."""
        every = (*self.measures, *((self.validation,) if self.validation else ()))
        return {each.header: value for each in every if (value := each.of(record)) is not None}

    def line(self, record: Mapping[str, Any]) -> str:
        """The same in a line."""
        return ", ".join(f"{header} {value:.4g}" for header, value in self.figures(record).items())


#: What to show of a record.
HeadlineOf = Callable[[Mapping[str, Any]], Headline]


def plain_headline(title: str, record: Mapping[str, Any]) -> Headline:
    """For a task that declares none: all figures of the test part, else of validation.

    Example:
        >>> record = {"test": {"accuracy": 0.5}, "valid": {"accuracy": 0.75}}
        >>> plain_headline("Toys", record).line(record)
        'accuracy 0.5, valid accuracy 0.75'
    """
    parts = {part: record.get(part) or {} for part in ("test", "valid")}
    names = {part: [name for name, value in found.items() if isinstance(value, float)] for part, found in parts.items()}
    measures = tuple(Measure(name, ("test", name)) for name in names["test"])
    validation = next((Measure(f"valid {name}", ("valid", name)) for name in names["valid"]), None)
    return Headline(title, "", {}, measures or ((validation,) if validation else ()), validation if measures else None)


def look_up(record: Mapping[str, Any], *path: str) -> Any:
    """What stands at a place of a record, or None."""
    value: Any = record
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
