"""Figures of records as pages write them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hybonet.reporting.run_report import Spread
from results.store import Record

NOTHING = "–"
_SPEED = Path(__file__).parent.parent / "benchmarks/results"


def values(found: Iterable[Record], path: str, times: float = 1) -> list[float]:
    """A measure of every record, by its place, like ``test.both.mrr``."""
    return [times * _at(record, path) for record in found]


def spread(found: Iterable[Record], path: str, decimals: int = 3, times: float = 1) -> str:
    """Mean and deviation over records, a dash for none."""
    measured = values(found, path, times)
    return Spread.of(measured).text(decimals) if measured else NOTHING


def thousandths(value: float | None) -> str:
    """As tables of this field write a share: three digits without the zero before the point."""
    return NOTHING if value is None else f"{value:.3f}".removeprefix("0")


def worked_seconds(of: Record) -> float:
    """Of a training, or until one of its validations: the processor's on one thread, where the record counts them.

    In older records, what the clock of a shared machine showed, other work included.
    """
    row = of["validations"][-1] if of.get("validations") else of
    return row.get("processor_seconds", row["seconds"])


def worked_minutes(found: Iterable[Record]) -> float:
    """The mean over records."""
    return Spread.of([worked_seconds(record) / 60 for record in found]).mean


def speed(topic: str) -> Record:
    """What a benchmark measured."""
    record = json.loads((_SPEED / f"{topic}.json").read_text(encoding="utf-8"))
    return record | {"on": f"{record['threads']} {'thread' if record['threads'] == 1 else 'threads'}"}


def _at(record: Record, path: str) -> Any:
    for key in path.split("."):
        record = record[key]
    return record
