"""A search on disk: what is searched (``search.json``), every trial (``trials.csv``), and the best (``best.json``).

Beside them lie ``journal.log``, which the search goes on from, and ``trials/NUMBER/history.jsonl``, the curve of each
trial.
"""

from __future__ import annotations

import csv
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hybonet.files import flat, write_atomically
from hybonet.tasks.new_folder import new_folder
from hybonet.tasks.provenance import provenance
from hybonet.tasks.run import renewed
from hybonet.tasks.run_folder import check_target, read_json, write_json
from hybonet.training import LoopSettings, Task
from hybonet.training.ranges import Range, as_text, with_values
from hybonet.tuning.progress import best_of
from hybonet.tuning.study import TrialResult

SEARCH, TRIALS, BEST_SETTINGS, PICTURE = "search.json", "trials.csv", "best.json", "tune.png"
_SHOWN_DIFFERENCES = 3


def describe_search(
    task: Task, ranges: Mapping[str, Range], *, seed: int, recipe: str, options: Mapping[str, Any], trials: int
) -> dict[str, Any]:
    """What makes a search this one, ready for JSON; ``options`` are those of the command, to go on without them."""
    return {
        **task.describe(),
        "monitor": task.monitor,
        "recipe": recipe,
        "settings": task.settings.model_dump(),
        "ranges": {name: str(each) for name, each in ranges.items()},
        "seed": seed,
        "trials": trials,
        "options": dict(options),
        **provenance(),
    }


def prepare_folder(folder: Path, search: dict[str, Any], *, resume: bool) -> None:
    """Make the folder of a new search, or check that it holds this one; a ``ValueError`` says what differs."""
    if not (folder / SEARCH).is_file():
        with new_folder(folder, lambda: check_target(folder), last=SEARCH) as staging:
            write_json(staging / SEARCH, search)
        return
    earlier = read_search(folder)
    again = resume_command(folder, earlier["task"])
    differing = differences(earlier, search)
    if differing:
        more = len(differing) - _SHOWN_DIFFERENCES
        listed = "; ".join(differing[:_SHOWN_DIFFERENCES]) + (f"; and {more} more" if more > 0 else "")
        raise ValueError(
            f"expected the search that {str(folder)!r} holds, but these differ: {listed}; choose another --out, or go "
            f"on with that search: {again}"
        )
    if not resume:
        raise ValueError(f"{str(folder)!r} holds this search already; go on with {again}, or choose another --out")


def resume_command(folder: Path, task: str, trials: int | None = None) -> str:
    """What a person types to go on with a search, perhaps to more trials than it was begun with."""
    more = "" if trials is None else f" --trials {trials}"
    return f"hybonet tune {task} --out {shlex.quote(str(folder))} --resume{more}"


def read_search(folder: Path, task: str | None = None) -> dict[str, Any]:
    """What ``search.json`` says; a ``ValueError`` if there is none, or one of another task."""
    if not (folder / SEARCH).is_file():
        raise ValueError(
            f"expected a search in {str(folder)!r}, but {SEARCH} is missing; start one without --resume, or give a "
            "folder made by hybonet tune"
        )
    search = renewed(read_json(folder, SEARCH))
    missing = {"task", "data", "recipe", "settings", "ranges", "seed", "trials", "options"} - search.keys()
    if missing:
        raise ValueError(
            f"{folder / SEARCH}: expected {min(missing)!r} in it, found none; restore the file, or search in a new "
            "folder"
        )
    if task not in (None, search["task"]):
        raise ValueError(
            f"expected a search of hybonet tune {task} in {str(folder)!r}, but it was made by hybonet tune "
            f"{search['task']}; give another folder"
        )
    return search


def differences(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What makes two searches different ones, in words.

    Example:
        >>> data = {"source": "facts.tsv", "sha256": {"facts.tsv": "01"}}
        >>> one = {"task": "kg", "data": data, "recipe": "default", "settings": {"dim": 32}, "ranges": {}, "seed": 0}
        >>> differences(one, {**one, "settings": {"dim": 64}, "ranges": {"lr": "0.1:1"}})
        ['dim (32 there, 64 now)', 'range of lr (none there, 0.1:1 now)']
    """
    found = []
    for key in ("task", "recipe", "seed"):
        if earlier[key] != now[key]:
            found.append(f"{key} ({earlier[key]} there, {now[key]} now)")
    if earlier["data"] != now["data"]:
        names = earlier["data"]["source"], now["data"]["source"]
        what = f"{names[0]} there, {names[1]} now" if names[0] != names[1] else f"{names[0]} has changed"
        found.append(f"data ({what})")
    if earlier["recipe"] == now["recipe"]:  # else all that follows differs as well
        found += _differing("", dict(flat(earlier["settings"])), dict(flat(now["settings"])))
        found += _differing("range of ", earlier["ranges"], now["ranges"])
    return found


def _differing(prefix: str, there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    names = [*there, *(name for name in here if name not in there)]
    values = {name: (there.get(name), here.get(name)) for name in names}
    return [f"{prefix}{name} ({as_text(a)} there, {as_text(b)} now)" for name, (a, b) in values.items() if a != b]


def write_results(
    folder: Path, results: Sequence[TrialResult], settings: LoopSettings, monitor: str, *, higher_is_better: bool
) -> None:
    """Write ``trials.csv`` and, once a trial has finished, ``best.json``: settings for ``hybonet train --recipe``."""
    rows = result_rows(results, monitor)

    def write_table(target: Path) -> None:
        with open(target, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    if rows:
        write_atomically(folder / TRIALS, write_table)
    best = best_of(results, higher_is_better=higher_is_better)
    if best is not None:
        write_json(folder / BEST_SETTINGS, with_values(settings, best.values).model_dump())


def result_rows(results: Sequence[TrialResult], monitor: str) -> list[dict[str, Any]]:
    """Trials as rows of a table, every row with the same columns."""
    return [
        {
            "trial": each.number,
            "state": each.state,
            monitor: each.figure,
            "best_epoch": each.best_epoch,
            "trained_epochs": each.epochs,
            "seconds": each.seconds,
            **{name: as_text(value) for name, value in each.values.items()},
            "reason": each.reason,
        }
        for each in results
    ]
