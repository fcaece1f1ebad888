"""Parallel text inside a run: the tokenizers (``source`` and ``target``, or ``shared``), ``tokens.safetensors`` (all
pairs as numbers) and ``held_out.jsonl`` (those to measure on, as text).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hybonet.data.text.loading import load_corpus
from hybonet.data.text.parallel_text import Pairs
from hybonet.data.text.token_pairs import Sequences, TokenPairs
from hybonet.data.text.tokenizer import Tokenizer, read_tokenizer
from hybonet.data.text.translation_data import TranslationData, prepare
from hybonet.files import parse_json
from hybonet.tasks.run_folder import CONFIG
from hybonet.tasks.translation.options import DataOptions
from hybonet.tasks.translation.settings import TranslationSettings
from hybonet.training.checkpoint import read_tensors, write_tensors

TOKENS, HELD_OUT = "tokens.safetensors", "held_out.jsonl"
SOURCE, TARGET, SHARED = "source", "target", "shared"
_ABOUT = ("source", "languages", "splits", "sha256", "tokenized", "notes")


def load(source: Any, settings: TranslationSettings, options: DataOptions) -> TranslationData:
    """Parallel text by name, by path, as two files, or as pairs of sentences, turned into numbers."""
    if isinstance(source, TranslationData):
        return source
    if options.codes is not None and settings.tokenizer != "subword-nmt":
        raise ValueError(
            f"expected tokenizer=subword-nmt with --codes, got tokenizer={settings.tokenizer}; add --set "
            "tokenizer=subword-nmt, or leave --codes out"
        )
    about = {name: getattr(options, name) for name in ("direction", "tokenized", "codes")}
    return prepare(
        load_corpus(source, source_file=options.source, target_file=options.target, **about),
        settings.tokenizer,
        settings.vocabulary,
        share=settings.share_vocabulary,
        max_length=settings.max_length,
    )


def write(folder: Path, data: TranslationData) -> dict[str, Any]:
    """Write tokenizers, numbers and held-out text, and return what the configuration says about them."""
    write_tokenizers(folder, data.source_tokenizer, data.target_tokenizer)
    write_tensors(folder / TOKENS, _packed(data))
    rows = (
        {"split": split, "source": source, "target": target}
        for split, pairs in data.texts.items()
        for source, target in pairs
    )
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / HELD_OUT).write_text(text, encoding="utf-8")
    return {
        "source": data.source,
        "languages": list(data.languages),
        "splits": list(data.tokens),
        "sha256": dict(data.sha256),
        "tokenized": data.tokenized,
        "notes": data.notes,
    }


def read(folder: Path, about: Mapping[str, Any]) -> TranslationData:
    """What :func:`write` wrote; a ``ValueError`` says which file is missing or does not fit."""
    check_about(folder, about)
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
            f"{folder / HELD_OUT}: expected a pair per line as JSON, {len(tokens[short[0]]):,} of them for {short[0]}, "
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


def check_about(folder: Path, about: Mapping[str, Any]) -> None:
    """Refuse a configuration that does not say what a run must know of its text."""
    missing = [name for name in _ABOUT if name not in about]
    if missing:
        raise ValueError(
            f"{folder / CONFIG}: expected {missing[0]} of the text of a translation run, found none; restore the file "
            "or train again"
        )


def write_tokenizers(folder: Path, source: Tokenizer, target: Tokenizer) -> None:
    """Keep both, or the one that both languages have."""
    if source is target:
        source.write(folder, SHARED)
        return
    source.write(folder, SOURCE)
    target.write(folder, TARGET)


def read_tokenizers(folder: Path) -> tuple[Tokenizer, Tokenizer]:
    """The tokenizers of a run, or of a saved model."""
    if any(folder.glob(f"{SHARED}.*")):
        shared = read_tokenizer(folder, SHARED)
        return shared, shared
    return read_tokenizer(folder, SOURCE), read_tokenizer(folder, TARGET)


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
        rows = [parse_json(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
        splits = dict.fromkeys(row["split"] for row in rows)
        members = {split: [row for row in rows if row["split"] == split] for split in splits}
        return {
            split: Pairs(tuple(row[SOURCE] for row in own), tuple(row[TARGET] for row in own))
            for split, own in members.items()
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: expected a pair per line as JSON, but {error}; restore it or train again") from None
