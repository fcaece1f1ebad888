"""Records of finished runs of any task, read from where people keep them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hybonet.reporting.headlines import HeadlineOf, look_up

RECORD = "record.json"


def load_records(paths: Iterable[Path], tasks: Mapping[str, HeadlineOf]) -> list[dict[str, Any]]:
    """Records from run folders, from record files, or from folders full of either; each once.

    A file ``.jsonl`` has a record in each line, with the name of its run.

    Args:
        tasks: those whose records can be reported, with what is shown of each.
    """
    records = {}
    for path in paths:
        for file in _record_files(path):
            try:
                text = file.read_text(encoding="utf-8")
                lines = text.splitlines() if file.suffix == ".jsonl" else [text]
                found = [json.loads(line) for line in lines]
            except (json.JSONDecodeError, UnicodeDecodeError) as error:
                raise ValueError(f"{file}: expected a run record in JSON, but {error}") from None
            for number, record in enumerate(found):
                _check(record, file, tasks)
                name = file.parent.name if file.name == RECORD else record.get("run", file.stem)
                records[file.resolve(), number] = {**record, "source": name}
    return list(records.values())


def _record_files(path: Path) -> list[Path]:
    if not path.exists():
        raise ValueError(f"expected finished runs or records, but {str(path)!r} is not there; check the path")
    if path.is_file():
        return [path]
    if (path / RECORD).is_file():
        return [path / RECORD]
    # A run has other JSON files, which are no records.
    is_run = (path / "config.json").is_file()
    kinds = () if is_run else ("*.json", f"*/{RECORD}", "*.jsonl")
    files = next((found for kind in kinds if (found := sorted(path.glob(kind)))), [])
    if not files:
        raise ValueError(
            f"expected a finished run, a record file or a folder of them, got {str(path)!r}; a stopped run has no "
            "record yet"
        )
    return files


def _check(record: Any, file: Path, tasks: Mapping[str, HeadlineOf]) -> None:
    """Refuse JSON that is not the record of a finished run with something measured."""
    if not isinstance(record, dict) or record.get("task") not in tasks:
        got = f"task {record['task']!r}" if isinstance(record, dict) and "task" in record else "other JSON"
        raise ValueError(f"{file}: expected the record of a finished run ({', '.join(tasks)}), got {got}")
    kinds = {("data", "source"): str, ("settings",): dict, ("seed",): int, ("seconds",): int | float}
    missing = [".".join(path) for path, kind in kinds.items() if not isinstance(look_up(record, *path), kind)]
    headline = tasks[record["task"]](record)
    measures = [measure for measure in (headline.measures[0], headline.validation) if measure is not None]
    if all(measure.of(record) is None for measure in measures):
        missing.append(" or ".join(measure.name for measure in measures))
    if missing:
        raise ValueError(
            f"{file}: expected {missing[0]} in the record of a {record['task']} run, found none; restore the file, or "
            "train again"
        )
