"""A knowledge-graph run on disk: everything that predictions need, movable to another machine.

Files: ``config.json``; ``graph.safetensors`` (the triples) and ``entities.tsv``, ``relations.tsv`` (label, name,
description); ``model.safetensors``; ``checkpoint.safetensors`` and ``history.jsonl`` of the training; ``record.json``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from safetensors.torch import save_file

from hybonet.data.triples import SPLITS, TripleData
from hybonet.data.vocabulary import Vocabulary
from hybonet.models import TripleScorer
from hybonet.tasks.knowledge_graph import KnowledgeGraphSettings, KnowledgeGraphTask, evaluate
from hybonet.tasks.provenance import provenance
from hybonet.training import FitResult, Reporter, Trainer, describe, override
from hybonet.training.checkpoint import load_model, read_position, read_tensors, write_atomically
from hybonet.training.loop import BEST, LAST
from hybonet.training.settings import CHANGEABLE

CONFIG, GRAPH, ENTITIES, RELATIONS, RECORD = (
    "config.json",
    "graph.safetensors",
    "entities.tsv",
    "relations.tsv",
    "record.json",
)


def check_new_folder(folder: Path) -> None:
    """Raise a ValueError unless a run can start in ``folder``, so that a mistake shows before the data is read.

    Example:
        >>> check_new_folder(Path(__file__))
        Traceback (most recent call last):
        ValueError: expected a new or empty folder, got the file ...; choose another --out
    """
    if folder.is_dir() and any(folder.iterdir()):
        raise ValueError(
            f"expected a new or empty folder, but {str(folder)!r} holds files; go on with --resume if it is a run, or "
            "choose another --out"
        )
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if not nearest.is_dir():
        raise ValueError(f"expected a new or empty folder, got the file {str(nearest)!r}; choose another --out")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise ValueError(
            f"expected a folder to write to, but {str(nearest)!r} may not be written; choose another --out"
        )


def start_run(folder: Path, settings: KnowledgeGraphSettings, data: TripleData, **about: Any) -> None:
    """Write what a training starts from into a new or empty folder."""
    check_new_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    save_file({split: data.triples(split).contiguous() for split in SPLITS}, folder / GRAPH)
    for name, vocabulary in ((ENTITIES, data.entities), (RELATIONS, data.relations)):
        _write_vocabulary(folder / name, vocabulary)
    graph = {"source": data.source, "sha256": dict(data.sha256), "notes": data.notes, "warnings": data.warnings}
    content = {"task": "kg", **about, "settings": settings.model_dump(), "graph": graph}
    write_json(folder / CONFIG, content)


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


def change_run(folder: Path, changes: list[str]) -> KnowledgeGraphSettings:
    """Give a run more epochs, or another of the few settings that may change before it goes on, and return them all.

    The learning rate of the ``linear`` and ``cosine`` schedules, which depends on the number of epochs, follows the new
    number from here on.

    Args:
        folder: the run.
        changes: ``key=value`` assignments to epochs, patience, validate_every or checkpoint_seconds.
    """
    before = read_settings(folder)
    after = override(before, changes)
    old = {name: value for name, value, _ in describe(before)}
    changed = [name for name, value, _ in describe(after) if value != old[name]]
    fixed = [name for name in changed if name not in CHANGEABLE]
    if fixed:
        raise ValueError(
            f"expected no other change than of {', '.join(CHANGEABLE)} with --resume, got {fixed[0]}: a run keeps its "
            "data and settings; start a new one to change them"
        )
    position = read_position(folder / LAST) if (folder / LAST).exists() else {"epoch": 0, "stale": 0}
    if "epochs" in changed and after.epochs <= position["epoch"]:
        raise ValueError(
            f"expected more than the {position['epoch']} epochs already done, got epochs={after.epochs}; give a larger "
            "total, or leave it out"
        )
    if changed and after.patience is not None and position["stale"] >= after.patience:
        raise ValueError(
            f"expected patience above {position['stale']} (the validations since the best one), got "
            f"patience={after.patience}: training would stop at once; add --set patience={2 * position['stale']} or "
            "--set patience=none"
        )
    if changed:
        write_json(folder / CONFIG, {**_read_config(folder), "settings": after.model_dump()})
    return after


def read_settings(folder: Path) -> KnowledgeGraphSettings:
    """The settings of a run."""
    settings = _read_config(folder)["settings"]
    try:
        return KnowledgeGraphSettings.checked(settings)
    except ValueError as error:
        raise ValueError(f"restore or correct {folder / CONFIG}: {error}") from None


def read_record(folder: Path) -> dict[str, Any]:
    """The record of a finished run."""
    return _read_json(folder, RECORD)


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
        )
    except ValueError as error:
        raise ValueError(
            f"{folder}: {GRAPH} does not fit {ENTITIES} and {RELATIONS} ({str(error).split(';')[0]}); restore them or "
            "train again"
        ) from None


def read_model(folder: Path, data: TripleData) -> TripleScorer:
    """The best model of a run."""
    model = KnowledgeGraphTask(read_settings(folder), data).build_model()
    if not (folder / BEST).exists():
        raise ValueError(
            f"{folder} has no model yet: it was stopped before its first validation; go on with "
            f"hybonet train kg --out {folder} --resume"
        )
    load_model(folder / BEST, model)
    return model.eval()


def write_json(path: Path, value: Any) -> None:
    """Write JSON whole or not at all."""
    text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    write_atomically(path, lambda target: Path(target).write_text(text, encoding="utf-8"))


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


def _read_config(folder: Path) -> dict[str, Any]:
    config = _read_json(folder, CONFIG)
    settings, graph = (config.get(key) if isinstance(config, dict) else None for key in ("settings", "graph"))
    if not isinstance(settings, dict) or not isinstance(graph, dict) or not {"source", "sha256"} <= graph.keys():
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
