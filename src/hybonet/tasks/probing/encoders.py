"""From what a user names, a run, a folder or a file, to the states of a treebank's words."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import Tensor

from hybonet.data.trees.loading import SPLITS, Treebank
from hybonet.files import parse_json
from hybonet.tasks.probing.models.word_encoder import WordEncoder
from hybonet.tasks.probing.settings import ProbeSettings
from hybonet.tasks.probing.task import ProbeData, ProbeSplit
from hybonet.tasks.probing.vectors import ENDINGS, read_vectors
from hybonet.tasks.run_folder import CONFIG
from hybonet.training.memory import memory_of_machine

_MEMORY_SHARE = 0.8  # of the machine's, that states may take


def probe_data(
    encoder: str | Path | WordEncoder, treebank: Treebank, settings: ProbeSettings, layers: Sequence[int] | None = None
) -> ProbeData:
    """The states of a treebank's words from an encoder, computed once.

    Args:
        encoder: a run of ``hybonet train translation``, a Hugging Face model folder, a file of vectors, or an object.
        treebank: whose sentences are encoded; what is too long for the encoder is left out and counted.
        layers: numbers of the layers to probe, the embedding being 0; None: all.
    """
    if not isinstance(encoder, str | Path):
        if settings.control == "random-weights":
            raise ValueError(
                "expected a run or a folder for control=random-weights, got an encoder; give one without training"
            )
        if not hasattr(encoder, "states"):
            raise ValueError(
                f"expected what to probe, got {type(encoder).__name__}; give a folder, a file of vectors, or an object "
                "with the methods of WordEncoder"
            )
        return _encoded(encoder, treebank, layers)
    path = Path(encoder)
    if path.suffix in ENDINGS:
        return _from_vectors(path, treebank, settings, layers)
    return _encoded(load_encoder(path, settings), treebank, layers)


def load_encoder(path: Path, settings: ProbeSettings) -> WordEncoder:
    """The encoder in a folder: of a translation run, or of a Hugging Face model.

    Example:
        >>> load_encoder(Path("no/such"), ProbeSettings())
        Traceback (most recent call last):
        ValueError: expected an encoder, got 'no/such', which is not there; give a run of hybonet train translation, ...
    """
    known = "a run of hybonet train translation, a Hugging Face model folder, or vectors in a .safetensors or .npz file"
    if not path.exists():
        raise ValueError(f"expected an encoder, got {str(path)!r}, which is not there; give {known}")
    try:
        config: Any = parse_json((path / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        config = None
    random_weights, seed = settings.control == "random-weights", settings.seed
    if isinstance(config, dict) and config.get("task") == "translation":
        from hybonet.tasks.probing.translator import translator_encoder

        return translator_encoder(path, random_weights=random_weights, seed=seed)
    if isinstance(config, dict) and "model_type" in config:
        from hybonet.tasks.probing.huggingface import huggingface_encoder

        return huggingface_encoder(path, random_weights=random_weights, seed=seed)
    found = f"a run of the task {config['task']!r}" if isinstance(config, dict) and "task" in config else "neither"
    raise ValueError(f"expected an encoder in {str(path)!r}, got {found}; give {known}")


def _from_vectors(path: Path, treebank: Treebank, settings: ProbeSettings, layers: Sequence[int] | None) -> ProbeData:
    if settings.control == "random-weights":
        raise ValueError(
            f"expected an encoder for control=random-weights, got the vectors {str(path)!r}, which have no weights; "
            "compute vectors with an untrained encoder, or use control=shuffled-labels"
        )
    given, manifold = read_vectors(path, treebank)
    count = given["train"].shape[1]
    wrong = next((number for number in layers or () if not 0 <= number < count), None)
    if wrong is not None:
        raise ValueError(f"expected layers from 0 to {count - 1} of {path}, got {wrong}; choose others")
    chosen = tuple(layers or range(count))
    splits = {split: ProbeSplit(treebank.trees(split), given[split][:, list(chosen)]) for split in SPLITS}
    about = {"kind": "vectors", "name": path.name}
    return ProbeData(splits, manifold, chosen, _about(treebank, about, splits, {}))


def _encoded(encoder: WordEncoder, treebank: Treebank, layers: Sequence[int] | None) -> ProbeData:
    fitting = {split: tuple(filter(encoder.fits, treebank.trees(split))) for split in SPLITS}
    left_out = {split: len(treebank.trees(split)) - len(trees) for split, trees in fitting.items()}
    empty = next((split for split, trees in fitting.items() if not trees), None)
    if empty is not None:
        raise ValueError(
            f"expected sentences in {empty} of {treebank.source} that are short enough for {encoder.name}, got none; "
            "give shorter ones"
        )
    first = encoder.states(fitting["test"][:1], layers)
    _check_memory(first, sum(len(tree) for trees in fitting.values() for tree in trees), encoder.name)
    splits = {split: ProbeSplit(trees, encoder.states(trees, layers)) for split, trees in fitting.items()}
    for split, found in splits.items():
        if not bool(found.states.isfinite().all()):
            raise ValueError(f"expected finite states from {encoder.name}, got NaN or infinity for words of {split}")
    kept = replace(treebank, train=fitting["train"], valid=fitting["valid"], test=fitting["test"])
    chosen = tuple(layers or range(first.shape[1]))
    return ProbeData(splits, encoder.manifold, chosen, _about(kept, encoder.describe(), splits, left_out))


def _check_memory(states: Tensor, words: int, name: str) -> None:
    size = 4.0 * words * states.shape[1] * states.shape[2]
    there = memory_of_machine()
    if size > _MEMORY_SHARE * there:
        raise ValueError(
            f"expected states that fit into the {there / 1e9:.1f} GB of this machine, but {states.shape[1]} layers of "
            f"{name} for {words:,} words take {size / 1e9:.1f} GB; choose some with --layers"
        )


def _about(
    treebank: Treebank, encoder: dict[str, Any], splits: dict[str, ProbeSplit], left_out: dict[str, int]
) -> dict[str, Any]:
    digest = hashlib.sha256()
    for split in SPLITS:
        digest.update(splits[split].states.contiguous().numpy().data)
    data = {"source": treebank.source, "sha256": dict(treebank.sha256), **treebank.statistics()}
    return {"data": {**data, "too_long": left_out}, "encoder": {**encoder, "states_sha256": digest.hexdigest()}}
