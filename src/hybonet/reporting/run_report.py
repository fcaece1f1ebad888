"""Run records, read and side by side: a row per experiment, mean and deviation over its seeds; a table per task."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from hybonet.files import parse_json, unsealed
from hybonet.reporting.console import Console
from hybonet.reporting.headlines import Headline, HeadlineOf, Measure, look_up
from hybonet.reporting.narrow_table import add_row, narrow_table

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
                found = [parse_json(line) for line in lines]
                if file.suffix != ".jsonl" and isinstance(found[0], dict):
                    found = [unsealed(found[0], file)]
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


#: What the columns of all tables mean.
NOTE = "Mean ± standard deviation over seeds. min: minutes of training."
_NOTHING = "–"
_ANY_WIDTH = 10_000
#: Letters of a run that are left where its name has to make room.
_SHORTEST_RUN = 20


@dataclass(frozen=True)
class Spread:
    """Mean and sample standard deviation; no deviation of a single value."""

    mean: float
    deviation: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of one or more values."""
        mean = sum(values) / len(values)
        if len(values) == 1:
            return cls(mean, None)
        return cls(mean, math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1)))

    def text(self, decimals: int) -> str:
        """Written with so many decimals."""
        text = _written(self.mean, decimals)
        return text if self.deviation is None else f"{text} ± {_written(self.deviation, decimals)}"

    def __str__(self) -> str:
        return self.text(3)


@dataclass(frozen=True)
class Experiment:
    """Runs that differ in nothing but the seed."""

    task: str
    headline: Headline
    #: The first run's folder or file.
    source: str
    data: str
    recipe: str
    #: What else tells runs of this task apart, by header.
    details: Mapping[str, Any]
    seeds: tuple[int, ...]
    #: What all of the runs measured.
    measures: Mapping[Measure, Spread]
    minutes: Spread
    commits: tuple[str, ...]

    @property
    def names(self) -> dict[str, str]:
        """What the run is, by header."""
        details = {
            name: _NOTHING if each is None else f"{each:.10g}" if isinstance(each, float) else str(each)
            for name, each in self.details.items()
        }
        return {"data": self.data, "recipe": self.recipe, **details}

    def cell(self, measure: Measure, *, deviation: bool = True) -> str:
        """A measure as tables write it."""
        spread = self.measures.get(measure)
        if spread is None:
            return _NOTHING
        return spread.text(measure.decimals) if deviation else _written(spread.mean, measure.decimals)

    def as_json(self) -> dict[str, Any]:
        """For JSON: a measure goes by its place in the record."""
        return {
            "task": self.task,
            "source": self.source,
            "data": self.data,
            "recipe": self.recipe,
            **self.details,
            "seeds": self.seeds,
            "measures": {measure.name: asdict(spread) for measure, spread in self.measures.items()},
            "minutes": asdict(self.minutes),
            "commits": self.commits,
        }


