"""The settings that scripts/searches.py found, as reproduce.py hands them to a training."""

from __future__ import annotations

import json

from stored_records import RECORDS

STORED = RECORDS / "searches"


def chosen(name: str) -> tuple[str, ...]:
    """Changes like ``lr=0.0115`` of the best trial, to three digits; none if there was no search."""
    path = STORED / f"{name}.json"
    if not path.exists():
        return ()
    best = json.loads(path.read_text(encoding="utf-8"))["best"]
    return tuple(f"{key}={_written(value)}" for key, value in best.items())


def _written(value: object) -> str:
    if value is None:
        return "none"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
