"""A knowledge graph inside a run: ``graph.safetensors`` (the triples) and ``entities.tsv``, ``relations.tsv`` (label,
name, description); ``teacher.safetensors`` if the run learns from trained models: what they answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from hybonet.data.triples.loading import load_knowledge_graph
from hybonet.data.triples.triple_data import SPLITS, TripleData
from hybonet.tasks.knowledge_graph.distillation import TeacherAnswers, ask_teachers
from hybonet.tasks.knowledge_graph.models.triple_model import TripleModel
from hybonet.tasks.knowledge_graph.options import DataOptions
from hybonet.tasks.knowledge_graph.settings import KnowledgeGraphSettings
from hybonet.tasks.knowledge_graph.task import KnowledgeGraphTask, check_teachable
from hybonet.tasks.options import column_list
from hybonet.tasks.run_folder import CONFIG
from hybonet.tasks.vocabulary_file import read_vocabulary, write_vocabulary
from hybonet.training.checkpoint import read_tensors, write_tensors
from hybonet.training.loop import BEST

GRAPH, ENTITIES, RELATIONS, TEACHER = "graph.safetensors", "entities.tsv", "relations.tsv", "teacher.safetensors"


@dataclass(frozen=True)
class TrainingGraph:
    """What a model is trained on: triples, and perhaps the answers of trained models.

    Attributes:
        teacher: answers to the training questions.
        teachers: what the record says of the models that gave them.
    """

    graph: TripleData
    teacher: TeacherAnswers | None = None
    teachers: Sequence[dict[str, Any]] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What is odd about the data."""
        return (*self.graph.notes, *self.graph.warnings)

    def without_test(self) -> TrainingGraph:
        """What a search may know."""
        return replace(self, graph=self.graph.without_test())


def load(source: Any, settings: KnowledgeGraphSettings, options: DataOptions) -> TrainingGraph:
    """A graph by name, by path or as an object of Python, and the answers of teachers, which may take minutes."""
    given = options.given()
    teachers = given.pop("teacher", None) or []
    if "columns" in given:
        given["columns"] = column_list(given["columns"])
    graph = load_knowledge_graph(source, **given)
    if not teachers:
        refuse_unused_distillation(settings)
        return TrainingGraph(graph)
    check_teachable(settings)
    models = [_teacher(Path(run), graph) for run in teachers]
    from rich.progress import Progress

    task = KnowledgeGraphTask(settings, graph)
    with Progress(transient=True) as bar:
        asking = bar.add_task("asking the teachers", total=None)
        answers = ask_teachers(
            models,
            graph,
            logit_scale=settings.teacher_logit_scale * task.logit_scale,
            answers=settings.distillation_answers,
            advance=lambda done, total: bar.update(asking, advance=done, total=total),
        )
    return TrainingGraph(graph, answers, [describe_teacher(Path(run)) for run in teachers])


def refuse_unused_distillation(settings: KnowledgeGraphSettings) -> None:
    """Refuse settings about teachers where there are none."""
    fields = type(settings).model_fields
    for name in ("distillation_weight", "distillation_answers", "teacher_logit_scale"):
        if getattr(settings, name) != fields[name].default:
            raise ValueError(f"expected --teacher RUN with {name}={getattr(settings, name)}; give one, or leave it out")


def write(folder: Path, data: TrainingGraph | TripleData) -> dict[str, Any]:
    """Write triples, labels and answers of teachers, and return what the configuration says about them."""
    if isinstance(data, TripleData):
        data = TrainingGraph(data)
    graph = data.graph
    write_tensors(folder / GRAPH, {split: graph.triples(split).contiguous() for split in SPLITS})
    for name, vocabulary in ((ENTITIES, graph.entities), (RELATIONS, graph.relations)):
        write_vocabulary(folder / name, vocabulary)
    about = {"source": graph.source, "sha256": dict(graph.sha256), "notes": graph.notes, "warnings": graph.warnings}
    if data.teacher is None:
        return about
    data.teacher.save(folder / TEACHER)
    return {**about, "teachers": list(data.teachers)}


def read(folder: Path, about: dict[str, Any]) -> TrainingGraph:
    """What :func:`write` wrote; without the answers of its teachers, a run would become another."""
    graph = read_graph(folder, about)
    if "teachers" not in about:
        return TrainingGraph(graph)
    return TrainingGraph(graph, TeacherAnswers.load(folder / TEACHER), about["teachers"])


def read_graph(folder: Path, about: dict[str, Any]) -> TripleData:
    """The graph of a run, splits and names included."""
    if not {"source", "sha256"} <= about.keys():
        raise ValueError(f"{folder / CONFIG}: expected source and sha256 of the graph; restore it or train again")
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
            notes=tuple(about.get("notes", ())),
            warnings=tuple(about.get("warnings", ())),
        )
    except ValueError as error:
        raise ValueError(
            f"{folder}: {GRAPH} does not fit {ENTITIES} and {RELATIONS} ({str(error).split(';')[0]}); restore them or "
            "train again"
        ) from None


def _teacher(folder: Path, graph: TripleData) -> TripleModel:
    """The best model of a run to learn from, if it knows this very graph."""
    from hybonet.tasks.knowledge_graph.predictor import KnowledgeGraphModel

    model = KnowledgeGraphModel.load(folder)
    # One that was trained on other triples may have seen those that are held out here.
    if not all(torch.equal(model.graph.triples(split), graph.triples(split)) for split in SPLITS):
        raise ValueError(
            f"expected a teacher that was trained on the same graph with the same split, but {str(folder)!r} was "
            f"trained on another ({model.graph.source}); train one on this graph"
        )
    return model.scorer


def describe_teacher(folder: Path) -> dict[str, Any]:
    """What a run's record says of a teacher: its model file's checksum and its validation MRR."""
    from hybonet.tasks.run_folder import read_record

    record = read_record(folder)
    checksum = hashlib.sha256((folder / BEST).read_bytes()).hexdigest()
    return {"run": folder.name, "sha256": checksum, "commit": record.get("commit"), "valid_mrr": record["valid"]["mrr"]}