def experiments(records: Iterable[dict[str, Any]], headline_of: HeadlineOf) -> list[Experiment]:
    """Group records by everything but the seed, in the order of their first appearance."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        groups.setdefault(json.dumps(_identity(record), sort_keys=True), []).append(record)
    return [_experiment(group, headline_of(group[0])) for group in groups.values()]


def _identity(record: dict[str, Any]) -> list[Any]:
    """What runs have in common that differ only in the seed."""
    settings = {key: value for key, value in record["settings"].items() if key != "seed"}
    data = record["data"]
    encoder = dict(record.get("encoder", {}))
    if settings.get("control") == "random-weights":
        encoder.pop("states_sha256", None)  # the seed draws the weights
    teachers = [teacher.get("sha256") for teacher in record.get("teachers", ())]
    about = (data["source"], data.get("direction"), data.get("sha256"), encoder, teachers)
    return [record["task"], *about, record.get("recipe"), settings]


def _experiment(records: list[dict[str, Any]], headline: Headline) -> Experiment:
    first = records[0]
    wanted = [*headline.measures, *([headline.validation] if headline.validation else [])]
    # A copy of a run, or its exported model, is no further seed.
    alike = {(record["seed"], *(measure.of(record) for measure in wanted)): record for record in reversed(records)}
    records = list(reversed(alike.values()))
    measures = {}
    for measure in wanted:
        found = [value for record in records if (value := measure.of(record)) is not None]
        if len(found) == len(records):
            measures[measure] = Spread.of(found)
    details = {}
    for header, path in headline.details.items():
        # The best layer of a probe may differ by seed.
        values = list(dict.fromkeys(look_up(record, *path) for record in records))
        details[header] = values[0] if len(values) == 1 else ", ".join(map(str, values))
    return Experiment(
        task=first["task"],
        headline=headline,
        source=first.get("source", ""),
        data=Path(first["data"]["source"]).name,
        recipe=first.get("recipe") or "own settings",
        details=details,
        seeds=tuple(sorted(record["seed"] for record in records)),
        measures=measures,
        minutes=Spread.of([record["seconds"] / 60 for record in records]),
        commits=tuple(sorted({str(record.get("commit")) for record in records})),
    )


def by_kind(found: Iterable[Experiment]) -> dict[str, list[Experiment]]:
    """Experiments by the title of their table: one for each task, for graphs one for links and one for classes."""
    kinds: dict[str, list[Experiment]] = {}
    for each in found:
        kinds.setdefault(each.headline.title, []).append(each)
    return kinds


def _columns(found: Sequence[Experiment]) -> list[Measure]:
    """The measures of any of them; that of the validation data only where one lacks test data."""
    validation = found[0].headline.validation
    measures = list(dict.fromkeys(measure for each in found for measure in each.headline.measures))
    tested = all(each.headline.measures[0] in each.measures for each in found)
    return measures if tested or validation is None else [*measures, validation]


def report_rows(found: Sequence[Experiment]) -> tuple[list[str], list[list[str]]]:
    """Header and rows of experiments of one kind, as text, for any kind of table."""
    columns = _columns(found)
    header = ["run", *found[0].names, "seeds", *(measure.header for measure in columns), "min"]
    rows = [
        [
            each.source,
            *each.names.values(),
            str(len(each.seeds)),
            *(each.cell(measure) for measure in columns),
            f"{each.minutes.mean:.1f}",
        ]
        for each in found
    ]
    return header, rows


def report_table(found: Sequence[Experiment], width: int) -> Group:
    """For a terminal: the deviation of the first measure alone, what all have in common above, the rest if it fits."""
    names = found[0].names
    told_apart = [name for name in names if len({each.names[name] for each in found}) > 1]
    common = [f"{name} {value}" for name, value in names.items() if name not in told_apart and value != _NOTHING]
    shown: list[str] = []
    spare = max(0, max(len(each.source) for each in found) - _SHORTEST_RUN)  # what names of runs can give away
    for name in told_apart:
        if Console(width=_ANY_WIDTH).measure(_table(found, [*shown, name])).maximum - spare <= width:
            shown.append(name)
    above = [f"{found[0].headline.title}: {', '.join(common)}" if common else found[0].headline.title]
    if len(shown) < len(told_apart):
        left_out = ", ".join(name for name in told_apart if name not in shown)
        above.append(f"No room for: {left_out}; --format markdown has all columns.")
    return Group(*map(Text, above), _table(found, shown))


def _table(found: Sequence[Experiment], names: Sequence[str]) -> Table:
    first, *others = _columns(found)
    headers = [measure.header for measure in (first, *others)]
    table = narrow_table(["run", *names], ["seeds", *headers, "min"])
    for each in found:
        numbers = [each.cell(first), *(each.cell(measure, deviation=False) for measure in others)]
        cells = [each.names[name] for name in names]
        add_row(table, each.source, *cells, str(len(each.seeds)), *numbers, f"{each.minutes.mean:.1f}")
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


def _written(value: float, decimals: int) -> str:
    """Without the zero before the point, as tables in this field have it."""
    text = f"{value:.{decimals}f}"
    return text.removeprefix("0") if abs(value) < 1 else text
