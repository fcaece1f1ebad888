"""A long training of the Transformer: finite at every step, on the manifold, with no growing memory."""

from __future__ import annotations

import resource
from collections import Counter
from pathlib import Path

import torch

from hybonet import kernels
from hybonet.tasks.run import Run, start
from hybonet.tasks.run_folder import holds_run
from hybonet.training import Reporter
from reliability.children import Child
from reliability.runs import Case, Wrong, expect

#: Steps of a part.
CHUNK = 2_000
_GROWTH_MB = 64


class Soak:
    """Two thousand steps more of one training, which goes on from its checkpoint; a number is such a part."""

    def __init__(self, scratch: Path) -> None:
        changes = ("steps=none", "epochs=1", "validate_every=100", "checkpoint_seconds=60")
        self.case, self.folder = Case("translation hybonet", scratch, *changes), scratch / "soak"

    def __call__(self, number: int) -> Counter[str]:
        outcome = expect(Child(lambda tell: _train(self.case, self.folder, CHUNK * (number + 1))).wait(3600), "done")
        return Counter({"steps": outcome.value})


class _Watching(Reporter):
    """Looks at every step."""

    def __init__(self) -> None:
        self.steps, self.first = 0, 0.0

    def advance(self, epoch: int, loss: float) -> None:
        self.steps += 1
        if self.steps == 200:  # everything has been allocated
            self.first = _megabytes()


def _train(case: Case, folder: Path, steps: int) -> int:
    kernels.switched(on=False).__enter__()
    Run._draw_curves = lambda run, result: None  # type: ignore[method-assign]
    run = Run(folder) if holds_run(folder) else start(folder, case.spec, case.settings, case.data)
    run.change_settings([f"epochs={-(-steps // run.task.batches_per_epoch())}"])
    watching = _Watching()
    result = run.train(resume=True, reporter=watching)
    tensors = [value for value in result.model.state_dict().values() if isinstance(value, torch.Tensor)]
    if not all(bool(value.isfinite().all()) for value in tensors):
        raise Wrong("a parameter is not finite")
    if (growth := _megabytes() - watching.first) > _GROWTH_MB:
        raise Wrong(f"memory grew by {growth:.0f} MB")
    if result.history[-1]["loss"] >= result.history[0]["loss"]:
        raise Wrong("the loss did not fall")
    return CHUNK


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
