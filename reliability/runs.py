"""Small trainings of every task, and what must be the same of two runs."""

from __future__ import annotations

import hashlib
import importlib
import json
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import torch._dynamo  # noqa: F401 - an optimiser imports it, which takes seconds: not in every child

from hybonet import kernels
from hybonet.tasks.api import load_data, settings_for, sort_chosen
from hybonet.tasks.base import spec
from hybonet.tasks.run import Run, start
from hybonet.tasks.run_folder import RECORD, holds_run, read_json
from hybonet.training import override
from hybonet.training.checkpoint import read_position, read_tensors
from hybonet.training.history import read_history
from hybonet.training.loop import BEST, LAST
from reliability.children import Child, Outcome
from reliability.moments import Moments
from tests.tasks.test_contract import CASES

#: Of the cases of the contract tests, one of each task.
ONE_A_TASK = ("kg hybonet", "graph links", "hierarchy", "translation hybonet", "typing hybonet", "probe")
#: How the names of what differs between two runs end.
_TIMES = ("seconds", "second", "created", "sha256", "examples")


class Wrong(Exception):  # noqa: N818 - what is looked for
    """Something was lost, or is not as it should be."""


class Case:
    """A task with data and settings, ready to be trained in child processes.

    Args:
        name: one of the cases of the contract tests.
        scratch: where its runs are.
        changes: of settings, as ``--set`` takes them.
    """

    def __init__(self, name: str, scratch: Path, *changes: str) -> None:
        self.name, self.scratch = name, scratch
        scratch.mkdir(parents=True, exist_ok=True)
        task, chosen = CASES[name]
        chosen = {key: value for key, value in chosen.items() if key != "question"}
        data = chosen.pop("data")()
        self.spec = spec(task)
        options, own = sort_chosen(self.spec, chosen)
        reading = self.spec.options.checked(options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _, settings = settings_for(self.spec, None, [*own, "checkpoint_seconds=0"], reading, data)
            self.settings = override(settings, list(changes))
            self.data = load_data(self.spec, data, self.settings, reading)
        # What this imports takes seconds: not in every child.
        self.spec.implementation.task(self.settings, self.data).build_model()
        if task == "translation":
            importlib.import_module("sacremoses")

    def train(self, folder: Path, moments: Moments | None = None) -> Counter[str]:
        """Start the run or go on with it, and say how many moments of each kind there were."""
        kernels.switched(on=False).__enter__()  # compiled loops have threads, which do not survive a fork
        Run._draw_curves = lambda run, result: None  # type: ignore[method-assign]
        moments = moments or Moments(kinds=("none",))
        moments.install()
        warnings.simplefilter("ignore")
        if not holds_run(folder):
            start(folder, self.spec, self.settings, self.data)
        Run(folder).train(resume=True)
        return moments.counts

    def child(self, folder: Path, environment: Mapping[str, str] | None = None, **moment: Any) -> Child:
        """The same in a child; ``moment`` says what is done to it, and when."""
        return Child(lambda tell: self.train(folder, Moments(tell=tell, **moment) if moment else None), environment)

    @cached_property
    def straight(self) -> Path:
        """A run that nothing was done to."""
        folder = self.scratch / "straight"
        expect(self.child(folder).wait(), "done")
        return folder

    @cached_property
    def moments(self) -> Counter[str]:
        """How many moments of each kind a training has."""
        return expect(self.child(self.scratch / "counted", at=0).wait(), "done").value

    def compare(self, folder: Path, with_: Path | None = None) -> None:
        """Raise :class:`Wrong` unless a run ended as the straight one: weights and state bit for bit, and figures."""
        wanted, found = content(with_ or self.straight), content(folder)
        for name, value in wanted.items():
            if found[name] != value:
                raise Wrong(f"{self.name}: {name} differs in {folder}")
        if lost := [each for each in Run(folder).verify() if each.is_lost]:
            raise Wrong(f"{self.name}: {lost[0]}")
        if left := [path.name for path in folder.iterdir() if path.name.startswith(".")]:
            raise Wrong(f"{self.name}: {left} are left in {folder}")


def chosen(moments: Counter[str], random: Random) -> dict[str, Any]:
    """One of the moments, for a child: every kind is as likely, however rare."""
    kind = random.choice(sorted(moments))
    return {"kinds": (kind,), "at": random.randint(1, moments[kind])}


def content(folder: Path) -> dict[str, Any]:
    """All of a finished run that does not depend on time."""
    tensors = {name: _digest(read_tensors(folder / name)) for name in (BEST, LAST)}
    others = {
        "record": read_json(folder, RECORD),
        "history": read_history(folder),
        "place": read_position(folder / LAST),
    }
    return {**tensors, **{name: json.dumps(_timeless(value), sort_keys=True) for name, value in others.items()}}


def expect(outcome: Outcome, *kinds: str) -> Outcome:
    """The outcome, if it is one of these kinds."""
    if outcome.kind not in kinds:
        raise Wrong(f"expected {' or '.join(kinds)}, got {outcome.kind}: {outcome.value}")
    return outcome


def _digest(tensors: Mapping[str, Any]) -> str:
    digest = hashlib.sha256()
    for name, value in sorted(tensors.items()):
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode() + value.numpy().tobytes())
    return digest.hexdigest()


def _timeless(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _timeless(part) for name, part in value.items() if not name.endswith(_TIMES)}
    return [_timeless(part) for part in value] if isinstance(value, list) else value


def lazily(make: Callable[[str], Case]) -> Callable[[str], Case]:
    """Cases by name, each made when it is first asked for."""
    known: dict[str, Case] = {}
    return lambda name: known[name] if name in known else known.setdefault(name, make(name))
