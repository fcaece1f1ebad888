"""Files whose bits are flipped or whose ends are missing: refused, or as before; never other answers."""

from __future__ import annotations

import shutil
import warnings
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

import torch

from hybonet.tasks.run import Run
from hybonet.training.checkpoint import Identity, load_checkpoint
from hybonet.training.history import HISTORY, check_history
from hybonet.training.loop import LAST
from reliability.children import Child
from reliability.runs import ONE_A_TASK, Case, Wrong, expect, lazily

_EACH = 100


class Damage:
    """A hundred times one file of a run or an exported model; a number is a file."""

    def __init__(self, scratch: Path) -> None:
        self.case = lazily(lambda name: Case(name, scratch / name.replace(" ", "-"), "average=2", "keep=2"))

    @cache  # noqa: B019 - lives as long as the command
    def _files(self, name: str) -> list[tuple[str, str]]:
        """``straight`` or ``saved``, and file, of all of a task that have a checksum."""
        run, saved = self.case(name).straight, self.case(name).scratch / "saved"
        expect(Child(lambda tell: Run(run).predictor().save_pretrained(saved)).wait(), "done")
        found = []
        for folder in (run, saved):
            states = Run(folder).verify()
            if odd := [each for each in states if each.state != "whole" and each.name != "README.md"]:
                raise Wrong(f"{name}: {odd[0]}")
            found += [(folder.name, each.name) for each in states if each.state == "whole"]
        return found

    def __call__(self, number: int) -> Counter[str]:
        name = ONE_A_TASK[number % len(ONE_A_TASK)]
        if number // len(ONE_A_TASK) >= len(self._files(name)):
            return Counter()
        place, file = self._files(name)[number // len(ONE_A_TASK)]
        folder = self.case(name).scratch / place
        scratch = folder.with_name("damaged")
        outcome = Child(lambda tell: _damaged(folder, scratch, file, number)).wait(900)
        return expect(outcome, "done").value


def _damaged(folder: Path, scratch: Path, file: str, seed: int) -> Counter[str]:
    warnings.simplefilter("ignore")
    Run._draw_curves = lambda run, result: None  # type: ignore[method-assign]
    random, counts = Random(seed), Counter[str]()
    whole = (folder / file).read_bytes()
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(folder, scratch)
    use: Callable[[Path], object] = _loaded
    if file in (LAST, HISTORY):
        use = _going_on(scratch)
    elif file.startswith(("epoch-", "checkpoint-")):
        use = _verified
    wanted = use(scratch)
    for _ in range(_EACH):
        damaged = bytearray(whole)
        if random.random() < 0.25:
            del damaged[random.randrange(len(damaged)) :]
        else:
            for _ in range(random.choice((1, 1, 1, 4))):
                damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
        if bytes(damaged) == whole:
            continue
        (scratch / file).write_bytes(damaged)
        try:
            found = use(scratch)
        except (ValueError, OSError):
            counts["refused"] += 1
            continue
        if found != wanted:
            raise Wrong(f"{scratch / file}: other answers, and no error")
        counts["the same"] += 1
    return counts


def _loaded(folder: Path) -> object:
    """What a user of the model sees of it."""
    run = Run(folder)
    model = run.predictor()
    tensors = {name: value for name, value in model.model.state_dict().items() if isinstance(value, torch.Tensor)}
    return run.settings, run.record, {name: value.tolist() for name, value in tensors.items()}


def _going_on(folder: Path) -> Callable[[Path], object]:
    """What a training that goes on starts from."""
    task = Run(folder).task
    model = task.build_model()
    optimizer = task.build_optimizer(model)

    def read(folder: Path) -> object:
        position = load_checkpoint(folder / LAST, model, optimizer, Identity.of(task))
        check_history(folder, position["history_lines"], position["history_sha256"])
        return position, str(
            [value.tolist() for value in model.state_dict().values() if isinstance(value, torch.Tensor)]
        )

    return read


def _verified(folder: Path) -> object:
    """What is kept beside: read if it is needed, as when another file is damaged."""
    if lost := [each for each in Run(folder).verify() if each.is_lost]:
        raise ValueError(lost[0].about)
    return None
