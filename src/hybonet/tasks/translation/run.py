"""A translation run on disk: everything that training, measuring and translating need, movable to another machine.

Files: ``config.json``; the tokenizers (``source`` and ``target``, or ``shared``); ``tokens.safetensors`` (all pairs as
numbers) and ``held_out.jsonl`` (those to measure on, as text); ``model.safetensors``; ``checkpoint.safetensors`` and
``history.jsonl`` of the training; ``record.json`` and, with matplotlib, ``curves.png``. With ``average`` also
``epoch-N.safetensors``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hybonet.data.text.parallel_text import Pairs
from hybonet.data.text.token_pairs import Sequences, TokenPairs
from hybonet.data.text.tokenizer import Tokenizer, read_tokenizer
from hybonet.data.text.translation_data import TranslationData
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
from hybonet.tasks.translation.decoding import Decoding
from hybonet.tasks.translation.evaluation import evaluate
from hybonet.tasks.translation.models.translation_model import TranslationModel
from hybonet.tasks.translation.task import TranslationSettings, TranslationTask, build_translation_model
from hybonet.training import FitResult, Reporter
from hybonet.training.checkpoint import read_tensors, write_tensors

TOKENS, HELD_OUT = "tokens.safetensors", "held_out.jsonl"
SOURCE, TARGET, SHARED = "source", "target", "shared"


def start_run(
    folder: Path, settings: TranslationSettings, data: TranslationData, *, overwrite: bool = False, **about: Any
) -> None:
    """Write what a training starts from into a new or empty folder, or over an earlier run: all of it or nothing."""
    task = TranslationTask(settings, data)  # refuses what cannot be trained before anything is written
    with new_run(folder, overwrite=overwrite) as staging:
        write_tokenizers(staging, data.source_tokenizer, data.target_tokenizer)
        write_tensors(staging / TOKENS, _packed(data))
        rows = (
            {"split": split, "source": source, "target": target}
            for split, pairs in data.texts.items()
            for source, target in pairs
        )
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (staging / HELD_OUT).write_text(text, encoding="utf-8")
        content = {"task": task.name, **about, "settings": settings.model_dump(), "text": _about(data)}
        write_json(staging / CONFIG, content)


def train_run(folder: Path, *, resume: bool, resume_command: str = "", reporter: Reporter | None = None) -> FitResult:
    """Train what the folder describes, and store the record of it, scores of the test sentences included."""
    task = TranslationTask(read_settings(folder), read_data(folder))
    title = f"Training on {source_name(task.data.source)}, {' to '.join(task.data.languages)}"
    return train_task(
        folder,
        task,
        lambda result: _measures(task, result, reporter or Reporter()),
        resume=resume,
        resume_command=resume_command,
        reporter=reporter,
        curves=CurvesPicture(title, "validation perplexity", log=True),
    )


def _measures(task: TranslationTask, result: FitResult, reporter: Reporter) -> dict[str, Any]:
    assert isinstance(result.model, TranslationModel)
    settings, data = task.settings, task.data
    measures: dict[str, Any] = {"valid": result.best}
    how = Decoding(beam=settings.beam, length_penalty=settings.length_penalty)
    for split in data.texts:
        if split != "valid":
            with reporter.measuring(f"translating {split} sentences", len(data.texts[split])) as progress:
                measures[split] = evaluate(result.model, data, split, how, settings=settings, progress=progress)
    epochs = result.updates / -(-task.batches_per_epoch() // settings.accumulate)  # the last may be cut short
    trained = data.tokens["train"].target_tokens * epochs
    measures["target_tokens_per_second"] = round(trained / max(1e-9, result.seconds), 1)
    return measures


def read_settings(folder: Path) -> TranslationSettings:
    """The settings of a run, or of an exported model."""
    return read_settings_as(TranslationSettings, _read_config(folder), folder)


def read_settings_to_resume(folder: Path) -> TranslationSettings:
    """The settings of a run; an exported model, which cannot go on, is refused."""
    refuse_saved_model(_read_config(folder), folder)
    return read_settings(folder)


def read_data(folder: Path) -> TranslationData:
    """Everything a run was trained on and is measured on."""
    config = _read_config(folder)
    if "library_name" in config:
        raise ValueError(f"expected a run, but {str(folder)!r} holds a model saved for use, without its text")
    about = config["text"]
    tensors = read_tensors(folder / TOKENS)
    sides = (SOURCE, TARGET)
    missing = [
        f"{split}.{side}" for split in about["splits"] for side in sides if f"{split}.{side}.values" not in tensors
    ]
    if missing:
        raise ValueError(f"{folder / TOKENS}: expected {missing[0]}, found none; restore it or train again")
    tokens = {split: TokenPairs(*(_sequences(tensors, split, side) for side in sides)) for split in about["splits"]}
    texts = _read_held_out(folder / HELD_OUT)
    short = [split for split in tokens if split != "train" and len(texts.get(split, ())) != len(tokens[split])]
    if short:
        raise ValueError(
            f"{folder / HELD_OUT}: expected a pair a line as JSON, {len(tokens[short[0]]):,} of them for {short[0]}, "
            f"got {len(texts.get(short[0], ())):,}; restore it or train again"
        )
    source, target = read_tokenizers(folder)
    return TranslationData(
        about["source"],
        (about["languages"][0], about["languages"][1]),
        about["sha256"],
        about["tokenized"],
        source,
        target,
        tokens,
        texts,
        tuple(about["notes"]),
    )


def read_model(folder: Path) -> TranslationModel:
    """The best model of a run, or an exported one."""
    source, target = read_tokenizers(folder)
    return load_best(folder, build_translation_model(read_settings(folder), len(source), len(target)))


def write_tokenizers(folder: Path, source: Tokenizer, target: Tokenizer) -> None:
    """Keep both, or the one that both languages have."""
    if source is target:
        source.write(folder, SHARED)
        return
    source.write(folder, SOURCE)
    target.write(folder, TARGET)


def read_tokenizers(folder: Path) -> tuple[Tokenizer, Tokenizer]:
    """The tokenizers of a run."""
    if read_settings(folder).share_vocabulary:
        shared = read_tokenizer(folder, SHARED)
        return shared, shared
    return read_tokenizer(folder, SOURCE), read_tokenizer(folder, TARGET)


def read_about(folder: Path) -> dict[str, Any]:
    """What a run says of its text: source, languages, notes."""
    return _read_config(folder)["text"]


def _about(data: TranslationData) -> dict[str, Any]:
    return {
        "source": data.source,
        "languages": list(data.languages),
        "splits": list(data.tokens),
        "sha256": dict(data.sha256),
        "tokenized": data.tokenized,
        "notes": data.notes,
    }


def _packed(data: TranslationData) -> dict[str, Any]:
    return {
        f"{split}.{side}.{part}": getattr(getattr(pairs, side), part)
        for split, pairs in data.tokens.items()
        for side in (SOURCE, TARGET)
        for part in ("values", "starts")
    }


def _sequences(tensors: dict[str, Any], split: str, side: str) -> Sequences:
    return Sequences(tensors[f"{split}.{side}.values"], tensors[f"{split}.{side}.starts"])


def _read_held_out(path: Path) -> dict[str, Pairs]:
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
        splits = dict.fromkeys(row["split"] for row in rows)
        members = {split: [row for row in rows if row["split"] == split] for split in splits}
        return {
            split: Pairs(tuple(row[SOURCE] for row in own), tuple(row[TARGET] for row in own))
            for split, own in members.items()
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: expected a pair a line as JSON, but {error}; restore it or train again") from None


def _read_config(folder: Path) -> dict[str, Any]:
    config = read_config(folder, TranslationTask.name)
    text = config.get("text")
    if not isinstance(config.get("settings"), dict) or not isinstance(text, dict) or "languages" not in text:
        raise ValueError(
            f"{folder / CONFIG}: expected the settings and the text of a translation run, found something else; "
            "give a folder made by hybonet train translation"
        )
    return config
