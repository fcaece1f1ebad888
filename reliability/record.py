"""The stored outcome of the trials, and the page that is made of it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hybonet.tasks.provenance import provenance
from hybonet.tasks.run_folder import write_json

_DOCS = Path(__file__).parents[1] / "docs"
RECORD, PAGE = _DOCS / "reliability.json", _DOCS / "reliability.md"
_BEGIN, _END = "<!-- made by python -m reliability -->\n", "<!-- end -->\n"


@dataclass
class Done:
    """What has been done of a trial."""

    parts: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0
    #: Of the code, where it is not that of the record.
    commit: str = ""


class Record:
    """All trials."""

    def __init__(self, trials: dict[str, Done] | None = None, origin: dict[str, Any] | None = None) -> None:
        self.trials, self.origin = trials or {}, origin or provenance()

    @classmethod
    def read(cls, path: Path) -> Record:
        """That of a file, to go on with; a new one if there is none."""
        if not path.exists():
            return cls()
        content = json.loads(path.read_text(encoding="utf-8"))
        trials = {
            name: Done(**{**each, "counts": Counter(each["counts"])}) for name, each in content.pop("trials").items()
        }
        return cls(trials, content)

    def of(self, name: str) -> Done:
        """One trial."""
        return self.trials.setdefault(name, Done())

    def write(self, path: Path) -> None:
        """Whole or not at all."""
        trials = {name: {**vars(each), "seconds": round(each.seconds)} for name, each in self.trials.items()}
        write_json(path, {**self.origin, "trials": trials})


def page() -> None:
    """Put the table of the record into the page."""
    put(table(Record.read(RECORD)), _BEGIN, _END)


def put(text: str, begin: str, end: str) -> None:
    """Put what a command made into the page, between its marks."""
    before, rest = PAGE.read_text(encoding="utf-8").split(begin)
    PAGE.write_text(before + begin + text + end + rest.split(end)[1], encoding="utf-8")


def table(record: Record) -> str:
    """Markdown: a row a trial."""
    from reliability.trials import TRIALS

    lines = ["\n| What was done | How often | What came of it | Lost or wrong |\n|---|---|---|---|\n"]
    for trial in TRIALS:
        done = record.of(trial.name)
        outcomes = ", ".join(f"{count:,} {name}" for name, count in sorted(done.counts.items()) if count)
        lines.append(f"| {trial.title} | {done.counts.total():,} {trial.what} | {outcomes} | {len(done.wrong)} |\n")
    origin = record.origin
    versions = ", ".join(f"{name} {version}" for name, version in origin["versions"].items())
    lines.append(f"\n{origin['machine']}, {versions}, {origin['created'][:10]}.\n")
    return "".join(lines)
