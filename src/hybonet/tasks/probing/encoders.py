"""From what a user names, a run, a folder or a file of vectors, to the states of a treebank's words."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from hybonet.data.io.numpy_file import read_npz
from hybonet.data.io.source_file import read_source
from hybonet.data.trees.dependency_tree import DependencyTree
from hybonet.data.trees.loading import SPLITS, Treebank, split_places
from hybonet.files import parse_json
from hybonet.geometry import Lorentz
from hybonet.tasks.probing.models.word_encoder import WordEncoder
from hybonet.tasks.probing.settings import ProbeSettings
from hybonet.tasks.probing.task import ProbeData, ProbeSplit
from hybonet.tasks.run_folder import CONFIG
from hybonet.training.checkpoint import read_tensors
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


#: Endings of such files.
ENDINGS = (".safetensors", ".npz")
#: The array with the vectors of a treebank that is one file.
ALL = "all"
_LAYOUT = (
    "vectors of the words of each split, in the order of the treebank, in arrays train, valid and test (or all, for a "
    "treebank that is one file), shape (words, layers, d) or (words, d); points of the Lorentz model with an array K"
)


def read_vectors(path: Path, treebank: Treebank) -> tuple[dict[str, Tensor], Lorentz | None]:
    """The vectors of a file for a treebank's words, ``(words, layers, d)`` by split, and what they are points of."""
    arrays = _read(path)
    K = arrays.pop("K", None)
    if K is not None and not (K.numel() == 1 and float(K) < 0):
        raise ValueError(f"{path}: expected K to be one negative number, the curvature, got {K.tolist()!r:.40}")
    manifold = None if K is None else Lorentz(float(K))
    if set(arrays) == {ALL} and set(treebank.sha256) == {ALL}:
        states = _by_split(path, _checked(path, ALL, arrays[ALL], manifold), treebank)
    elif set(arrays) != set(SPLITS) or set(treebank.sha256) == {ALL}:
        wanted = ALL if set(treebank.sha256) == {ALL} else ", ".join(SPLITS)
        raise ValueError(
            f"{path}: expected the arrays {wanted} for {treebank.source}, got {', '.join(sorted(arrays)) or 'none'}; "
            f"the file holds {_LAYOUT}"
        )
    else:
        states = {split: _checked(path, split, arrays[split], manifold) for split in SPLITS}
    for split, found in states.items():
        _check_count(path, found, sum(map(len, treebank.trees(split))), f"{split} in {treebank.source}")
    shapes = {tuple(found.shape[1:]) for found in states.values()}
    if len(shapes) > 1:
        raise ValueError(f"{path}: expected the same layers and coordinates in all arrays, got {sorted(shapes)}")
    return states, manifold


def _check_count(path: Path, vectors: Tensor, words: int, of: str) -> None:
    if len(vectors) != words:
        raise ValueError(
            f"{path}: expected {words:,} vectors for the words of {of}, got {len(vectors):,}; one for every word, "
            "punctuation too, none for multiword tokens and empty nodes"
        )


def _read(path: Path) -> dict[str, Tensor]:
    if not path.is_file():
        raise ValueError(f"expected a file of vectors, got {str(path)!r}, which is not there; check the path")
    if path.suffix == ".safetensors":
        return read_tensors(path)
    arrays, _ = read_npz(read_source(path))
    if not arrays:
        raise ValueError(f"{path}: expected arrays of numbers, got an npz file without any; write it again")
    try:
        return {name: torch.from_numpy(array) for name, array in arrays.items()}
    except TypeError as error:
        raise ValueError(f"{path}: expected arrays of numbers in an npz file, but {error}; write it again") from None


def _checked(path: Path, name: str, array: Tensor, manifold: Lorentz | None) -> Tensor:
    if array.dim() not in (2, 3) or not array.is_floating_point() or not array.numel():
        raise ValueError(
            f"{path}: expected floating-point numbers of shape (words, layers, d) or (words, d) in {name}, got "
            f"{str(array.dtype).removeprefix('torch.')} of shape {tuple(array.shape)}"
        )
    states = (array if array.dim() == 3 else array.unsqueeze(1)).float()
    if not bool(states.isfinite().all()):
        *place, column = (~states.isfinite()).nonzero()[0].tolist()
        value = array.reshape(states.shape)[(*place, column)].item()
        raise ValueError(
            f"{path}: expected finite numbers in {name}, within float32's range, got {value:g} at word {place[0]} in "
            f"column {column}"
        )
    if manifold is not None:
        try:
            manifold.check_point(states, name=name)
        except ValueError as error:
            raise ValueError(f"{path}: {error}; leave K out if the vectors are Euclidean") from None
    return states


def _by_split(path: Path, states: Tensor, treebank: Treebank) -> dict[str, Tensor]:
    """The vectors of one file's words, as its sentences were dealt out."""
    places = split_places(sum(len(treebank.trees(split)) for split in SPLITS))
    tree_at: dict[int, tuple[str, DependencyTree]] = {}
    for split in SPLITS:
        tree_at |= {place: (split, tree) for place, tree in zip(places[split], treebank.trees(split), strict=True)}
    _check_count(path, states, sum(len(tree) for _, tree in tree_at.values()), treebank.source)
    parts: dict[str, list[Tensor]] = {split: [] for split in SPLITS}
    sentences = states.split([len(tree_at[place][1]) for place in sorted(tree_at)])
    for place, rows in zip(sorted(tree_at), sentences, strict=True):
        parts[tree_at[place][0]].append(rows)
    return {split: torch.cat(rows) for split, rows in parts.items()}
