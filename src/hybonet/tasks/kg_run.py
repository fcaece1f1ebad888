"""A knowledge-graph run on disk: everything that predictions need, movable to another machine.

Files: ``config.json``; ``graph.safetensors`` (the triples) and ``entities.tsv``, ``relations.tsv`` (label, name,
description); ``model.safetensors``; ``checkpoint.safetensors`` and ``history.jsonl`` of the training; ``record.json``
and, with matplotlib, ``curves.png``; ``teacher.safetensors`` if it learns from trained models: what they answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from hybonet.data.triples import SPLITS, TripleData
from hybonet.data.vocabulary import Vocabulary
from hybonet.models import TripleModel, TripleScorer
from hybonet.reporting.charts import draw_curves
from hybonet.tasks.kg_teacher import TeacherAnswers, ask_teachers
from hybonet.tasks.knowledge_graph import KnowledgeGraphSettings, KnowledgeGraphTask, check_teachable, evaluate
from hybonet.tasks.run_folder import (
    CONFIG,
    CURVES,
    load_best,
    new_run,
    read_config,
    read_record,
    read_settings_as,
    source_name,
    write_json,
    write_record,
)
from hybonet.training import FitResult, Reporter, Trainer
from hybonet.training.checkpoint import read_tensors, write_tensors
from hybonet.training.loop import BEST
from hybonet.training.processes import joined_processes

GRAPH, ENTITIES, RELATIONS, TEACHER = "graph.safetensors", "entities.tsv", "relations.tsv", "teacher.safetensors"


def start_run(
    folder: Path,
    settings: KnowledgeGraphSettings,
    data: TripleData,
    *,
    overwrite: bool = False,
    teachers: Sequence[Path] = (),
    advance: Callable[[int, int], None] = lambda done, total: None,
    **about: Any,
) -> None:
    """Write what a training starts from into a new or empty folder, or over an earlier run: all of it or nothing.

    Args:
        teachers: runs on the same graph to learn from. They are asked here, once, which may take minutes.
        advance: told how many of how many questions the teachers have answered.
    """
    task = KnowledgeGraphTask(settings, data)  # refuses what cannot be trained before anything is written
    models = read_teachers(teachers, settings, data)
    if models:
        about["teachers"] = [describe_teacher(run) for run in teachers]
    with new_run(folder, overwrite=overwrite) as staging:
        if models:
            sharpness = settings.teacher_sharpness * task.sharpness
            answers = ask_teachers(models, data, sharpness=sharpness, answers=settings.teacher_answers, advance=advance)
            answers.save(staging / TEACHER)
        graph = write_graph(staging, data)
        content = {"task": task.name, **about, "settings": settings.model_dump(), "graph": graph}
        write_json(staging / CONFIG, content)


def write_graph(folder: Path, data: TripleData) -> dict[str, Any]:
    """Write a graph's triples and labels, and return what the configuration says about it."""
    write_tensors(folder / GRAPH, {split: data.triples(split).contiguous() for split in SPLITS})
    for name, vocabulary in ((ENTITIES, data.entities), (RELATIONS, data.relations)):
        _write_vocabulary(folder / name, vocabulary)
    return {"source": data.source, "sha256": dict(data.sha256), "notes": data.notes, "warnings": data.warnings}


def train_run(folder: Path, *, resume: bool, resume_command: str = "", reporter: Reporter | None = None) -> FitResult:
    """Train what the folder describes, and store the record of it, test metrics included."""
    teacher = TeacherAnswers.load(folder / TEACHER) if (folder / TEACHER).exists() else None
    task = KnowledgeGraphTask(read_settings(folder), read_graph(folder), teacher)
    with joined_processes(task.settings.device) as processes:
        result = Trainer(task, folder, resume_command=resume_command, reporter=reporter).fit(resume=resume)
        if processes.is_main:
            measures: dict[str, Any] = {"valid": result.best}
            if len(task.data.test):
                measures["test"] = evaluate(result.model, task.data, "test")
                released = evaluate(result.model, task.data, "test", protocol="released")
                measures["test_released_protocol"] = released["both"]
            if teacher is not None:
                measures["teachers"] = _read_config(folder)["teachers"]
            write_record(folder, task, result, **measures)
            if find_spec("matplotlib"):
                title = f"Training on {source_name(task.data.source)}"
                draw_curves(result.history, task.monitor, folder / CURVES, title=title, label="validation MRR")
    return result


