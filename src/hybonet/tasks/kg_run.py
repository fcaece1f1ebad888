"""A knowledge-graph run on disk: everything that predictions need, movable to another machine.

Files: ``config.json``; ``graph.safetensors`` (the triples) and ``entities.tsv``, ``relations.tsv`` (label, name,
description); ``model.safetensors``; ``checkpoint.safetensors`` and ``history.jsonl`` of the training; ``record.json``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from hybonet.data.triples import SPLITS, TripleData
from hybonet.data.vocabulary import Vocabulary
from hybonet.models import TripleScorer
from hybonet.tasks.knowledge_graph import KnowledgeGraphSettings, KnowledgeGraphTask, evaluate
from hybonet.tasks.provenance import provenance
from hybonet.training import FitResult, Reporter, Trainer
from hybonet.training.checkpoint import write_atomically, write_tensors
from hybonet.training.loop import BEST

CONFIG, MODEL, GRAPH, ENTITIES, RELATIONS, RECORD = (
    "config.json",
    BEST,
    "graph.safetensors",
    "entities.tsv",
    "relations.tsv",
    "record.json",
)


def start_run(folder: Path, settings: KnowledgeGraphSettings, data: TripleData, **about: Any) -> None:
    """Write what a training starts from into a new or empty folder."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ValueError(
            f"expected a new or empty folder, but {str(folder)!r} holds files; go on with --resume if it is a run, or "
            "choose another --out"
        )
    graph = write_graph(folder, data)
    write_json(folder / CONFIG, {"task": "kg", **about, "settings": settings.model_dump(), "graph": graph})


def write_graph(folder: Path, data: TripleData) -> dict[str, Any]:
    """Write a graph's triples and labels, and return what the configuration says about it."""
    write_tensors(folder / GRAPH, {split: data.triples(split).contiguous() for split in SPLITS})
    for name, vocabulary in ((ENTITIES, data.entities), (RELATIONS, data.relations)):
        _write_vocabulary(folder / name, vocabulary)
    return {"source": data.source, "sha256": dict(data.sha256), "notes": data.notes, "warnings": data.warnings}


def train_run(folder: Path, *, resume: bool, resume_command: str = "", reporter: Reporter | None = None) -> FitResult:
    """Train what the folder describes, and store the record of it, test metrics included."""
    settings, data = read_settings(folder), read_graph(folder)
    task = KnowledgeGraphTask(settings, data)
    result = Trainer(task, folder, resume_command=resume_command, reporter=reporter).fit(resume=resume)
    record: dict[str, Any] = {
        **task.describe(),
        "settings": settings.model_dump(),
        "seed": settings.seed,
        "best_epoch": result.best_epoch,
        "epochs": result.epochs,
        "seconds": round(result.seconds, 2),
        "parameters": sum(p.numel() for p in result.model.parameters()),
        "valid": result.best,
    }
    if len(data.test):
        record["test"] = evaluate(result.model, data, "test")
        record["test_released_protocol"] = evaluate(result.model, data, "test", protocol="released")["both"]
    write_json(folder / RECORD, {**record, **provenance()})
    return result


def read_settings(folder: Path) -> KnowledgeGraphSettings:
    """The settings of a run."""
    config = read_config(folder)
    if "model" in config:
        raise ValueError(
            f"expected a run to go on with, but {str(folder)!r} holds a model saved for use, without the state of its "
            "training; start a new run"
        )
    return KnowledgeGraphSettings(**config["settings"])


def read_config(folder: Path) -> dict[str, Any]:
    """The configuration of a run or a saved model."""
    return _read_json(folder, CONFIG)


def read_record(folder: Path) -> dict[str, Any]:
    """The record of a finished run."""
    return _read_json(folder, RECORD)


def read_graph(folder: Path) -> TripleData:
    """The graph of a run, splits and names included."""
    about = read_config(folder)["graph"]
    tensors = _read_tensors(folder / GRAPH)
    try:
        return TripleData(
            _read_vocabulary(folder / ENTITIES, "entity"),
            _read_vocabulary(folder / RELATIONS, "relation"),
            tensors["train"],
            tensors["valid"],
            tensors["test"],
            source=about["source"],
            sha256=about["sha256"],
            notes=tuple(about["notes"]),
            warnings=tuple(about["warnings"]),
        )
    except KeyError as error:
        raise ValueError(f"{folder / GRAPH}: expected the triples of {error}, found none; train again") from None


def read_model(folder: Path, data: TripleData) -> TripleScorer:
    """The best model of a run, or a saved model."""
    config = read_config(folder)
    if "model" in config:
        try:
            model = TripleScorer.from_config(config["model"])
        except (KeyError, TypeError) as error:
            raise ValueError(
                f"{folder / CONFIG}: expected the settings of a TripleScorer under model, but {error}; restore the file"
            ) from None
    else:
        model = KnowledgeGraphTask(read_settings(folder), data).build_model()
    if not (folder / MODEL).exists():
        raise ValueError(
            f"{folder} has no model yet: it was stopped before its first validation; go on with "
            f"hybonet train kg --out {folder} --resume"
        )
    tensors = _read_tensors(folder / MODEL)
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        raise ValueError(
            f"{folder / MODEL} does not fit the run's settings: {str(error).splitlines()[-1].strip()}"
        ) from None
    return model.eval()


def write_json(path: Path, value: Any) -> None:
    """Write JSON whole or not at all."""
    text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    write_atomically(path, lambda target: target.write_text(text, encoding="utf-8"))


def _read_json(folder: Path, name: str) -> dict[str, Any]:
    path = folder / name
    if not path.is_file():
        what = "a finished run" if name == RECORD else "a run"
        raise ValueError(
            f"expected {what} in {str(folder)!r}, but {name} is missing; give a folder made by hybonet train kg"
        )
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: expected JSON, but {error}; restore the file or train again") from None


def _read_tensors(path: Path) -> dict[str, torch.Tensor]:
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise ValueError(f"{path}: expected a safetensors file, but {error}; restore it or train again") from None


def _write_vocabulary(path: Path, vocabulary: Vocabulary) -> None:
    lines = ["label\tname\tdescription"]
    for number, label in enumerate(vocabulary):
        lines.append("\t".join((label, vocabulary.name(number), vocabulary.description(number))))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _read_vocabulary(path: Path, kind: str) -> Vocabulary:
    try:
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n")[1:-1]]
        labels, names, descriptions = zip(*rows, strict=True)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: expected a label, a name and a description a line, but {error}") from None
    return Vocabulary(labels, names, descriptions, kind=kind)
