"""Fair comparison on a noisy machine: all sides in one run, interleaved, after warm-up, median of repeats."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import torch
from torch.profiler import ProfilerActivity, profile

Job = Callable[[], object]


@dataclass(frozen=True)
class Prepared:
    """A job with work before it that is not its own, and not timed."""

    prepare: Job
    run: Job

    def __call__(self) -> None:
        self.prepare()
        self.run()


@dataclass(frozen=True)
class Ratio:
    """One line of the table: a ratio with the two figures behind it, and the bound it should keep."""

    topic: str
    case: str
    quantity: str
    ours: float
    peer: float
    unit: str
    target: str
    #: Bound on ``ratio``: an upper one for "<=", a lower one for ">=".
    bound: float
    faster_is: str  # "ours/peer" (of times, want small), "peer/ours" (want large) or "speeds" (ours/peer, want large)

    @property
    def ratio(self) -> float:
        return self.peer / self.ours if self.faster_is == "peer/ours" else self.ours / self.peer

    @property
    def met(self) -> bool | None:
        if not self.bound:
            return None  # given for information
        return self.ratio <= self.bound if self.faster_is == "ours/peer" else self.ratio >= self.bound

    def as_record(self) -> dict[str, object]:
        return {**asdict(self), "ratio": self.ratio, "met": self.met}


def medians(jobs: dict[str, Job], *, repeats: int, warmup: int = 3) -> dict[str, float]:
    """Median milliseconds of each job; one round runs every job once, so slow spells hit all of them."""
    for job in jobs.values():
        for _ in range(warmup):
            job()
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            if isinstance(job, Prepared):
                job.prepare()
                job = job.run
            start = time.perf_counter()
            job()
            times[name].append(1e3 * (time.perf_counter() - start))
    return {name: statistics.median(values) for name, values in times.items()}


def peak_mebibytes(job: Job, clear: Job) -> float:
    """Largest amount of tensor memory that a job holds at once beyond what was there before it.

    ``clear`` frees what the job before left: memory that is freed while watching must have been seen before.
    """
    job()
    clear()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        job()
    events = profiler.profiler.kineto_results.events()  # type: ignore[union-attr]
    current = peak = 0
    for event in sorted((e for e in events if e.name() == "[memory]"), key=lambda e: e.start_ns()):
        current += event.nbytes()
        peak = max(peak, current)
    return peak / 2**20


def training_step(model: torch.nn.Module, x: torch.Tensor, gradient: torch.Tensor) -> Job:
    """Forward and backward, gradients of input and parameters."""
    parameters = list(model.parameters())

    def job() -> None:
        x.grad = None
        for parameter in parameters:
            parameter.grad = None
        model(x).backward(gradient)

    return job


def lower_is_better(
    topic: str, case: str, ours: float, peer: float, bound: float = 0.0, *, quantity: str = "time", unit: str = "ms"
) -> Ratio:
    """A ratio ours/peer that should stay at or below the bound (0: for information)."""
    return Ratio(topic, case, quantity, ours, peer, unit, f"≤ {bound:g}×" if bound else "", bound, "ours/peer")


def times_faster(topic: str, case: str, ours: float, peer: float, bound: float = 0.0) -> Ratio:
    """A ratio peer/ours that should be at least the bound (0: for information)."""
    return Ratio(topic, case, "time", ours, peer, "ms", f"≥ {bound:g}× faster" if bound else "", bound, "peer/ours")


def share_of_speed(topic: str, case: str, ours: float, peer: float, unit: str, bound: float = 0.0) -> Ratio:
    """A ratio ours/peer of speeds that should be at least the bound (0: for information)."""
    return Ratio(topic, case, "speed", ours, peer, unit, f"≥ {bound:g}×" if bound else "", bound, "speeds")