def read_teachers(runs: Sequence[Path], settings: KnowledgeGraphSettings, data: TripleData) -> list[TripleModel]:
    """The best models of runs to learn from, if they know this very graph and the settings have a place for them."""
    if not runs:
        fields = KnowledgeGraphSettings.model_fields
        for name in ("teacher_share", "teacher_answers", "teacher_sharpness"):
            if getattr(settings, name) != fields[name].default:
                raise ValueError(
                    f"expected --teacher RUN with {name}={getattr(settings, name)}; give one, or leave it out"
                )
        return []
    check_teachable(settings)
    models = []
    for run in runs:
        graph = read_graph(run)
        # One that was trained on other triples may have seen those that are held out here.
        if not all(torch.equal(graph.triples(split), data.triples(split)) for split in SPLITS):
            raise ValueError(
                f"expected a teacher that was trained on the same graph with the same split, but {str(run)!r} was "
                f"trained on another ({graph.source}); train one on this graph"
            )
        models.append(read_model(run, graph).eval())
    return models


def describe_teacher(run: Path) -> dict[str, Any]:
    """What a run's record says of a teacher: its model file's checksum and its validation MRR."""
    record = read_record(run)
    checksum = hashlib.sha256((run / BEST).read_bytes()).hexdigest()
    return {"run": run.name, "sha256": checksum, "commit": record.get("commit"), "valid_mrr": record["valid"]["mrr"]}


def read_settings(folder: Path) -> KnowledgeGraphSettings:
    """The settings of a run."""
    config = _read_config(folder)
    if "model" in config:
        raise ValueError(
            f"expected a run to go on with, but {str(folder)!r} holds a model saved for use, without the state of its "
            "training; start a new run"
        )
    return read_settings_as(KnowledgeGraphSettings, config, folder)


def read_graph(folder: Path) -> TripleData:
    """The graph of a run, splits and names included."""
    about = _read_config(folder)["graph"]
    tensors = read_tensors(folder / GRAPH)
    missing = [split for split in SPLITS if split not in tensors]
    if missing:
        raise ValueError(f"{folder / GRAPH}: expected triples for {missing[0]}, found none; restore it or train again")
    entities = _read_vocabulary(folder / ENTITIES, "entity")
    relations = _read_vocabulary(folder / RELATIONS, "relation")
    try:
        return TripleData(
            entities,
            relations,
            tensors["train"],
            tensors["valid"],
            tensors["test"],
            source=about["source"],
            sha256=about["sha256"],
            notes=tuple(about["notes"]),
            warnings=tuple(about["warnings"]),
        )
    except ValueError as error:
        raise ValueError(
            f"{folder}: {GRAPH} does not fit {ENTITIES} and {RELATIONS} ({str(error).split(';')[0]}); restore them or "
            "train again"
        ) from None


def read_model(folder: Path, data: TripleData) -> TripleModel:
    """The best model of a run, or a saved model."""
    config = _read_config(folder)
    if "model" not in config:
        return load_best(folder, KnowledgeGraphTask(read_settings(folder), data).build_model())
    try:
        model = TripleScorer.from_config(config["model"])
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{folder / CONFIG}: expected the settings of a TripleScorer under model, but {error}; restore the file"
        ) from None
    return load_best(folder, model)


def _read_config(folder: Path) -> dict[str, Any]:
    config = read_config(folder, KnowledgeGraphTask.name)
    graph, about = config.get("graph"), config.get("model", config.get("settings"))
    if not isinstance(about, dict) or not isinstance(graph, dict) or not {"source", "sha256"} <= graph.keys():
        raise ValueError(
            f"{folder / CONFIG}: expected the settings and the graph of a knowledge-graph run, found something else; "
            "give a folder made by hybonet train kg"
        )
    return config


def _write_vocabulary(path: Path, vocabulary: Vocabulary) -> None:
    lines = ["label\tname\tdescription"]
    for number, label in enumerate(vocabulary):
        lines.append("\t".join((label, vocabulary.name(number), vocabulary.description(number))))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _read_vocabulary(path: Path, kind: str) -> Vocabulary:
    try:
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n")[1:-1]]
        odd = next((number for number, row in enumerate(rows, 2) if len(row) != 3), None)
        if odd is not None or not rows:
            raise ValueError(f"line {odd or 2} is not one")
        labels, names, descriptions = zip(*rows, strict=True)
        return Vocabulary(labels, names, descriptions, kind=kind)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{path}: expected a label, a name and a description a line, but {str(error).split(';')[0]}; restore it "
            "or train again"
        ) from None
