"""An entity-typing run on disk: everything that predictions need, movable to another machine.

Files: ``config.json``; ``types.tsv`` (type, level); ``words.tsv`` and ``vectors.safetensors`` (the words and their
vectors); ``mentions_train.jsonl``, ``mentions_valid.jsonl`` and ``mentions_test.jsonl``; ``model.safetensors``;
``checkpoint.safetensors`` and ``history.jsonl`` of the training; ``record.json`` and, with matplotlib, ``curves.png``.
A model saved for use has no mentions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hybonet.data.io.source_file import read_source
from hybonet.data.mentions.mention_data import SPLITS, Mention, MentionData, as_row, read_mentions
from hybonet.data.mentions.type_inventory import ONE_LEVEL, TypeInventory
from hybonet.data.mentions.word_vectors import WordVectors
from hybonet.metrics.typing import THRESHOLD
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
from hybonet.tasks.typing.models.typing_model import TypingModel
from hybonet.tasks.typing.task import EntityTypingTask, TypingSettings, build_model
from hybonet.training import FitResult, Reporter
from hybonet.training.checkpoint import read_tensors, write_tensors

TYPES, WORDS, VECTORS = "types.tsv", "words.tsv", "vectors.safetensors"


def mentions_file(split: str) -> str:
    """Where the mentions of a split lie in a run."""
    return f"mentions_{split}.jsonl"


def start_run(
    folder: Path, settings: TypingSettings, data: MentionData, *, overwrite: bool = False, **about: Any
) -> None:
    """Write what a training starts from into a new or empty folder, or over an earlier run: all of it or nothing."""
    task = EntityTypingTask(settings, data)  # refuses what cannot be trained before anything is written
    with new_run(folder, overwrite=overwrite) as staging:
        for split in SPLITS:
            lines = "".join(as_row(mention) + "\n" for mention in data.split(split))
            (staging / mentions_file(split)).write_text(lines, encoding="utf-8")
        content = {
            "task": task.name,
            **about,
            "settings": settings.model_dump(),
            "data": write_vocabularies(staging, data),
        }
        write_json(staging / CONFIG, content)


def write_vocabularies(folder: Path, data: MentionData) -> dict[str, Any]:
    """Write types and words, and return what the configuration says about the data."""
    types = [f"{name}\t{data.types.level(number)}\n" for number, name in enumerate(data.types.types)]
    (folder / TYPES).write_text("".join(types), encoding="utf-8")
    (folder / WORDS).write_text("".join(f"{word}\n" for word in data.vectors.words), encoding="utf-8")
    write_tensors(folder / VECTORS, {"vectors": data.vectors.vectors})
    about = {"source": data.source, "sha256": dict(data.sha256 or {}), "notes": data.notes}
    return {**about, "word_vectors": data.vectors.source}


def train_run(folder: Path, *, resume: bool, resume_command: str = "", reporter: Reporter | None = None) -> FitResult:
    """Train what the folder describes, and store the record of it, test metrics included."""
    task = EntityTypingTask(read_settings(folder), read_data(folder))
    return train_task(
        folder,
        task,
        lambda result: _measures(task, result),
        resume=resume,
        resume_command=resume_command,
        reporter=reporter,
        curves=CurvesPicture(f"Training on {source_name(task.data.source)}", "validation macro F1"),
    )


def _measures(task: EntityTypingTask, result: FitResult) -> dict[str, Any]:
    """Valid and test at one half, and at the threshold that the validation data chooses."""
    found = {split: task.predictions(result.model, split) for split in ("valid", "test") if task.data.split(split)}
    best = found["valid"].best_threshold()
    measures: dict[str, Any] = {"threshold": best if task.settings.calibrate else THRESHOLD}
    for split, each in found.items():
        measures[split] = each.measure()
        measures[f"{split}_calibrated"] = {"threshold": best, **each.measure(best)}
    return measures


def read_settings(folder: Path) -> TypingSettings:
    """The settings of a run, or of a saved model."""
    return read_settings_as(TypingSettings, _read_config(folder), folder)


def read_settings_to_resume(folder: Path) -> TypingSettings:
    """The settings of a run; a model saved for use, which cannot go on, is refused."""
    refuse_saved_model(_read_config(folder), folder)
    return read_settings(folder)


def read_data(folder: Path, *, mentions: bool = True) -> MentionData:
    """The data of a run; of a model saved for use, without ``mentions``."""
    about = _read_config(folder)["data"]
    splits: dict[str, tuple[Mention, ...]] = dict.fromkeys(SPLITS, ())
    types = _read_types(folder / TYPES)
    for split in SPLITS if mentions else ():
        path = folder / mentions_file(split)
        if not path.is_file():
            raise ValueError(
                f"expected a run with its mentions in {str(folder)!r}, but {path.name} is missing; a model saved for "
                "use has none: give the run it came from"
            )
        splits[split] = tuple(read_mentions(read_source(path), types)) if path.stat().st_size else ()
    return MentionData(
        types,
        _read_vectors(folder, about["word_vectors"]),
        **splits,
        source=about["source"],
        sha256=about["sha256"],
        notes=tuple(about["notes"]),
    )


def read_model(folder: Path, data: MentionData) -> TypingModel:
    """The best model of a run, or a saved model."""
    return load_best(folder, build_model(read_settings(folder), data, data.targets("train")))


def _read_config(folder: Path) -> dict[str, Any]:
    config = read_config(folder, EntityTypingTask.name)
    about = config.get("data")
    keys = {"source", "sha256", "notes", "word_vectors"}
    if not isinstance(config.get("settings"), dict) or not isinstance(about, dict) or not keys <= about.keys():
        raise ValueError(
            f"{folder / CONFIG}: expected the settings and the data of an entity-typing run, found something else; "
            "give a folder made by hybonet train typing"
        )
    return config


def _read_types(path: Path) -> TypeInventory:
    try:
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
        odd = next((number for number, row in enumerate(rows, 1) if len(row) != 2), None)
        if odd is not None or not rows:
            raise ValueError(f"line {odd or 1} is not one")
        names, levels = zip(*rows, strict=True)
        return TypeInventory(names, () if set(levels) == {ONE_LEVEL} else levels)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{path}: expected a type and its level a line, but {str(error).split(';')[0]}; restore it or train again"
        ) from None


def _read_vectors(folder: Path, source: str) -> WordVectors:
    path = folder / VECTORS
    vectors = read_tensors(path).get("vectors")
    try:
        words = tuple((folder / WORDS).read_text(encoding="utf-8").split("\n")[:-1])
        if vectors is None:
            raise ValueError("there are no vectors")
        return WordVectors(words, vectors, source)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{path}: expected a vector for each line of {WORDS}, but {str(error).split(';')[0]}; restore them or "
            "train again"
        ) from None
