"""What is probed inside a run, the encoder itself no longer: ``train.conllu``, ``valid.conllu`` and ``test.conllu``
(words, tags and heads); ``states.safetensors`` (of the words of train and valid: large, and of no use once training is
done) and ``test_states.safetensors``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from hybonet.data import load_treebank
from hybonet.data.trees.conllu import read_conllu, write_conllu
from hybonet.data.trees.loading import SPLITS
from hybonet.geometry import Lorentz
from hybonet.tasks.predictor import Predictor
from hybonet.tasks.probing.encoders import probe_data
from hybonet.tasks.probing.options import DataOptions
from hybonet.tasks.probing.settings import ProbeSettings
from hybonet.tasks.probing.task import ProbeData, ProbeSplit
from hybonet.tasks.run_folder import CONFIG
from hybonet.training.checkpoint import read_tensors, write_tensors

STATES, TEST_STATES = "states.safetensors", "test_states.safetensors"
_FILES = {"train": STATES, "valid": STATES, "test": TEST_STATES}


def load(source: Any, settings: ProbeSettings, options: DataOptions) -> ProbeData:
    """The states of a treebank's words from an encoder: a run, a folder, a file of vectors, or an object of Python."""
    if isinstance(source, ProbeData):
        return source
    if source is None:
        raise ValueError(
            "expected what to probe, got nothing; give a run of hybonet train translation, a Hugging Face model "
            "folder or a file of vectors: hybonet probe ENCODER --out ..."
        )
    layers = None if options.layers is None else layer_numbers(options.layers)
    if isinstance(source, Predictor):
        source = _folder_of(source)
    treebank = load_treebank("toy" if options.trees is None else options.trees)
    from hybonet.reporting.console import Console

    with Console(stderr=True).status("computing states"):
        return probe_data(source, treebank, settings, layers)


def _folder_of(model: Predictor) -> Path:
    if model.run is None:
        raise ValueError(f"expected a model that was loaded from a folder, got {model!r}; save it, and give the folder")
    return model.run.folder


def layer_numbers(text: str) -> list[int]:
    """Numbers separated by commas, each once, in order.

    Example:
        >>> layer_numbers("3, 0,3")
        [0, 3]
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise ValueError(f"expected layers as numbers separated by commas, got {text!r}; for example --layers 0,3,6")
    return sorted({int(part) for part in parts})


def write(folder: Path, data: ProbeData, splits: Iterable[str] = SPLITS) -> dict[str, Any]:
    """Write trees and states of some splits, and return what the configuration says about them."""
    states: dict[str, dict[str, Tensor]] = {}
    for name in splits:
        write_conllu(folder / f"{name}.conllu", data.splits[name].trees)
        states.setdefault(_FILES[name], {})[name] = data.splits[name].states.contiguous()
    for file, tensors in states.items():
        write_tensors(folder / file, tensors)
    K = None if data.manifold is None else data.manifold.curvature
    return {"about": data.about, "layers": list(data.layers), "K": K}


def read(folder: Path, about: Mapping[str, Any], splits: Sequence[str] = SPLITS) -> ProbeData:
    """What :func:`write` wrote, or some splits of it."""
    missing = [name for name in ("about", "layers", "K") if name not in about]
    if missing:
        raise ValueError(f"{folder / CONFIG}: expected {missing[0]} of what is probed; restore it or train again")
    if STATES in {_FILES[split] for split in splits} and not (folder / STATES).is_file():
        raise ValueError(
            f"expected {STATES} in the run {str(folder)!r} to go on with, found none; restore it or start a new run"
        )
    tensors: dict[str, Tensor] = {}
    for file in dict.fromkeys(_FILES[split] for split in splits):
        tensors |= read_tensors(folder / file)
    lost = [split for split in splits if split not in tensors]
    if lost:
        raise ValueError(
            f"{folder}: expected states of {lost[0]}, found none; restore {_FILES[lost[0]]} or start a new run"
        )
    parts = {}
    for split in splits:
        try:
            parts[split] = ProbeSplit(tuple(read_conllu(folder / f"{split}.conllu")), tensors[split])
        except ValueError as error:
            raise ValueError(f"{error} (in the run {str(folder)!r}: restore its files, or start a new run)") from None
    manifold = None if about["K"] is None else Lorentz(about["K"])
    return ProbeData(parts, manifold, tuple(about["layers"]), about["about"])
