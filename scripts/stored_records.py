"""The records that scripts/reproduce.py stores, by task and experiment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RECORDS = Path(__file__).parent.parent / "docs/results/records"


def of_experiment(task: str, name: str) -> list[dict[str, Any]]:
    """Of all its seeds that were run."""
    paths = sorted((RECORDS / task).glob(f"{name}-seed*.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def worked_seconds(of: dict[str, Any]) -> float:
    """Of a training, or until one of its validations: the processor's on one thread, where the record counts them.

    In older records, what the clock of a shared machine showed, other work included.
    """
    row = of["validations"][-1] if of.get("validations") else of
    return row.get("processor_seconds", row["seconds"])
