"""A run on a graph, on disk: everything that predictions need, movable to another machine.

Files: ``config.json``; ``graph.safetensors`` and ``nodes.tsv`` (the graph); ``model.safetensors``;
``checkpoint.safetensors`` and ``history.jsonl`` of the training; ``record.json`` and, with matplotlib, ``curves.png``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from hybonet.data.graphs.graph_data import GraphData
from hybonet.tasks.graph.calibration import class_calibration, link_calibration
from hybonet.tasks.graph.data import read_graph, write_graph
from hybonet.tasks.graph.evaluation import held_out_pairs
from hybonet.tasks.graph.models.graph_model import GraphModel
from hybonet.tasks.graph.task import GraphLearningTask, GraphSettings
from hybonet.tasks.run_folder import (
    CONFIG,
    load_best,
    new_run,
    read_config,
    read_settings_as,
    refuse_saved_model,
    source_name,
    write_json,
)
from hybonet.tasks.run_training import CurvesPicture, train_task
from hybonet.training import FitResult, Reporter

#: What the axis of a picture, and a table, calls the figure that selects.
MONITORS = {"auc_ap": "validation (ROC AUC + AP)/2", "f1": "validation F1"}


def start_run(
    folder: Path, settings: GraphSettings, graph: GraphData, *, overwrite: bool = False, **about: Any
) -> None:
    """Write what a training starts from into a new or empty folder, or over an earlier run: all of it or nothing.

    Example:
        >>> import tempfile
        >>> from hybonet.data import load_graph
        >>> folder = Path(tempfile.mkdtemp()) / "run"
        >>> start_run(folder, GraphSettings(), load_graph("disease-small"))
        >>> sorted(path.name for path in folder.iterdir())
        ['config.json', 'graph.safetensors', 'nodes.tsv']
    """
    task = GraphLearningTask(settings, graph)  # refuses what cannot be trained before anything is written
    task.build_model()
    with new_run(folder, overwrite=overwrite) as staging:
        kept = write_graph(staging, graph)
        write_json(staging / CONFIG, {"task": task.name, **about, "settings": settings.model_dump(), "graph": kept})


def train_run(folder: Path, *, resume: bool, resume_command: str = "", reporter: Reporter | None = None) -> FitResult:
    """Train what the folder describes, and store the record of it, test metrics included."""
    task = read_task(folder)
    return train_task(
        folder,
        task,
        lambda result: _measures(task, result),
        resume=resume,
        resume_command=resume_command,
        reporter=reporter,
        curves=CurvesPicture(f"Training on {source_name(task.graph.source)}", MONITORS[task.monitor]),
    )


def _measures(task: GraphLearningTask, result: FitResult) -> dict[str, Any]:
    assert isinstance(result.model, GraphModel)
    test = task.measure(result.model, "test")["test"]
    return {"valid": result.best, "test": test, "calibration": calibration(task, result.model)}


@torch.no_grad()
def calibration(task: GraphLearningTask, model: GraphModel) -> dict[str, float]:
    """What turns the model's distances or scores into probabilities, by the validation data."""
    z = task.points(model)
    if task.links is not None:
        pairs = held_out_pairs(task.links, "valid")
        return link_calibration(*(model.squared_distance(z, part.to(z.device)) for part in pairs))
    assert task.node_split is not None
    assert task.graph.labels is not None
    nodes = task.node_split.valid
    return class_calibration(model.class_logits(z[nodes.to(z.device)]), task.graph.labels[nodes])


def read_settings(folder: Path) -> GraphSettings:
    """The settings of a run."""
    config = _read_config(folder)
    refuse_saved_model(config, folder)
    return read_settings_as(GraphSettings, config, folder)


def read_task(folder: Path) -> GraphLearningTask:
    """The task of a run or of a saved model, started or finished."""
    config = _read_config(folder)
    return GraphLearningTask(read_settings_as(GraphSettings, config, folder), read_graph(folder, config["graph"]))


def read_model(folder: Path, task: GraphLearningTask) -> GraphModel:
    """The best model of a run, or a saved model."""
    return load_best(folder, task.build_model())


def _read_config(folder: Path) -> dict[str, Any]:
    config = read_config(folder, GraphLearningTask.name)
    if not isinstance(config.get("settings"), dict) or not isinstance(config.get("graph"), dict):
        raise ValueError(
            f"{folder / CONFIG}: expected the settings and the graph of a run, found something else; give a folder "
            "made by hybonet train graph"
        )
    return config
