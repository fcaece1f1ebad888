"""Vectors that somebody has computed already, as states to probe: a safetensors or npz file beside a treebank."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from hybonet.data.io.numpy_file import read_npz
from hybonet.data.io.source_file import read_source
from hybonet.data.trees.dependency_tree import DependencyTree
from hybonet.data.trees.loading import SPLITS, Treebank, split_places
from hybonet.geometry import Lorentz
from hybonet.training.checkpoint import read_tensors

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
            manifold.require_point(states, name=name)
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
