"""Run the experiments behind the results pages, and store the record of each as soon as it exists.

    python scripts/reproduce.py --list
    python scripts/reproduce.py umls nations 'ablation-*'
    python scripts/results_page.py

An experiment is a training by `hybonet train TASK` (or `hybonet probe`) for each of its seeds. What has a record is not
run again; what was interrupted goes on from its checkpoint.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
from dataclasses import dataclass
from pathlib import Path

import graph_cells
import kg_cells
import probe_cells
import searched
import searches
import translation_cells
from hybonet.tasks.run_folder import without_examples, write_json
from in_process import hybonet
from stored_records import RECORDS

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Experiment:
    """Trainings that differ in the seed."""

    data: str
    recipe: str = "default"
    seeds: int = 1
    changes: tuple[str, ...] = ()
    about: str = ""
    #: Runs of other experiments to learn from, which must be there.
    teachers: tuple[str, ...] = ()
    #: As in ``hybonet train TASK``, and its options beside data and settings.
    task: str = "kg"
    options: tuple[str, ...] = ()
    #: What is probed: a run of another experiment, which must be there.
    encoder: str = ""

    def record(self, name: str, seed: int) -> Path:
        """Where the record of one training lies."""
        return RECORDS / self.task / f"{name}-seed{seed}.json"


#: One ingredient of the training changed at a time.
ABLATIONS = {
    "full": (),
    "riemannian": ("optimizer=riemannian",),
    "bce": ("loss=bce", "candidates=own", "negatives=50", "label_smoothing=0"),
    "self-adversarial": ("loss=self_adversarial", "candidates=own", "negatives=50", "label_smoothing=0"),
    "own": ("candidates=own", "negatives=50"),
    "pool": ("candidates=pool", "negatives=500"),
    "bernoulli": ("bernoulli=true",),
    "filtered": ("filter_negatives=true",),
    "no-smoothing": ("label_smoothing=0",),
    "no-dropout": ("dropout=0",),
    "l2": ("regularizer=l2", "regularization=0.001"),
    "n3": ("regularizer=n3", "regularization=0.001"),
    "curvature": ("learn_curvature=true",),
    "no-max-norm": ("max_norm=none",),
    "no-loop-bias": ("loop_bias=false",),
    "constant-rate": ("schedule.kind=constant",),
    "sharpness": ("sharpness=0.7", "symmetric_sharpness=1.5"),
    "tied": ("tie_symmetric=true",),
    "tangent": ("model=hybonet-tangent",),
    "both-readings": ("other_reading=0.4", "reading_power=0.75"),
}

#: The recipe wn18rr-32 cut to 15 epochs, questions answered by one reading, one thing changed at a time.
SHORT = {
    "recipe": (),
    "sharpness-0.7": ("symmetric_sharpness=none",),
    "sharpness-1": ("sharpness=1", "symmetric_sharpness=none"),
    "sharpness-1.5": ("sharpness=1.5", "symmetric_sharpness=none"),
    "untied": ("tie_symmetric=false",),
    "wide-start": ("init_std=none",),
    "8000-candidates": ("negatives=8000",),
    "filtered": ("filter_negatives=true",),
    "l2": ("regularizer=l2", "regularization=0.02"),
    "sparse": ("sparse_updates=true",),
    "bce": ("loss=bce", "candidates=own", "negatives=50", "label_smoothing=0"),
    "riemannian": ("optimizer=riemannian",),
}

EXPERIMENTS = {
    "umls": Experiment("UMLS", seeds=5, about="two minutes in all"),
    "nations": Experiment("Nations", seeds=5, about="a minute in all"),
    "umls-without-loop-bias": Experiment("UMLS", seeds=5, changes=("loop_bias=false",), about="two minutes in all"),
    "nations-without-loop-bias": Experiment("Nations", seeds=5, changes=("loop_bias=false",), about="a minute in all"),
    "wn18rr-32": Experiment("WN18RR", "wn18rr-32", seeds=3, about="a quarter of an hour each on one core"),
    "wn18rr-32-taught": Experiment(
        "WN18RR",
        "wn18rr-32-taught",
        seeds=3,
        teachers=("wn18rr-32-seed0", "wn18rr-32-seed1", "wn18rr-32-seed2"),
        about="a quarter of an hour each on one core, after wn18rr-32",
    ),
    "wn18rr-500": Experiment(
        "WN18RR", "wn18rr-500", changes=searched.chosen("wn18rr-500"), about="twenty minutes on one core"
    ),
    "fb15k237-32": Experiment("FB15k-237", "fb15k237-32", seeds=3, about="a quarter of an hour each on one core"),
    "wordnet": Experiment("wordnet", seeds=3, about="the graph inside the package; five minutes in all"),
    "paper-wn18rr-32": Experiment("WN18RR", "paper-wn18rr-32", changes=("minutes=180",), about="up to three hours"),
    "paper-fb15k237-32": Experiment("FB15k-237", "paper-fb15k237-32", changes=("minutes=180",), about="likewise"),
}
for _name, _cell, _changes in kg_cells.trainings():
    EXPERIMENTS[_name] = Experiment(_cell.data, _cell.recipe, _cell.seeds, _changes, _cell.about)
for _name, _changes in SHORT.items():
    _changes = ("epochs=15", "validate_every=15", "other_reading=0", *_changes)
    EXPERIMENTS[f"short-{_name}"] = Experiment(
        "WN18RR", "wn18rr-32", changes=_changes, about="three minutes on one core"
    )
for _name, _changes in ABLATIONS.items():
    EXPERIMENTS[f"ablation-{_name}"] = Experiment("wordnet", changes=_changes, about="a minute or two")
for _cell, (_data, _recipe) in graph_cells.CELLS.items():
    for _name, _changes, _seeds in graph_cells.systems(_cell):
        for _protocol in graph_cells.protocols(_cell):
            EXPERIMENTS[f"{_cell}-{_name}-{_protocol}"] = Experiment(
                _data, _recipe, _seeds, (*_changes, f"protocol={_protocol}"), "seconds to a minute each", task="graph"
            )
for _cell in graph_cells.PAPER_CELLS:
    EXPERIMENTS[f"{_cell}-{graph_cells.PAPER}-released"] = Experiment(
        graph_cells.CELLS[_cell][0], f"paper-{_cell}", 10, about="half a minute to two minutes each", task="graph"
    )
for _name, _data, _recipe, _seeds, _changes, _options, _about in translation_cells.trainings():
    EXPERIMENTS[_name] = Experiment(_data, _recipe, _seeds, _changes, _about, task="translation", options=_options)
for _name, _data, _recipe, _seeds, _changes, _encoder, _about in probe_cells.probings():
    EXPERIMENTS[_name] = Experiment(_data, _recipe, _seeds, _changes, _about, task="probe", encoder=_encoder)
for _model in searches.TYPING_MODELS:
    _name = f"typing-{_model.lower()}"
    _changes = (f"model={_model}", f"epochs={searches.TYPING_EPOCHS}", *searched.chosen(_name))
    EXPERIMENTS[_name] = Experiment("ufet", "typing", 5, _changes, "a minute or two each on one core", task="typing")
EXPERIMENTS["typing-paper-settings"] = Experiment("ufet", "paper-typing", about="a quarter of an hour", task="typing")
EXPERIMENTS["typing-little-town"] = Experiment(
    "little-town", "typing-tutorial", 3, about="the mentions inside the package; a minute", task="typing"
)


def train(name: str, seed: int, runs: Path, threads: int) -> None:
    """One training, or the rest of one."""
    experiment = EXPERIMENTS[name]
    target = experiment.record(name, seed)
    if target.exists():
        print(f"{target.name}: there already")
        return
    out = runs / f"{name}-seed{seed}"
    verb = ["probe"] if experiment.encoder else ["train", experiment.task]
    command = [*verb, "--out", str(out), "--threads", str(threads)]
    if (out / "config.json").exists():
        command.append("--resume")
    else:
        given = [str(runs / experiment.encoder), "--trees"] if experiment.encoder else ["--data"]
        command += [*given, experiment.data, "--recipe", experiment.recipe, *experiment.options]
        for change in (*experiment.changes, f"seed={seed}"):
            command += ["--set", change]
        for teacher in experiment.teachers:
            command += ["--teacher", str(runs / teacher)]
    hybonet(command)
    target.parent.mkdir(parents=True, exist_ok=True)
    store(out / "record.json", target)
    if experiment.encoder:
        (out / "states.safetensors").unlink()  # large, and of no use once training is done
    print(f"stored {target.relative_to(ROOT)}")


def store(record: Path, target: Path) -> None:
    """Copy a record, without the sentences of a corpus that it may quote."""
    write_json(target, without_examples(json.loads(record.read_text(encoding="utf-8"))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="experiments, * for any; all by default")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs/reproduce", help="where the trainings lie")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--seeds", type=int, nargs="*", metavar="SEED", help="these only; all of an experiment by default"
    )
    parser.add_argument("--list", action="store_true", help="name the experiments and leave")
    arguments = parser.parse_args()
    chosen: list[str] = []
    for pattern in arguments.names or ["*"]:
        found = fnmatch.filter(EXPERIMENTS, pattern)
        if not found:
            parser.error(f"no experiment is called {pattern!r}; known: {', '.join(EXPERIMENTS)}")
        chosen += found
    for name in chosen:
        experiment = EXPERIMENTS[name]
        if arguments.list:
            stored = len(list((RECORDS / experiment.task).glob(f"{name}-seed*.json")))
            progress = f"{stored}/{experiment.seeds} stored"
            print(f"{name}: {experiment.data}, {experiment.recipe}, {progress}; {experiment.about}")
            continue
        for seed in arguments.seeds or range(experiment.seeds):
            train(name, seed, arguments.runs, arguments.threads)


if __name__ == "__main__":
    main()
