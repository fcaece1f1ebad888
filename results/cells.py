"""What can be run and stored: trainings, searches and trials, all by `run_cell`."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from results import store
from results.store import Record


@dataclass(frozen=True)
class Training:
    """Trainings that differ in the seed, each by `hybonet train TASK` or `hybonet probe`."""

    task: str
    #: Of its task's tables, the one whose records hold these runs.
    group: str
    data: str
    recipe: str = "default"
    seeds: int = 1
    changes: tuple[str, ...] = ()
    about: str = ""
    #: Options of the command beside data and settings.
    options: tuple[str, ...] = ()
    #: Runs of other experiments to learn from, which must be there.
    teachers: tuple[str, ...] = ()
    #: What is probed: a run of another experiment, which must be there.
    encoder: str = ""
    #: Parts of records that pages need and that would be left out otherwise.
    keep: tuple[str, ...] = ()

    @property
    def table(self) -> str:
        return f"{self.task}/{self.group}"

    def runs(self, name: str, seeds: Sequence[int] = ()) -> list[str]:
        return [f"{name}-seed{seed}" for seed in seeds or range(self.seeds)]

    def run(self, run: str, folder: Path, threads: int) -> Record:
        runs = folder.parent
        if self.encoder:
            command, given = ["probe"], [str(runs / self.encoder), "--trees", self.data]
        else:
            command, given = ["train", self.task], ["--data", self.data]
        given += ["--recipe", self.recipe, *self.options]
        given += _each("--set", *that_apply(self), f"seed={run.rpartition('-seed')[2]}")
        given += _each("--teacher", *(str(runs / teacher) for teacher in self.teachers))
        _hybonet(command, folder, threads, given, begun=(folder / "config.json").exists())
        (folder / "states.safetensors").unlink(missing_ok=True)  # large, and of no use once probes are trained
        return store.compact(_json(folder / "record.json"), self.keep)


@dataclass(frozen=True)
class Search:
    """One system's settings on one set of data: one `hybonet tune`, on validation figures alone."""

    task: str
    data: str
    recipe: str
    changes: tuple[str, ...]
    ranges: tuple[str, ...]
    trials: int
    #: Search these ranges alone, not those of the recipe.
    own_ranges: bool = False

    @property
    def about(self) -> str:
        return f"{self.trials} trials"

    @property
    def table(self) -> str:
        return f"searches/{self.task}"

    def runs(self, name: str, seeds: Sequence[int] = ()) -> list[str]:
        return [f"search-{name}"]

    def run(self, run: str, folder: Path, threads: int) -> Record:
        given = ["--data", self.data, "--recipe", self.recipe, "--trials", str(self.trials)]
        given += [*_each("--set", *that_apply(self)), *_each("--range", *self.ranges)]
        given += ["--own-ranges"] if self.own_ranges else []
        _hybonet(["tune", self.task], folder, threads, given, begun=(folder / "search.json").exists())
        described, best = _json(folder / "search.json"), _json(folder / "best.json")
        with (folder / "trials.csv").open(encoding="utf-8", newline="") as lines:
            trials = [{key: _number(text) for key, text in row.items()} for row in csv.DictReader(lines)]
        return store.compact(
            described | {"results": trials, "best": {name: best[name] for name in described["ranges"]}}
        )


@dataclass(frozen=True)
class Trial:
    """A question that takes more than one training: a function of the number of threads that gives a record."""

    answer: Callable[[int], Record]
    about: str
    table = "trials"

    def runs(self, name: str, seeds: Sequence[int] = ()) -> list[str]:
        return [name]

    def run(self, run: str, folder: Path, threads: int) -> Record:
        return store.compact(self.answer(threads))


def plain_settings(cell: Training | Search) -> Any:
    """The settings that a cell starts from: those of its recipe, or those that `auto` changes."""
    from hybonet.recipes import recipe
    from hybonet.tasks.base import spec

    return recipe(spec(cell.task).recipe if cell.recipe == "auto" else cell.recipe, cell.task).settings


def that_apply(cell: Training | Search) -> list[str]:
    """The changes of a recipe without those that the model lacks or that change nothing: systems are given the same."""
    from hybonet.training import ModelSettings, describe, override

    settings = plain_settings(cell)
    changes = {change.partition("=")[0]: change for change in cell.changes}
    if isinstance(settings, ModelSettings) and settings.told_apart_by in changes:
        settings = override(settings, [changes[settings.told_apart_by]])
    own = {name for name, _, _ in describe(settings)}
    kept = {name: change for name, change in changes.items() if name in own}
    unused = override(settings, list(kept.values())).unused()
    return [change for name, change in kept.items() if name not in unused]


#: Runs that belong together: what they are called, the table of their records, and how one is carried out or finished.
Cell = Training | Search | Trial


def run_cell(cell: Cell, run: str, runs: Path, threads: int, *, again: bool = False) -> None:
    """Carry out one run and store its record, unless there is one already."""
    folder = runs / run
    if store.is_stored(cell.table, run) and not again:
        print(f"{run}: stored already")
        return
    if again and any((folder / name).exists() for name in ("record.json", "best.json")):
        raise SystemExit(f"{folder}: a finished run; move it away, or name other --runs, to carry it out again")
    store.put(cell.table, run, cell.run(run, folder, threads))
    print(f"{run}: stored in {cell.table}.jsonl")


def _hybonet(command: list[str], folder: Path, threads: int, given: list[str], *, begun: bool) -> None:
    """The command ``hybonet`` in this process, since to start one takes longer than some trainings."""
    from hybonet.cli import app

    command = [*command, "--out", str(folder), "--threads", str(threads), *(["--resume"] if begun else given)]
    if code := app(command, prog_name="hybonet", standalone_mode=False):
        raise SystemExit(code)


def _each(option: str, *values: str) -> list[str]:
    return [part for value in values for part in (option, value)]


def _json(path: Path) -> Record:
    return json.loads(path.read_text(encoding="utf-8"))


def _number(text: str) -> str | float:
    """A field of a CSV file."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
