"""Stored records: a file per table, a line per record, with what the pages need and what a figure must carry along."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from hybonet.files import write_atomically
from hybonet.tasks.run_folder import without_examples

Record = dict[str, Any]

RECORDS = Path(__file__).parent.parent / "docs/results/records"
#: Left out unless a table keeps them. Of validations the last stays: it says how long the training took.
BULKY = ("validations", "layers", "test.tails", "test.heads", "test.by_relation", "test.by_category")
#: Parts that make the same training again, so that no digit may be lost.
_EXACT = ("settings", "best")


def compact(record: Record, keep: tuple[str, ...] = ()) -> Record:
    """A record as it is stored: without sentences of a corpus and bulky parts, measures to eight digits.

    Example:
        >>> compact({"seed": 0, "validations": [{"epoch": 1}, {"epoch": 2}], "test": {"mrr": 0.123456789}})
        {'seed': 0, 'validations': [{'epoch': 2}], 'test': {'mrr': 0.12345679}}
    """
    thin = without_examples(record)
    for part in set(BULKY) - set(keep):
        *above, name = part.split(".")
        place = thin.get(above[0], {}) if above else thin
        if name == "validations":
            place[name] = place.get(name, [])[-1:]
        else:
            place.pop(name, None)
    return {name: part if name in _EXACT else _rounded(part) for name, part in thin.items()}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.8g}")
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    return [_rounded(part) for part in value] if isinstance(value, list) else value


def put(table: str, run: str, record: Record) -> None:
    """Store one record in place of the same run's; all other lines stay as they are."""
    path = RECORDS / f"{table}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path.parent):
        lines = _lines(path)
        if run in lines and _identity(json.loads(lines[run])) != _identity(record):
            before, now = _identity(json.loads(lines[run])), _identity(record)
            raise ValueError(f"{run}: expected a record of {before}, as stored, got one of {now}; name it otherwise")
        lines[run] = json.dumps({"run": run, **record}, ensure_ascii=False, separators=(",", ":"))
        text = "".join(f"{lines[name]}\n" for name in sorted(lines))
        write_atomically(path, lambda target: target.write_text(text, encoding="utf-8"))
    _by_experiment.cache_clear()


def is_stored(table: str, run: str) -> bool:
    """Whether a run has a record."""
    return run in _lines(RECORDS / f"{table}.jsonl")


def records(experiment: str) -> list[Record]:
    """Of all seeds of an experiment that were run, or the one of a search or a trial."""
    return _by_experiment(RECORDS).get(experiment, [])


def tables() -> dict[str, list[Record]]:
    """All that is stored, by table."""
    paths = sorted(RECORDS.rglob("*.jsonl"))
    return {
        path.relative_to(RECORDS).with_suffix("").as_posix(): [json.loads(line) for line in _lines(path).values()]
        for path in paths
    }


def chosen(search: str) -> tuple[str, ...]:
    """Changes like ``lr=0.0115`` of a search's best trial, to three digits; none if nothing was searched."""
    found = records(f"search-{search}")
    return tuple(f"{key}={_written(value)}" for key, value in found[0]["best"].items()) if found else ()


@cache
def _by_experiment(_: Path) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for rows in tables().values():
        for row in rows:
            found.setdefault(row["run"].partition("-seed")[0], []).append(row)
    return found


def _lines(path: Path) -> dict[str, str]:
    """The lines of a file by run."""
    if not path.exists():
        return {}
    return {json.loads(line)["run"]: line for line in path.read_text(encoding="utf-8").splitlines()}


def _identity(record: Record) -> str:
    """What two records of one run have in common."""
    data = record.get("data", {}).get("source", "")
    return " ".join(str(each) for each in (record.get("task"), data, record.get("recipe"), record.get("seed")))


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """While trainings of several processes end at once, one of them writes."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _written(value: object) -> str:
    if value is None:
        return "none"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
