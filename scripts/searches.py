"""Search the settings of the systems that are compared, each with the same number of trials.

    python scripts/searches.py --list
    python scripts/searches.py 'cora-nc-*' 'typing-*' 'umls-*'

A search is one `hybonet tune`, on validation figures alone. What it found is stored in docs/results/records/searches,
and scripts/reproduce.py trains with it. What is stored is not searched again; what was interrupted goes on.
"""

from __future__ import annotations

import argparse
import csv
import fnmatch
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import graph_cells
import kg_cells
from in_process import hybonet
from searched import STORED

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Search:
    """One system on one set of data."""

    task: str
    data: str
    recipe: str
    changes: tuple[str, ...]
    ranges: tuple[str, ...]
    trials: int
    #: Search these ranges alone, not those of the recipe.
    own_ranges: bool = False


#: What is searched for every system on graphs.
GRAPH_RANGES = (
    "lr=0.002:0.05:log",
    "weight_decay=0,0.0001,0.001,0.01",
    "dropout=0:0.7",
    "layers=1,2,3",
    "loss=cross_entropy,margin",
    "margin=0.1:30:log",
    "input_radius=none,1,3",
)
#: What is searched for every system of entity typing; for the others also how long word vectors are, which a scale
#: inside HyboNet makes up for.
TYPING_RANGES = (
    "lr=0.001:0.02:log",
    "positive_weight=1:8:log",
    "word_dropout=0:0.4",
    "merge_dropout=0:0.5",
    "dropout=0:0.4",
)
#: At one length for all.
TYPING_EPOCHS = 12
TYPING_MODELS = ("hybonet", "hybonet-tangent", "MultiTask", "LabelGCN", "HY")
GRAPH_TRIALS, TYPING_TRIALS = 8, 6

SEARCHES: dict[str, Search] = {}
for _cell, (_data, _recipe) in graph_cells.CELLS.items():
    if _cell != graph_cells.searched_as(_cell):
        continue
    for _name, _changes, _ in graph_cells.systems(_cell, searched_too=False):
        if _name != "hybonet":
            _fixed = (*_changes, "protocol=released", "scale=10", "epochs=600", "patience=20")
            SEARCHES[f"{_cell}-{_name}"] = Search("graph", _data, _recipe, _fixed, GRAPH_RANGES, GRAPH_TRIALS)
for _model in TYPING_MODELS:
    _fixed = (f"model={_model}", f"epochs={TYPING_EPOCHS}", "dim=64", "batch_size=50", "attention_dropout=0.2")
    _ranges = TYPING_RANGES if _model == "hybonet" else (*TYPING_RANGES, "word_radius=0.5:8:log")
    if _model == "hybonet-tangent":
        # Its maps shrink what they are given: from words near the origin it hardly learns in the time.
        _fixed += ("word_radius=12", "positive_weight=6")
        _ranges = (*TYPING_RANGES, "word_radius=4:24:log")
    SEARCHES[f"typing-{_model.lower()}"] = Search("typing", "ufet", "typing", _fixed, _ranges, TYPING_TRIALS)
for _name, _graph, _fixed in kg_cells.searches():
    _ranges = (f"lr={','.join(map(str, _graph.rates))}",)
    SEARCHES[_name] = Search("kg", _graph.data, _graph.recipe, _fixed, _ranges, len(_graph.rates), own_ranges=True)
_LARGE_RATES, _LARGE_TRIALS = (0.003, 0.01, 0.03), ("epochs=3", "validate_every=3")
SEARCHES["wn18rr-500"] = Search(
    "kg", "WN18RR", "wn18rr-500", _LARGE_TRIALS, (f"lr={','.join(map(str, _LARGE_RATES))}",), len(_LARGE_RATES), True
)


def run(name: str, runs: Path, threads: int) -> None:
    """One search, or the rest of one, and its record."""
    target = STORED / f"{name}.json"
    if target.exists():
        print(f"{target.name}: there already")
        return
    search, out = SEARCHES[name], runs / f"search-{name}"
    command = ["tune", search.task, "--out", str(out), "--threads", str(threads)]
    if (out / "search.json").exists():
        command.append("--resume")
    else:
        command += ["--data", search.data, "--recipe", search.recipe, "--trials", str(search.trials)]
        for change in search.changes:
            command += ["--set", change]
        for each in search.ranges:
            command += ["--range", each]
        command += ["--own-ranges"] if search.own_ranges else []
    hybonet(command)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(record(out), indent=1) + "\n", encoding="utf-8")
    print(f"stored {target.relative_to(ROOT)}")


def record(out: Path) -> dict[str, Any]:
    """What a search was, and all of its trials."""
    described: dict[str, Any] = json.loads((out / "search.json").read_text(encoding="utf-8"))
    with (out / "trials.csv").open(encoding="utf-8", newline="") as lines:
        trials = list(csv.DictReader(lines))
    best: dict[str, Any] = json.loads((out / "best.json").read_text(encoding="utf-8"))
    return described | {"results": trials, "best": {name: best[name] for name in described["ranges"]}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="searches, * for any; all by default")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs/searches", help="where the trials lie")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="name the searches and leave")
    arguments = parser.parse_args()
    chosen = [name for name in SEARCHES if any(fnmatch.fnmatch(name, each) for each in arguments.names or ["*"])]
    if not chosen:
        parser.error(f"no search is called {' or '.join(arguments.names)}; known: {', '.join(SEARCHES)}")
    for name in chosen:
        if arguments.list:
            stored = "stored" if (STORED / f"{name}.json").exists() else "not run yet"
            print(f"{name}: {SEARCHES[name].trials} trials, {stored}")
        else:
            run(name, arguments.runs, arguments.threads)


if __name__ == "__main__":
    main()
