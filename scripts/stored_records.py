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
