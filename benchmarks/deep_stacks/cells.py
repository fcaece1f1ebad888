"""What is measured, what matters most first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.deep_stacks.models import PIECES
from benchmarks.deep_stacks.tasks import SETTINGS
from benchmarks.deep_stacks.training import signal, train

Cell = dict[str, Any]
Record = list[Cell]

DEPTHS = (2, 6, 12, 24)
SEEDS = range(3)
SIDES = ("ours", "torch")
#: A decade of rates a task.
RATES = {"copy": (1e-3, 3e-3, 1e-2), "reversal": (3e-4, 1e-3, 3e-3), "brackets": (3e-4, 1e-3, 3e-3)}
MULTI30K_RATES = (1e-3, 3e-3, 1e-2)


def cell(topic: str, task: str, layers: int, model: str, rate: float, seed: int, **changes: Any) -> Cell:
    fixed = {"topic": topic, "task": task, "layers": layers, "model": model, "rate": rate, "seed": seed}
    return {**fixed, **SETTINGS[task], **changes}


def is_done(wanted: Cell, record: Record) -> bool:
    """Whether a cell with all these settings has been measured."""
    return any(all(each.get(name) == value for name, value in wanted.items()) for each in record)


def final_loss(each: Cell) -> float:
    return float(each["loss"][str(each["steps"])])


def best_rate(record: Record, task: str, layers: int, model: str = "torch", **same: Any) -> float | None:
    """The rate with the least loss at seed 0, of those that were measured."""
    wanted = {"topic": "small", "task": task, "layers": layers, "model": model, "seed": 0, **same}
    found = [each for each in record if wanted.items() <= each.items() and each["finite"]]
    return min(found, key=final_loss)["rate"] if found else None


def small(record: Record) -> Iterator[Cell]:
    """The small tasks: a decade of rates with seed 0, then other seeds at torch's best rate."""
    for seed in SEEDS:
        for task, rates in RATES.items():
            for layers in (*DEPTHS, 48) if task == "copy" else DEPTHS:
                for rate in rates if seed == 0 else [best_rate(record, task, layers) or rates[1]]:
                    for model in SIDES:
                        yield cell("small", task, layers, model, rate, seed)


def multi30k(record: Record) -> Iterator[Cell]:
    """A search of torch's rate in short trainings, then the trainings."""
    for rate in MULTI30K_RATES:
        for model in SIDES:
            yield cell("multi30k", "multi30k", 6, model, rate, 0, steps=320)
    for seed in SEEDS:
        for layers in (6, 2, 12, 24):
            rate = best_rate(record, "multi30k", 6, topic="multi30k", steps=320) or 3e-3
            for model in SIDES:
                yield cell("multi30k", "multi30k", layers, model, rate, seed)


def pieces(record: Record) -> Iterator[Cell]:
    """Each Lorentz piece on and off, and start values changed, one at a time."""
    for model in ("ours", "torch", *PIECES):
        yield cell("pieces", "multi30k", 6, model, 3e-3, 0, steps=320)


def by_depth(record: Record) -> Iterator[Cell]:
    for model in SIDES:
        yield cell("signal", "reversal", 24, model, 1e-3, 0, steps=100)


def trials(record: Record) -> Iterator[Cell]:
    """GELU, learned scales and widths."""
    for model in ("ours, GELU", "torch, GELU", "ours, learned scale by layer", "ours, norms after", "paper's form"):
        yield cell("trials", "multi30k", 6, model, 3e-3, 0, steps=320)
    for width in (16, 64, 128, 256):
        for model in SIDES:
            yield cell("trials", "reversal", 6, model, 1e-3, 0, width=width, inner=4 * width, steps=200)
    for model in SIDES:
        yield cell("trials", "reversal", 2, model, 1e-3, 0, width=512, inner=2048, steps=100)


TOPICS: dict[str, Callable[[Record], Iterator[Cell]]] = {
    "small": small,
    "multi30k": multi30k,
    "pieces": pieces,
    "signal": by_depth,
    "trials": trials,
}


def measure(wanted: Cell) -> Cell:
    return signal(wanted) if wanted["topic"] == "signal" else train(wanted)
