"""Checkpoints: one safetensors file with tensors and, in its header, the rest as JSON. Written whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from torch.optim import Optimizer

from hybonet.files import SEAL, flat, parse_json, write_atomically
from hybonet.training.settings import CHANGEABLE
from hybonet.training.task import Task

_SETTINGS, _FILES = "settings.", "data.sha256."
#: Prose may be worded anew in another version of the package.
_PROSE = ("protocol", "data.notes")


@dataclass(frozen=True)
class Identity:
    """Facts about a run that cannot change on the way: its task, its data, and most settings.

    Args:
        facts: by name, like ``settings.schedule.kind`` or ``data.sha256.train``.
        defaults: of the settings among them.
        renewed: gives settings that an earlier version saved the names of today.

    Example:
        >>> run = Identity({"task": "kg", "settings.lr": 0.01, "settings.new": 0}, defaults={"settings.new": 0})
        >>> run.differences({"task": "kg", "settings.lr": 0.02})
        ['lr=0.02 instead of 0.01']
    """

    facts: dict[str, Any]
    defaults: dict[str, Any]
    renewed: Callable[[Mapping[str, Any]], dict[str, Any]] = dict

    @classmethod
    def of(cls, task: Task) -> Identity:
        """That of a task with its settings."""
        settings = task.settings
        facts = _flat({**task.describe(), "settings": settings.model_dump(exclude=set(CHANGEABLE))})
        return cls(
            {name: value for name, value in facts.items() if name not in _PROSE},
            _flat({"settings": {**type(settings).model_construct().model_dump(), **settings.before}}),  # that have one
            type(settings).renewed,
        )

    def differences(self, saved: Mapping[str, Any]) -> list[str]:
        """How the facts that were saved with a run differ from these; none if it is this run.

        A setting that the package did not have then had, in effect, its default, or what ``before`` says. Files of data
        must be the same ones; other facts may have become known since, or are not told any more.
        """
        settings = {name.removeprefix(_SETTINGS): saved[name] for name in saved if name.startswith(_SETTINGS)}
        saved = {**saved, **{_SETTINGS + name: value for name, value in self.renewed(settings).items()}}
        found = []
        files = {name: None for name in (*saved, *self.facts) if name.startswith(_FILES)}
        then, now = {**files, **self.defaults, **saved}, {**files, **self.facts}
        for name, value in now.items():
            if name in then and then[name] != value:
                found.append(f"{name.removeprefix(_SETTINGS)}={then[name]} instead of {value}")
        return found


def _flat(content: dict[str, Any]) -> dict[str, Any]:
    """Nested mappings as one, names joined by dots, values as JSON gives them back."""
    return dict(flat(json.loads(json.dumps(content))))


#: What a file says beside its tensors stands under this name in its header.
_ABOUT = "hybonet"
Read = TypeVar("Read")


def write_tensors(path: Path, tensors: dict[str, Tensor], **about: Any) -> None:
    """A safetensors file, whole or not at all; ``about`` goes to the header, and so does a checksum of it all.

    The checksum is part of the file, so that no crash can come between the two.
    """
    # One entry of the header only: the library writes several in an order of its own, another one each time.
    said = json.dumps({**about, SEAL: _digest(about, tensors)})
    # Bytes of our own writing: the library's save_file gives files that only their owner may read.
    content = save(tensors, metadata={_ABOUT: said})
    write_atomically(path, lambda target: target.write_bytes(content))


def _digest(about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> str:
    """Checksum of what a file says and of its tensors by name, whatever their order in it."""
    digest = hashlib.sha256(json.dumps(json.loads(json.dumps(about)), sort_keys=True).encode("utf-8"))
    for name, value in sorted(tensors.items()):
        digest.update(f"\0{name}\0{value.dtype}\0{tuple(value.shape)}\0".encode())
        digest.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def read_file(path: Path) -> tuple[dict[str, Any], dict[str, Tensor], bool]:
    """What a safetensors file says, its tensors, and whether it has a checksum, which then is right.

    Files of other libraries and earlier versions have none.

    Raises:
        ValueError: if it is no such file, or not the one that was written.
    """
    try:
        with safe_open(path, framework="pt") as file:
            said = (file.metadata() or {}).get(_ABOUT, "{}")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
        about = parse_json(said)
    except (OSError, SafetensorError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: expected a safetensors file, {_what_it_is(path, error)}") from None
    seal = about.pop(SEAL, None)
    if seal not in (None, _digest(about, tensors)):
        raise ValueError(
            f"{path}: expected the content that its {SEAL} is of, but it was damaged since; restore it or train again"
        )
    return about, tensors, seal is not None


def save_model(path: Path, model: nn.Module, **about: Any) -> None:
    """The model's tensors alone; ``about`` goes to the header."""
    kept, aliases = _without_aliases({name: value.detach().contiguous() for name, value in model.state_dict().items()})
    # A table that layers share is stored under each of its names: any reader of safetensors finds all.
    write_tensors(path, {**kept, **{name: kept[source].clone() for name, source in aliases.items()}}, **about)


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file, or a ValueError that says what the file is instead."""
    return read_file(path)[1]


def load_model(path: Path, model: nn.Module, *, sealed: bool = False) -> None:
    """Put the tensors of :func:`save_model` into a model, or raise a ValueError if they are not its own.

    Args:
        sealed: the file must have a checksum: damage may have taken its very name away.
    """
    _, tensors, is_checked = read_file(path)
    if sealed and not is_checked:
        raise ValueError(
            f"{path}: expected weights with the checksum that every file of this run was written with, got none; "
            "restore the file or train again"
        )
    _fill(model, tensors, path)


def _fill(model: nn.Module, tensors: dict[str, Tensor], path: Path) -> None:
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        first = str(error).splitlines()[-1].strip().removesuffix(".")
        raise ValueError(
            f"{path} does not fit the run's settings and labels: {first}; the files come from different runs, so "
            "restore them or train again"
        ) from None


def _what_it_is(path: Path, error: Exception) -> str:
    if not path.is_file():
        return "found none; restore it or train again"
    with open(path, "rb") as file:
        start = file.read(2)
    if start in (b"PK", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"):
        return "got a pickle (torch.save), which is not read since it can run code; restore the file or train again"
    return f"got a damaged one ({error}); restore it or train again"


def save_checkpoint(
    path: Path, model: nn.Module, optimizer: Optimizer, position: dict[str, Any], run: Identity
) -> None:
    """Everything a training needs to go on as if it had not stopped: model, optimiser, random state and position.

    ``run`` says which run it is of, so that no other goes on from here.
    """
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
    # A table that layers share appears under each of its names: store each storage once.
    tensors, aliases = _without_aliases(tensors)
    write_tensors(
        path, tensors, run=run.facts, position=position, groups=state["param_groups"], numbers=numbers, aliases=aliases
    )


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


def read_position(path: Path) -> dict[str, Any]:
    """Where the training of a checkpoint stands."""
    return _read(path, with_tensors=False)[0]["position"]


def load_checkpoint(path: Path, model: nn.Module, optimizer: Optimizer, run: Identity) -> dict[str, Any]:
    """Put a checkpoint's content back in place and return its position.

    Raises:
        ValueError: if the file is damaged or belongs to another run.
    """
    header, tensors = _read(path)
    if not isinstance(header["run"], dict):
        raise ValueError(
            f"{path}: expected a checkpoint of this version of hybonet, got one of an older version, which cannot go "
            "on; train again in a new folder"
        )
    if differences := run.differences(header["run"]):
        raise ValueError(
            f"{path}: expected a checkpoint of this run, got one of a run with {', '.join(differences[:3])}; restore "
            "the run's own checkpoint.safetensors and config.json, or train again in a new folder"
        )
    tensors |= {name: tensors[source] for name, source in header["aliases"].items()}
    _fill(model, {n.removeprefix("model."): t for n, t in tensors.items() if n.startswith("model.")}, path)
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


def _read(path: Path, *, with_tensors: bool = True) -> tuple[dict[str, Any], dict[str, Tensor]]:
    header: dict[str, Any] = {}
    tensors: dict[str, Tensor] = {}
    try:
        if with_tensors:
            header, tensors, _ = read_file(path)
        else:
            with safe_open(path, framework="pt") as file:
                header = parse_json((file.metadata() or {}).get(_ABOUT, "{}"))
    except (OSError, SafetensorError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: expected a checkpoint, {_what_it_is(path, error)} in a new folder") from None
    except ValueError as error:
        raise ValueError(str(error).replace("a safetensors file", "a checkpoint") + " in a new folder") from None
    if not {"run", "position", "groups", "numbers", "aliases"} <= header.keys():
        raise ValueError(
            f"{path}: expected a checkpoint, got a safetensors file of another kind; restore it or train again in a "
            "new folder"
        )
    return header, tensors


def newest_readable(paths: list[Path], read: Callable[[Path], Read]) -> tuple[Path, Read]:
    """The first checkpoint that can be read, with what was read of it; if none can, what is wrong with the first."""
    first = ValueError("expected a checkpoint, found none")
    for path in paths:
        try:
            return path, read(path)
        except ValueError as error:
            first = error if path == paths[0] else first
    raise first
