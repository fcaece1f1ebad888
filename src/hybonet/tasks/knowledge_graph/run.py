"""A knowledge-graph run on disk: everything that predictions need, movable to another machine.

Files: ``config.json``; ``graph.safetensors`` (the triples) and ``entities.tsv``, ``relations.tsv`` (label, name,
description); ``model.safetensors``; ``checkpoint.safetensors`` and ``history.jsonl`` of the training; ``record.json``
and, with matplotlib, ``curves.png``; ``teacher.safetensors`` if it learns from trained models: what they answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from hybonet.data.triples.triple_data import SPLITS, TripleData
from hybonet.tasks.knowledge_graph.distillation import TeacherAnswers, ask_teachers
from hybonet.tasks.knowledge_graph.models.triple_model import TripleModel
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
from hybonet.tasks.knowledge_graph.task import (
    KnowledgeGraphSettings,
    KnowledgeGraphTask,
    check_teachable,
    evaluate,
)
from hybonet.tasks.run_folder import (
    CONFIG,
    load_best,
    new_run,
    read_config,
    read_record,
    read_settings_as,
    refuse_saved_model,
    source_name,
    write_json,
)
from hybonet.tasks.run_training import CurvesPicture, train_task
from hybonet.tasks.vocabulary_file import read_vocabulary, write_vocabulary
from hybonet.training import FitResult, Reporter
from hybonet.training.checkpoint import read_tensors, write_tensors
from hybonet.training.loop import BEST

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
            logit_scale = settings.teacher_logit_scale * task.logit_scale
            answers = ask_teachers(
                models, data, logit_scale=logit_scale, answers=settings.distillation_answers, advance=advance
            )
            answers.save(staging / TEACHER)
        graph = write_graph(staging, data)
        content = {"task": task.name, **about, "settings": settings.model_dump(), "graph": graph}
        write_json(staging / CONFIG, content)


def write_graph(folder: Path, data: TripleData) -> dict[str, Any]:
    """Write a graph's triples and labels, and return what the configuration says about it."""
    write_tensors(folder / GRAPH, {split: data.triples(split).contiguous() for split in SPLITS})
    for name, vocabulary in ((ENTITIES, data.entities), (RELATIONS, data.relations)):
        write_vocabulary(folder / name, vocabulary)
    return {"source": data.source, "sha256": dict(data.sha256), "notes": data.notes, "warnings": data.warnings}


def train_run(folder: Path, *, resume: bool, resume_command: str = "", reporter: Reporter | None = None) -> FitResult:
    """Train what the folder describes, and store the record of it, test metrics included."""
    task = KnowledgeGraphTask(read_settings(folder), read_graph(folder), _read_teacher(folder))
    return train_task(
        folder,
        task,
        lambda result: _measures(folder, task, result),
        resume=resume,
        resume_command=resume_command,
        reporter=reporter,
        curves=CurvesPicture(f"Training on {source_name(task.data.source)}", "validation MRR"),
    )


def _measures(folder: Path, task: KnowledgeGraphTask, result: FitResult) -> dict[str, Any]:
    measures: dict[str, Any] = {"valid": result.best}
    if len(task.data.test):
        measures["test"] = evaluate(result.model, task.data, "test")
        paper_code = evaluate(result.model, task.data, "test", protocol="paper_code")
        measures["test_paper_code"] = paper_code["both"]
        if task.settings.inverse_weight:
            model = result.model
            assert isinstance(model, TripleModel)
            shares = model.shares
            model.score_both_directions(None)
            measures["test_one_direction"] = evaluate(model, task.data, "test")["both"]
            model.score_both_directions(shares)
    if task.teacher is not None:
        measures["teachers"] = _read_config(folder)["teachers"]
    return measures


def _read_teacher(folder: Path) -> TeacherAnswers | None:
    """What the run learns from besides the triples; without the file, a run with teachers would become another."""
    if "teachers" not in _read_config(folder):
        return None
    return TeacherAnswers.load(folder / TEACHER)


def read_teachers(runs: Sequence[Path], settings: KnowledgeGraphSettings, data: TripleData) -> list[TripleModel]:
    """The best models of runs to learn from, if they know this very graph and the settings have a place for them."""
    if not runs:
        fields = KnowledgeGraphSettings.model_fields
        for name in ("distillation_weight", "distillation_answers", "teacher_logit_scale"):
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
    refuse_saved_model(config, folder)
    return read_settings_as(KnowledgeGraphSettings, config, folder)


def read_graph(folder: Path) -> TripleData:
    """The graph of a run, splits and names included."""
    about = _read_config(folder)["graph"]
    tensors = read_tensors(folder / GRAPH)
    missing = [split for split in SPLITS if split not in tensors]
    if missing:
        raise ValueError(f"{folder / GRAPH}: expected triples for {missing[0]}, found none; restore it or train again")
    entities = read_vocabulary(folder / ENTITIES, "entity")
    relations = read_vocabulary(folder / RELATIONS, "relation")
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
