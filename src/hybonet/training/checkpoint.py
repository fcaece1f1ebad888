"""Checkpoints: one safetensors file with tensors and, in its header, the rest as JSON. Written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from torch.optim import Optimizer

from hybonet.files import write_atomically


def write_tensors(path: Path, tensors: dict[str, Tensor], **about: Any) -> None:
    """A safetensors file, whole or not at all; ``about`` goes to the header.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "numbers.safetensors"
        >>> write_tensors(path, {"one": torch.ones(3)}, made_by="hand")
        >>> safe_open(path, framework="pt").metadata()
        {'hybonet': '{"made_by": "hand"}'}
    """
    # Bytes of our own writing: the library's save_file gives files that only their owner may read.
    content = save(tensors, metadata={"hybonet": json.dumps(about)})
    write_atomically(path, lambda target: target.write_bytes(content))


def save_model(path: Path, model: nn.Module, **about: Any) -> None:
    """The model's tensors alone; ``about`` goes to the header."""
    kept, aliases = _without_aliases({name: value.detach().contiguous() for name, value in model.state_dict().items()})
    # A learned curvature that layers share is stored under each of its names: any reader of safetensors finds all.
    write_tensors(path, {**kept, **{name: kept[source].clone() for name, source in aliases.items()}}, **about)


def save_checkpoint(path: Path, model: nn.Module, optimizer: Optimizer, position: dict[str, Any]) -> None:
    """Everything a training needs to go on as if it had not stopped: model, optimiser, random state and position."""
    tensors = {f"model.{name}": value.detach().contiguous() for name, value in model.state_dict().items()}
    state = optimizer.state_dict()
    numbers: dict[str, Any] = {}
    for index, entry in state["state"].items():
        for name, value in entry.items():
            if isinstance(value, Tensor):
                tensors[f"optimizer.{index}.{name}"] = value.contiguous()
            else:
                numbers[f"{index}.{name}"] = value
    tensors["random.cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    # A fixed curvature shared by layers has no tensors; a learned one appears under each: store each storage once.
    tensors, aliases = _without_aliases(tensors)
    write_tensors(path, tensors, position=position, groups=state["param_groups"], numbers=numbers, aliases=aliases)


def _without_aliases(tensors: dict[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, str]]:
    kept: dict[str, Tensor] = {}
    aliases: dict[str, str] = {}
    seen: dict[tuple[int, tuple[int, ...]], str] = {}
    for name, value in tensors.items():
        key = (value.data_ptr(), tuple(value.shape))
        if value.numel() and key in seen:
            aliases[name] = seen[key]
        else:
            seen[key] = name
            kept[name] = value
    return kept, aliases


def load_checkpoint(path: Path, model: nn.Module, optimizer: Optimizer) -> dict[str, Any]:
    """Put a checkpoint's content back in place and return its position.

    Raises:
        ValueError: if the file is damaged or belongs to another model.
    """
    try:
        with safe_open(path, framework="pt") as file:
            header = json.loads((file.metadata() or {})["hybonet"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
    except (SafetensorError, KeyError, json.JSONDecodeError, OSError) as error:
        raise ValueError(
            f"expected a checkpoint in {str(path)!r}, but it cannot be read ({error}); start again without --resume"
        ) from None
    tensors |= {name: tensors[source] for name, source in header["aliases"].items()}
    try:
        model.load_state_dict({n.removeprefix("model."): t for n, t in tensors.items() if n.startswith("model.")})
    except RuntimeError as error:
        raise ValueError(f"{path} does not fit this model: {str(error).splitlines()[-1].strip()}") from None
    state: dict[int, dict[str, Any]] = {}
    for name, value in tensors.items():
        if name.startswith("optimizer."):
            _, index, field = name.split(".", 2)
            state.setdefault(int(index), {})[field] = value
    for name, value in header["numbers"].items():
        index, field = name.split(".", 1)
        state.setdefault(int(index), {})[field] = value
    optimizer.load_state_dict({"state": state, "param_groups": header["groups"]})
    torch.set_rng_state(tensors["random.cpu"])
    if "random.cuda" in tensors and torch.cuda.is_available():
        torch.cuda.set_rng_state(tensors["random.cuda"])
    return header["position"]
