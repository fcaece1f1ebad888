"""One epoch and one evaluation with the paper's recipes, against this machine's memory bandwidth and GEMM speed.

    python -m benchmarks.kg_epoch --json benchmarks/results/kg_epoch.json

An epoch is timed on some of its batches and scaled up; the steps are timed with and without compiled loops (numba), in
turn. Its lower bound is the memory traffic that no implementation
with a dense optimiser avoids: rows of candidates read once, their gradients read and written once, and for every
number of the entities and the relations' maps the parameter, two moments and the gradient read and all but the gradient
written. An evaluation's lower bound is its matrix products at the speed of one large GEMM. Every recipe has a process
of its own, whose largest memory is given, evaluation included.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.child import in_child, peak_mebibytes
from benchmarks.environment import environment
from benchmarks.kg_steps import Steps
from hybonet import kernels
from hybonet.data import load_knowledge_graph
from hybonet.recipes import recipe
from hybonet.tasks.knowledge_graph.task import rank_split
from hybonet.training import override

RECIPES = ("paper-wn18rr-32", "paper-fb15k237-32", "paper-wn18rr-500", "paper-fb15k237-500")
#: The recipes' own optimiser is the exact one; the small recipe is timed with the default as well.
CASES = ((RECIPES[0], "chart"), *((name, None) for name in RECIPES))
FLOAT = 4
#: How often steps with and without compiled loops take turns.
ROUNDS = 3


def seconds_of(job: Callable[[], object], repeats: int, warmup: int = 1) -> float:
    for _ in range(warmup):
        job()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def bandwidth() -> float:
    """Bytes a second of c = a + b over arrays far larger than the caches."""
    a, b, c = (torch.zeros(1 << 25) for _ in range(3))
    return 3 * FLOAT * len(a) / seconds_of(lambda: torch.add(a, b, out=c), 10, warmup=3)


def gemm_speed() -> float:
    """Floating-point operations per second of a large matrix product."""
    a, b = torch.randn(2048, 2048), torch.randn(2048, 2048)
    return 2 * 2048**3 / seconds_of(lambda: a @ b, 10, warmup=3)


def step_bytes(entities: int, relations: int, dim: int, batch: int, negatives: int) -> int:
    rows = batch * (negatives + 2)
    numbers = dim * entities + 2 * relations * dim * dim  # reciprocal relations have maps of their own
    return FLOAT * (3 * rows * dim + 7 * numbers)


def measure(name: str, optimizer: str | None, batches: int) -> dict[str, Any]:
    chosen = recipe(name)
    settings = chosen.settings if optimizer is None else override(chosen.settings, [f"optimizer={optimizer}"])
    steps = Steps(settings, load_knowledge_graph(chosen.data or ""))
    task, model = steps.task, steps.model
    times: dict[bool, list[float]] = {True: [], False: []}
    for round_ in range(ROUNDS + 1):
        for compiled, seconds in times.items():
            with nullcontext() if compiled else kernels.switched(on=False):
                found = steps.seconds(batches if round_ else 3)
            seconds += found if round_ else []  # the first are to warm up
    per_step = statistics.median(times[True])
    model.eval()
    per_evaluation = seconds_of(lambda: rank_split(model, task.data, "test"), 3)
    counts = task.data.num_entities, task.data.num_relations
    traffic = step_bytes(*counts, settings.dim, settings.batch_size, settings.negatives)
    products = 2 * 2 * len(task.data.test) * task.data.num_entities * settings.dim
    return {
        "recipe": name if optimizer is None else f"{name}, optimizer={optimizer}",
        "batches_an_epoch": task.batches_per_epoch(),
        "step_seconds": per_step,
        "step_seconds_without_compiled_loops": statistics.median(times[False]),
        "epoch_seconds": per_step * task.batches_per_epoch(),
        "step_bytes_at_least": traffic,
        "test_evaluation_seconds": per_evaluation,
        "evaluation_flops": products,
        "peak_mebibytes": peak_mebibytes(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", choices=RECIPES, action="append")
    parser.add_argument("--batches", type=int, default=10, help="timed in a row, three times each way")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    start = time.perf_counter()
    speed = {"bytes_a_second": bandwidth(), "gemm_flops": gemm_speed()}
    wanted = arguments.only or RECIPES
    rows = [
        in_child(measure, name, optimizer, arguments.batches, threads=arguments.threads)
        for name, optimizer in CASES
        if name in wanted
    ]
    for row in rows:
        row["step_over_traffic_limit"] = row["step_seconds"] / (row["step_bytes_at_least"] / speed["bytes_a_second"])
        limit = row["evaluation_flops"] / speed["gemm_flops"]
        row["evaluation_over_gemm_limit"] = row["test_evaluation_seconds"] / limit
    record = {**environment(), "seconds": round(time.perf_counter() - start, 1), **speed, "rows": rows}
    table = Table(
        "recipe", "epoch, s", "step, ms", "not compiled", "MB a step, at least", "× its limit", "evaluation, s",
        "× its limit", "peak, MiB",
        title=f"memory {speed['bytes_a_second'] / 1e9:.1f} GB/s, GEMM {speed['gemm_flops'] / 1e9:.0f} GFLOP/s",
    )  # fmt: skip
    for row in rows:
        figures = (
            row["epoch_seconds"], 1e3 * row["step_seconds"], 1e3 * row["step_seconds_without_compiled_loops"],
            row["step_bytes_at_least"] / 1e6,
            row["step_over_traffic_limit"], row["test_evaluation_seconds"], row["evaluation_over_gemm_limit"],
        )  # fmt: skip
        table.add_row(row["recipe"], *(f"{figure:.1f}" for figure in figures), f"{row['peak_mebibytes']:,.0f}")
    Console(width=120).print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
