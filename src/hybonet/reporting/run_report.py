"""Run records side by side: one row an experiment, mean and standard deviation over its seeds."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from hybonet.reporting.narrow_table import add_row, narrow_table

RECORD = "record.json"
#: What the columns mean.
NOTE = (
    "Test triples, filtered ranking both ways, ties realistic; mean ± standard deviation over seeds. released: MRR by "
    "the protocol of the paper's code (easier). min: minutes of training."
)
_METRICS = ("mrr", "hits@1", "hits@3", "hits@10")
_HEADS = {"mrr": "MRR", "hits@1": "H@1", "hits@3": "H@3", "hits@10": "H@10"}


@dataclass(frozen=True)
class Spread:
    """Mean and sample standard deviation; no deviation of a single value.

    Example:
        >>> str(Spread.of([0.5, 0.52])), str(Spread.of([0.5]))
        ('.510 ± .014', '.500')
    """

    mean: float
    deviation: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of one or more values."""
        mean = sum(values) / len(values)
        if len(values) == 1:
            return cls(mean, None)
        return cls(mean, math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1)))

    def __str__(self) -> str:
        text = _decimals(self.mean)
        return text if self.deviation is None else f"{text} ± {_decimals(self.deviation)}"


@dataclass(frozen=True)
class Experiment:
    """Runs that differ in nothing but the seed."""

    #: The first run's folder or file.
    source: str
    data: str
    recipe: str
    dim: int
    seeds: tuple[int, ...]
    #: Metrics of the test triples by the standard protocol, and by the released code's (easier).
    test: dict[str, Spread]
    released: dict[str, Spread]
    valid_mrr: Spread
    minutes: Spread
    commits: tuple[str, ...]


def load_records(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Records from run folders, from record files, or from folders full of record files."""
    records = []
    for path in paths:
        if not path.exists():
            raise ValueError(f"expected finished runs or records, but {str(path)!r} is not there; check the path")
        files = [path] if path.is_file() else [path / RECORD] if (path / RECORD).is_file() else []
        files = files or (sorted(path.glob("*.json")) if path.is_dir() else [])
        if not files:
            raise ValueError(
                f"expected a finished run, a record file or a folder of them, got {str(path)!r}; a stopped run "
                "has no record yet"
            )
        for file in files:
            try:
                record = json.loads(file.read_text(encoding="utf-8"))
            except (json.JSONDecodeError, UnicodeDecodeError) as error:
                raise ValueError(f"{file}: expected a run record in JSON, but {error}") from None
            if not isinstance(record, dict) or record.get("task") != "kg" or "test" not in record:
                raise ValueError(
                    f"{file}: expected the record of a knowledge-graph run with test metrics, got other JSON"
                )
            name = file.parent.name if file.name == RECORD else file.stem
            records.append({**record, "source": name})
    return records


def experiments(records: Iterable[dict[str, Any]]) -> list[Experiment]:
    """Group records by everything but the seed, in the order of their first appearance."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        settings = {key: value for key, value in record["settings"].items() if key != "seed"}
        key = json.dumps([record["data"]["source"], record.get("recipe"), settings], sort_keys=True)
        groups.setdefault(key, []).append(record)
    return [_experiment(group) for group in groups.values()]


def _experiment(records: list[dict[str, Any]]) -> Experiment:
    first = records[0]

    def spread(*path: str) -> Spread:
        values = []
        for record in records:
            value: Any = record
            for key in path:
                value = value[key]
            values.append(float(value))
        return Spread.of(values)

    return Experiment(
        source=first.get("source", ""),
        data=Path(first["data"]["source"]).name,
        recipe=first.get("recipe") or "own settings",
        dim=first["settings"]["dim"],
        seeds=tuple(sorted(record["seed"] for record in records)),
        test={name: spread("test", "both", name) for name in _METRICS},
        released={name: spread("test_released_protocol", name) for name in _METRICS},
        valid_mrr=spread("valid", "mrr"),
        minutes=Spread.of([record["seconds"] / 60 for record in records]),
        commits=tuple(sorted({str(record.get("commit")) for record in records})),
    )


def report_rows(found: Sequence[Experiment]) -> tuple[list[str], list[list[str]]]:
    """Header and rows, as text, for any kind of table."""
    header = ["run", "data", "recipe", "dim", "seeds", *(_HEADS[name] for name in _METRICS), "released", "min"]
    rows = [
        [
            each.source,
            each.data,
            each.recipe,
            str(each.dim),
            str(len(each.seeds)),
            *(str(each.test[name]) for name in _METRICS),
            str(each.released["mrr"]),
            f"{each.minutes.mean:.1f}",
        ]
        for each in found
    ]
    return header, rows


def report_table(found: Sequence[Experiment]) -> Table:
    """For the terminal: narrower, with the deviation of the MRR alone."""
    table = narrow_table(["run", "data", "recipe"], ["seeds", *(_HEADS[name] for name in _METRICS), "released", "min"])
    for each in found:
        hits = [_decimals(each.test[name].mean) for name in _METRICS[1:]]
        released, minutes = _decimals(each.released["mrr"].mean), f"{each.minutes.mean:.1f}"
        count = str(len(each.seeds))
        add_row(table, each.source, each.data, each.recipe, count, str(each.test["mrr"]), *hits, released, minutes)
    return table


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table for a Markdown page.

    Example:
        >>> print(markdown_table(["data", "MRR"], [["UMLS", ".9"]]))
        | data | MRR |
        |---|---|
        | UMLS | .9 |
    """
    lines = [list(header), ["---"] * len(header), *map(list, rows)]
    texts = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    texts[1] = "|" + "---|" * len(header)
    return "\n".join(texts)


def _decimals(value: float) -> str:
    """Three decimals without the leading zero, as tables in this field have it."""
    return f"{value:.3f}".removeprefix("0") if abs(value) < 1 else f"{value:.3f}"
