"""Mentions inside a run: ``types.tsv`` (type, level), ``words.tsv`` and ``vectors.safetensors`` (the words and their
vectors), ``mentions_train.jsonl``, ``mentions_valid.jsonl`` and ``mentions_test.jsonl``. A model saved for use has no
mentions; ``pairs.safetensors`` has the types that occurred together, where the model is made of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor

from hybonet.data.io.source_file import read_source
from hybonet.data.mentions.loading import load_mentions
from hybonet.data.mentions.mention_data import SPLITS, Mention, MentionData, as_row, read_mentions
from hybonet.data.mentions.type_inventory import ONE_LEVEL, TypeInventory
from hybonet.data.mentions.word_vectors import WordVectors
from hybonet.tasks.run_folder import CONFIG
from hybonet.tasks.typing.options import DataOptions
from hybonet.training.checkpoint import read_tensors, write_tensors

TYPES, WORDS, VECTORS, PAIRS = "types.tsv", "words.tsv", "vectors.safetensors", "pairs.safetensors"


def mentions_file(split: str) -> str:
    """Where the mentions of a split lie in a run."""
    return f"mentions_{split}.jsonl"


def load(source: Any, settings: Any, options: DataOptions) -> MentionData:
    """Mentions by name, by path or as an object of Python."""
    return load_mentions(source, **options.given())


def write(folder: Path, data: MentionData) -> dict[str, Any]:
    """Write mentions, types and words, and return what the configuration says about them."""
    for split in SPLITS:
        lines = "".join(as_row(mention) + "\n" for mention in data.split(split))
        (folder / mentions_file(split)).write_text(lines, encoding="utf-8")
    return write_vocabularies(folder, data)


def write_vocabularies(folder: Path, data: MentionData) -> dict[str, Any]:
    """Write types and words, and return what the configuration says about the data."""
    types = [f"{name}\t{data.types.level(number)}\n" for number, name in enumerate(data.types.types)]
    (folder / TYPES).write_text("".join(types), encoding="utf-8")
    (folder / WORDS).write_text("".join(f"{word}\n" for word in data.vectors.words), encoding="utf-8")
    write_tensors(folder / VECTORS, {"vectors": data.vectors.vectors})
    about = {"source": data.source, "sha256": dict(data.sha256 or {}), "notes": data.notes}
    return {**about, "word_vectors": data.vectors.source}


def read(folder: Path, about: dict[str, Any]) -> MentionData:
    """What :func:`write` wrote; of a model saved for use, without mentions."""
    missing = {"source", "sha256", "notes", "word_vectors"} - about.keys()
    if missing:
        raise ValueError(f"{folder / CONFIG}: expected {min(missing)} of the data, found none; restore the file")
    splits: dict[str, tuple[Mention, ...]] = dict.fromkeys(SPLITS, ())
    types = _read_types(folder / TYPES)
    paths = {split: folder / mentions_file(split) for split in SPLITS}
    if any(path.is_file() for path in paths.values()):
        for split, path in paths.items():
            if not path.is_file():
                raise ValueError(f"{folder}: expected {path.name} in the run, but it is missing; restore it")
            splits[split] = tuple(read_mentions(read_source(path), types)) if path.stat().st_size else ()
    return MentionData(
        types,
        _read_vectors(folder, about["word_vectors"]),
        **splits,
        source=about["source"],
        sha256=about["sha256"],
        notes=tuple(about["notes"]),
    )


def read_pairs(folder: Path, types: int) -> Tensor:
    """The pairs of types that occurred together, of a saved model, ``(2, pairs)``."""
    pairs = read_tensors(folder / PAIRS).get("pairs")
    if pairs is None or pairs.shape[:-1] != (2,) or not bool(((pairs >= 0) & (pairs < types)).all()):
        raise ValueError(f"{folder / PAIRS}: expected pairs of {types} types; restore it, or save the model again")
    return pairs


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
            f"{path}: expected a type and its level per line, but {str(error).split(';')[0]}; restore it or train again"
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
