"""Stored figures that are older than the code they measure: what a release looks at."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from results.store import Record, tables

ROOT = Path(__file__).parent.parent
#: What every figure measures, and what those of a task measure besides.
SHARED = ("geometry/", "kernels/", "nn/", "optim/", "training/")
OWN = {
    "kg": (
        "tasks/knowledge_graph/", "data/triples/", "metrics/ranking.", "metrics/relations.", "metrics/product_counts.",
    ),
    "graph": ("tasks/graph/", "data/graphs/", "metrics/classification."),
    "translation": ("tasks/translation/", "data/text/", "metrics/bleu."),
    "typing": ("tasks/typing/", "data/mentions/", "metrics/typing."),
    "probe": ("tasks/probing/", "tasks/translation/", "data/trees/", "metrics/probing."),
}  # fmt: skip
#: Trials and benchmarks that measure a task by another name.
_TASKS = {"leak_trial": "kg", "graph_grid": "graph", "decoding": "translation"}
#: What shows and ships a model that was measured before.
SHOWN = {"pictures", "card", "report", "charts", "attention_chart", "sentence_picture", "export", "pretrained"}
#: Lines that may change in a file that has moved, without a change in what it does.
_MOVED = ("from ", "import ", ">>> from ", ">>> import ", "#")


@dataclass
class Commit:
    """How many lines a commit changed in each file below the source folder, imports aside, by the file's name now."""

    name: str
    created: str
    changed: Counter[str] = field(default_factory=Counter)


def history(root: Path) -> list[Commit]:
    """All commits, the newest first; files are followed through renames."""
    # Sparse: a commit that changed nothing here is there as well, since records may name it.
    command = ["git", "-C", str(root), "log", "--sparse", "-p", "-M", "-U0", "--format=%x00%H %cI"]
    command += ["--", "src/hybonet", "benchmarks"]
    log = subprocess.run(command, capture_output=True, text=True, check=True, errors="replace").stdout
    commits: list[Commit] = []
    names: dict[str, str] = {}
    file = ""
    for line in log.splitlines():
        if line.startswith("\0"):
            name, created = line[1:].split()
            commits.append(Commit(name, created))
        elif line.startswith("diff --git "):
            file = line.rpartition(" b/")[2]
            file = names.get(file, file)
        elif line.startswith("rename from "):
            names[line.removeprefix("rename from ")] = file
        elif line[:1] in "+-" and line[:4] not in ("--- ", "+++ ") and _counts(line[1:].strip()):
            commits[-1].changed[file.removeprefix("src/hybonet/")] += 1
    return commits


def _counts(line: str) -> bool:
    return bool(line) and not line.startswith(_MOVED)


def measured(file: str, name: str, record: Record) -> bool:
    """Whether a record of this table or benchmark depends on a file."""
    topic, task = Path(name).name, record.get("trained") or record.get("task")
    if name.startswith("benchmarks/"):
        if file.startswith("benchmarks/"):
            return Path(file).stem == topic
        task = topic.partition("_")[0]
    return file.startswith(SHARED + OWN.get(_TASKS.get(task, task), ())) and Path(file).stem not in SHOWN


def since(record: Record, commits: Sequence[Commit]) -> Sequence[Commit]:
    """The commits after the one that a record names, or after its time where that commit is not in this history."""
    name = str(record.get("commit")).removesuffix("+changes")
    created = record.get("created") or record.get("date") or ""
    place = next((place for place, commit in enumerate(commits) if commit.name == name), None)
    return [commit for commit in commits if commit.created > created] if place is None else commits[:place]


def report(stored: Mapping[str, Sequence[Record]], commits: Sequence[Commit]) -> list[str]:
    """A line for every table and benchmark with outdated figures, those first whose code has changed most."""
    found = []
    for name, rows in stored.items():
        ages = []
        for row in rows:
            lines = [
                sum(count for file, count in commit.changed.items() if measured(file, name, row))
                for commit in since(row, commits)
            ]
            ages.append((sum(lines), sum(map(bool, lines)), row))
        old = [age for age in ages if age[0]]
        if old:
            changed, number, row = max(old, key=lambda age: age[0])
            made = f"{str(row.get('created') or row.get('date'))[:10]}, {str(row['commit'])[:7]}"
            than = f"{changed:,} line(s) of code in {number} commit(s) since the oldest ({made})"
            found.append((changed, f"{name}: {len(old)} of {len(rows)} figures are older than {than}"))
    return [text for _, text in sorted(found, reverse=True)]


def stored_figures() -> dict[str, Sequence[Record]]:
    """All tables of records, and all benchmarks."""
    benchmarks = sorted((ROOT / "benchmarks/results").glob("*.json"))
    return {f"records/{name}": rows for name, rows in tables().items()} | {
        f"benchmarks/{path.stem}": _of_benchmark(json.loads(path.read_text(encoding="utf-8"))) for path in benchmarks
    }


def _of_benchmark(stored: Any) -> Sequence[Record]:
    """One record for all rows, or one per row where they were measured at different times."""
    return stored if isinstance(stored, list) else [stored.get("environment", stored)]
