"""What is measured, what matters most first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from benchmarks.deep_stacks import nouns
from benchmarks.deep_stacks.hypernyms import train as name_hypernyms
from benchmarks.deep_stacks.long_runs import soak
from benchmarks.deep_stacks.models import PIECES, STARTS
from benchmarks.deep_stacks.tasks import SETTINGS
from benchmarks.deep_stacks.training import signal, train

Cell = dict[str, Any]
Record = list[Cell]

DEPTHS = (2, 6, 12, 24)
SEEDS = range(3)
SIDES = ("ours", "torch")
#: A decade of rates a task; the middle one first.
RATES = {"copy": (3e-3, 1e-3, 1e-2), "reversal": (1e-3, 3e-4, 3e-3), "brackets": (1e-3, 3e-4, 3e-3)}
MULTI30K_RATES = (3e-3, 1e-3, 1e-2)
#: Bodies and heads that name hypernyms; the first and the last are what each side has by default.
NAMERS = ("torch/linear", "flat/linear", "flat/log", "flat/geodesic", "lorentz/squared", "lorentz/geodesic")
#: Rates of tables with label smoothing, the same for every model.
SEARCH = ((0.3, 0.3), (0.1, 0.3), (1.0, 0.3), (0.3, 0.1))
HYPERNYMS = {"task": "hypernyms", "inner": 64, "epochs": 60, "held_out": 0.5, "noise": 0.0}
SOAK = {"task": "reversal", "layers": 24, "width": 16, "heads": 2, "inner": 32, "words": 20, "length": 8, "batch": 8}


def cell(topic: str, task: str, layers: int, model: str, rate: float, seed: int, **changes: Any) -> Cell:
    fixed = {"topic": topic, "task": task, "layers": layers, "model": model, "rate": rate, "seed": seed}
    return {**fixed, **SETTINGS[task], **changes}


def is_done(wanted: Cell, record: Record) -> bool:
    """Whether a cell with all these settings has been measured."""
    return any(all(each.get(name) == value for name, value in wanted.items()) for each in record)


def final_loss(each: Cell) -> float:
    return float(each["loss"][str(each["steps"])])


def best(record: Record, **wanted: Any) -> Cell | None:
    """The finite cell with the least loss, or the best MAP of the choice, of those with these settings."""
    found = [each for each in record if wanted.items() <= each.items() and each.get("finite", True)]
    return min(found, key=lambda each: -each["valid"] if "valid" in each else final_loss(each), default=None)


def torch_rate(record: Record, task: str, layers: int, **same: Any) -> float:
    """Torch's best rate with seed 0, of those that were measured."""
    found = best(record, task=task, layers=layers, model="torch", seed=0, **same)
    return found["rate"] if found else RATES.get(task, MULTI30K_RATES)[0]


def small(record: Record) -> Iterator[Cell]:
    """The small tasks at one rate."""
    for task, (rate, *_) in RATES.items():
        for layers in (*DEPTHS, 48) if task == "copy" else DEPTHS:
            for model in SIDES:
                yield cell("small", task, layers, model, rate, 0)


def rates(record: Record) -> Iterator[Cell]:
    """The rest of the decade of rates."""
    for task, (_, *others) in RATES.items():
        for layers in DEPTHS:
            for rate in others:
                for model in SIDES:
                    yield cell("small", task, layers, model, rate, 0)


def seeds(record: Record) -> Iterator[Cell]:
    """Other seeds, at torch's best rate with seed 0."""
    for seed in SEEDS[1:]:
        for task in RATES:
            for layers in DEPTHS:
                rate = torch_rate(record, task, layers, topic="small")
                for model in SIDES:
                    yield cell("small", task, layers, model, rate, seed)


def multi30k(record: Record) -> Iterator[Cell]:
    """A search of torch's rate for each depth in short trainings (``pieces`` has the first), and the trainings."""
    for layers in DEPTHS:
        for rate in MULTI30K_RATES[(layers == 6) :]:
            yield cell("multi30k", "multi30k", layers, "torch", rate, 0, steps=320)
    for seed in SEEDS:
        for layers in DEPTHS:
            rate = torch_rate(record, "multi30k", layers, steps=320, positions="centred")
            for model in SIDES:
                yield cell("multi30k", "multi30k", layers, model, rate, seed)


def positions(record: Record) -> Iterator[Cell]:
    """Sines and cosines as they are, with the constant that all positions share, and learned vectors."""
    for layers, rate, seeds in ((2, 1e-2, SEEDS), (6, 3e-3, SEEDS[:1])):
        for kind in ("learned", "centred", "sinusoidal"):
            for seed in seeds:
                for model in SIDES:
                    yield cell("positions", "multi30k", layers, model, rate, seed, steps=320, positions=kind)
    for seed in SEEDS:
        yield cell("positions", "multi30k", 2, "torch, RMS norms", 1e-2, seed, steps=320, positions="sinusoidal")


def pieces(record: Record) -> Iterator[Cell]:
    """Each Lorentz piece on and off."""
    for model in ("ours", "torch", *PIECES):
        yield cell("pieces", "multi30k", 6, model, 3e-3, 0, steps=320)


