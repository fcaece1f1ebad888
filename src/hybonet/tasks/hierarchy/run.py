"""A hierarchy's run on disk: complete enough to measure and draw it again, movable to another machine.

Files: ``config.json``; ``edges.tsv`` (child, parent) and ``labels.tsv`` (the name of every row of the model);
``model.safetensors`` (``weight``: the best model's table); ``checkpoint.safetensors`` and ``history.jsonl`` of the
training; ``record.json``; ``disk.png``, ``disk.html`` and ``curves.png``, if pictures were asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from torch import Tensor

from hybonet.data import Hierarchy, load_hierarchy
from hybonet.geometry import Lorentz
from hybonet.tasks.hierarchy.task import HierarchySettings, HierarchyTask, measure
from hybonet.tasks.run_folder import (
    CONFIG,
    load_best,
    new_run,
    read_config,
    read_record,
    read_settings_as,
    write_json,
)
from hybonet.tasks.run_training import train_task
from hybonet.training import FitResult, Reporter

EDGES, LABELS = "edges.tsv", "labels.tsv"


@dataclass(frozen=True)
class HierarchyRun:
    """A finished run as read from disk; row i of ``points (nodes, dim)`` is the hierarchy's name i."""

    settings: HierarchySettings
    hierarchy: Hierarchy
    points: Tensor
    manifold: Lorentz
    record: dict[str, Any]


def start_run(
    folder: Path, settings: HierarchySettings, hierarchy: Hierarchy, *, overwrite: bool = False, **about: Any
) -> None:
    """Write what a training starts from into a new or empty folder, or over an earlier run: all of it or nothing.

    Example:
        >>> import tempfile
        >>> family = Hierarchy.from_edges([("dog", "pet"), ("cat", "pet")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     start_run(Path(folder) / "run", HierarchySettings(), family)
        ...     sorted(path.name for path in (Path(folder) / "run").iterdir())
        ['config.json', 'edges.tsv', 'labels.tsv']
    """
    task = HierarchyTask(settings, hierarchy)  # refuses what cannot be trained before anything is written
    names = hierarchy.names
    edges = [(names[child], names[parent]) for child, parent in hierarchy.edges.tolist()]
    origin = {"source": hierarchy.source, "sha256": hierarchy.sha256}
    with new_run(folder, overwrite=overwrite) as staging:
        _write_lines(staging / LABELS, names)
        _write_lines(staging / EDGES, ("\t".join(edge) for edge in [("child", "parent"), *edges]))
        content = {"task": task.name, **about, "settings": settings.model_dump(), "hierarchy": origin}
        write_json(staging / CONFIG, content)


def train_run(folder: Path, *, resume: bool, resume_command: str = "", reporter: Reporter | None = None) -> FitResult:
    """Train what the folder describes, and store the record of it.

    Example:
        >>> import tempfile
        >>> family = Hierarchy.from_edges([("dog", "pet"), ("cat", "pet")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     start_run(Path(folder) / "run", HierarchySettings(epochs=1), family)
        ...     result = train_run(Path(folder) / "run", resume=False)
        ...     read_record(Path(folder) / "run")["metrics"]
        {'mean_rank': 1.0, 'mean_average_precision': 1.0}
    """
    task = read_task(folder)
    return train_task(
        folder,
        task,
        lambda result: _measures(task, result),
        resume=resume,
        resume_command=resume_command,
        reporter=reporter,
    )


def _measures(task: HierarchyTask, result: FitResult) -> dict[str, Any]:
    at_start = asdict(measure(task.start(), task.hierarchy, task.manifold))
    return {"metrics": {name: result.best[name] for name in at_start}, "metrics_at_start": at_start}


def read_settings(folder: Path) -> HierarchySettings:
    """The settings of a run."""
    return read_settings_as(HierarchySettings, read_config(folder, HierarchyTask.name), folder)


def read_task(folder: Path) -> HierarchyTask:
    """The task of a run, started or finished; a ``ValueError`` says which file is missing or does not fit."""
    settings, origin = read_settings(folder), read_config(folder, HierarchyTask.name)["hierarchy"]
    for name in (EDGES, LABELS):
        if not (folder / name).is_file():
            raise ValueError(f"{folder}: expected {name} in the run, but it is missing; restore it or train again")
    hierarchy = load_hierarchy(folder / EDGES)
    labels = tuple((folder / LABELS).read_text(encoding="utf-8").removesuffix("\n").split("\n"))
    if labels != hierarchy.names:
        raise ValueError(
            f"{folder}: expected the {len(hierarchy)} names of {EDGES} in {LABELS}, got {len(labels)} labels; the "
            "files come from different runs, so train again"
        )
    return HierarchyTask(settings, replace(hierarchy, source=origin["source"], sha256=origin["sha256"]))


def read_run(folder: Path) -> HierarchyRun:
    """Read a finished run with its best points."""
    task = read_task(folder)
    model = load_best(folder, task.build_model())
    return HierarchyRun(task.settings, task.hierarchy, task.points(model), task.manifold, read_record(folder))


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
