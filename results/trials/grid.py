"""How often a training ends in numbers that are none: a grid of 128 link-prediction settings for each model.

The paper reports that 89 of 128 such trainings of LGCN end in NaN, and none of HyboNet's. Its grid is not published;
this one has learning rates, depths, widths, dropout, scale of the features and losses, from careful to reckless. Every
setting is trained some epochs by the one loop, which raises as soon as a loss is not finite.
"""

from __future__ import annotations

import itertools
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from hybonet.data import load_graph
from hybonet.tasks.graph.task import GraphLearningTask, GraphSettings
from hybonet.tasks.provenance import provenance
from hybonet.training import Trainer, TrainingDiverged
from results.store import Record

GRID: dict[str, tuple[Any, ...]] = {
    "lr": (0.005, 0.02, 0.1, 0.5),
    "layers": (2, 6),
    "dim": (16, 64),
    "dropout": (0.0, 0.5),
    "loss": ("cross_entropy", "margin"),
}
#: What features are multiplied with: rows of Disease are of length 3 or so, and some graphs' are a hundred times that.
FEATURES = (1.0, 100.0)
MODELS = ("hybonet", "LGCN")
EPOCHS = 30


def trial(threads: int) -> Record:
    """Every setting for each model, and those that failed."""
    torch.set_num_threads(threads)
    graph = load_graph("disease_lp")
    assert graph.features is not None
    rows = []
    for model in MODELS:
        trained, failed = 0, []
        for factor in FEATURES:
            scaled = replace(graph, features=graph.features.to_dense() * factor)
            for values in itertools.product(*GRID.values()):
                changed = dict(zip(GRID, values, strict=True))
                settings = GraphSettings(model=model, epochs=EPOCHS, validate_every=EPOCHS, **changed)
                trained += 1
                try:
                    with tempfile.TemporaryDirectory() as folder:
                        Trainer(GraphLearningTask(settings, scaled), Path(folder)).fit()
                except TrainingDiverged as error:
                    failed.append({**changed, "features": factor, "reason": str(error)})
        rows.append({"model": model, "trained": trained, "not_finite": len(failed), "failures": failed})
        print(f"{model}: {len(failed)} of {trained} trainings ended in numbers that are none", flush=True)
    return {
        "task": "graph_grid",
        "data": {"source": graph.source, "sha256": dict(graph.sha256)},
        "grid": {**GRID, "features": FEATURES},
        "epochs": EPOCHS,
        "rows": rows,
        **provenance(),
    }