def starts(record: Record) -> Iterator[Cell]:
    """Start values changed, one at a time, and learned scales."""
    for model in STARTS:
        yield cell("pieces", "multi30k", 6, model, 3e-3, 0, steps=320)


def plateau(record: Record) -> Iterator[Cell]:
    """Which piece decides how long reversal stays at chance."""
    for seed in SEEDS:
        for model in (*SIDES, *PIECES, "centroids as long as they are", "centroids twice as long", "ρ = 1"):
            yield cell("plateau", "reversal", 2, model, 1e-3, seed, steps=330)
    for layers in (2, 6):
        for model in SIDES:
            yield cell("plateau", "reversal", layers, model, 1e-3, 0, steps=600)


def by_depth(record: Record) -> Iterator[Cell]:
    """Signal and gradient."""
    for model in SIDES:
        yield cell("signal", "reversal", 24, model, 1e-3, 0, steps=100)


def trials(record: Record) -> Iterator[Cell]:
    """GELU, learned scales, other forms, and widths."""
    for model in ("ours, GELU", "torch, GELU", "ours, learned scale by layer", "ours, norms after", "paper's form"):
        yield cell("trials", "multi30k", 6, model, 3e-3, 0, steps=320)
    for model in (*SIDES, "paper's form"):
        yield cell("trials", "copy", 6, model, 3e-3, 0, steps=300)
    for width in (16, 64, 128, 256):
        for model in SIDES:
            yield cell("trials", "reversal", 6, model, 1e-3, 0, width=width, inner=4 * width, steps=200)
    for model in SIDES:
        yield cell("trials", "reversal", 2, model, 1e-3, 0, width=512, inner=2048, steps=100)


def naming(space: int, layers: int, model: str, seed: int, rate: float, smoothing: float, **changes: Any) -> Cell:
    sizes = {"topic": "hypernyms", **HYPERNYMS, "space": space, "layers": layers, "model": model}
    return {**sizes, "seed": seed, "rate": rate, "smoothing": smoothing, **changes}


def _searched(record: Record, space: int, model: str) -> tuple[float, float]:
    found = best(record, topic="hypernyms", space=space, layers=1, model=model, seed=0, held_out=0.5, noise=0.0)
    return (found["rate"], found["smoothing"]) if found else SEARCH[0]


def hypernyms(record: Record) -> Iterator[Cell]:
    """Every model with the same search at seed 0, then other seeds; then fewer examples, noise, and depth."""
    for space in (8, 4):
        for rate, smoothing in SEARCH:
            for model in NAMERS:
                yield naming(space, 1, model, 0, rate, smoothing)
        for seed in SEEDS[1:]:
            for model in NAMERS:
                yield naming(space, 1, model, seed, *_searched(record, space, model))
    sides = ("torch/linear", "flat/log", "lorentz/geodesic")
    for changes in ({"held_out": 0.9}, {"noise": 0.2}):
        for seed in SEEDS:
            for model in sides:
                yield naming(8, 1, model, seed, *_searched(record, 8, model), **changes)
    for layers in DEPTHS:
        for model in sides:
            yield naming(8, layers, model, 0, *_searched(record, 8, model))


def namings(record: Record, topic: str, **changes: Any) -> Iterator[Cell]:
    """More of naming hypernyms: with 8 coordinates, and settings found on mammals."""
    for seed in SEEDS:
        for model in ("torch/linear", "flat/log", "lorentz/geodesic"):
            yield naming(8, 1, model, seed, *_searched(record, 8, model), topic=topic, **changes)


def all_nouns(record: Record) -> Iterator[Cell]:
    """The 82,115 nouns: two passes over the words, one seed."""
    for model in ("lorentz/geodesic", "flat/log", "torch/linear"):
        yield naming(8, 1, model, 0, *_searched(record, 8, model), topic="nouns", epochs=2)


def soaks(record: Record) -> Iterator[Cell]:
    """20,000 steps in parts."""
    for until in range(1000, 20_001, 1000):
        yield {"topic": "soak", **SOAK, "rate": 1e-3, "steps": 1000, "until": until}


TOPICS: dict[str, Callable[[Record], Iterator[Cell]]] = {
    "signal": by_depth,
    "small": small,
    "plateau": plateau,
    "pieces": pieces,
    "hypernyms": hypernyms,
    "multi30k": multi30k,
    "positions": positions,
    "animals": partial(namings, topic="animals", below="animal.n.01"),
    "rare": partial(namings, topic="rare", below="animal.n.01", rare=10),
    "nouns": all_nouns,
    "rates": rates,
    "seeds": seeds,
    "starts": starts,
    "trials": trials,
    "soak": soaks,
}
_HOW = {"signal": signal, "soak": soak, "nouns": nouns.train}
_HOW |= dict.fromkeys(("hypernyms", "rare", "animals"), name_hypernyms)


def measure(wanted: Cell) -> Cell:
    """What is found, to be stored beside the cell's settings."""
    return _HOW.get(wanted["topic"], train)(wanted)
