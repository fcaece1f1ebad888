"""How often a training ends in numbers that are none: a grid of 128 link-prediction settings for each model.

    python scripts/graph_stability.py --json docs/results/records/graph-stability.json

The paper reports that 89 of 128 such trainings of LGCN end in NaN, and none of HyboNet's. Its grid is not published;
this one has learning rates, depths, widths, dropout, scale of the features and losses, from careful to reckless. Every
setting is trained some epochs by the one loop, which raises as soon as a loss is not finite.
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from hybonet.data import load_network
from hybonet.tasks.graph.task import GraphLearningTask, GraphSettings
from hybonet.tasks.provenance import provenance
from hybonet.training import Trainer, TrainingDiverged

GRID: dict[str, tuple[Any, ...]] = {
    "lr": (0.005, 0.02, 0.1, 0.5),
    "layers": (2, 6),
    "dim": (16, 64),
    "dropout": (0.0, 0.5),
    "loss": ("cross_entropy", "margin"),
}
#: What features are multiplied with: rows of Disease are of length 3 or so, and some graphs' are a hundred times that.
FEATURES = (1.0, 100.0)


def settings_of(model: str, epochs: int) -> list[GraphSettings]:
    """The grid of one model but for the features."""
    return [
        GraphSettings(model=model, epochs=epochs, validate_every=epochs, **dict(zip(GRID, values, strict=True)))
        for values in itertools.product(*GRID.values())
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--data", default="disease_lp")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--models", nargs="*", default=["hybonet", "LGCN"])
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    graph = load_network(arguments.data)
    assert graph.features is not None
    record: dict[str, Any] = {
        "data": {"source": graph.source, "sha256": dict(graph.sha256)},
        "grid": {**GRID, "features": FEATURES},
        "epochs": arguments.epochs,
        "rows": [],
        **provenance(),
    }
    for model in arguments.models:
        trained, failed = 0, list[dict[str, Any]]()
        for factor in FEATURES:
            scaled = replace(graph, features=graph.features.to_dense() * factor)
            for settings in settings_of(model, arguments.epochs):
                trained += 1
                try:
                    with tempfile.TemporaryDirectory() as folder:
                        Trainer(GraphLearningTask(settings, scaled), Path(folder)).fit()
                except TrainingDiverged as error:
                    changed = {name: getattr(settings, name) for name in GRID}
                    failed.append({**changed, "features": factor, "reason": str(error)})
        record["rows"].append({"model": model, "trained": trained, "not_finite": len(failed), "failures": failed})
        print(f"{model}: {len(failed)} of {trained} trainings ended in numbers that are none", flush=True)
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
