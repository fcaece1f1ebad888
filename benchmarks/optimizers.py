"""`RiemannianAdam` against geoopt's on a table of WN18RR's size, and its sparse against its dense path."""

from __future__ import annotations

import geoopt
import torch

from benchmarks.timing import Job, Prepared, Ratio, medians, times_faster
from hybonet import Lorentz
from hybonet.optim import RiemannianAdam

ROWS, SIZE = 40_943, 32
MANY, TOUCHED = 1_000_000, 50_000


def stepper(optimizer: torch.optim.Optimizer, parameter: torch.Tensor, gradient: torch.Tensor) -> Job:
    def give_gradient() -> None:
        parameter.grad = gradient.clone()  # geoopt's step changes the gradient it is given

    return Prepared(give_gradient, optimizer.step)


def table(rows: int) -> torch.nn.Parameter:
    parameter = torch.nn.Parameter(Lorentz().random_normal(rows, SIZE, std=SIZE**-0.5))
    parameter.manifold = Lorentz()  # type: ignore[attr-defined]
    return parameter


def run() -> list[Ratio]:
    torch.manual_seed(0)
    gradient = 0.1 * torch.randn(ROWS, SIZE)
    peer = geoopt.ManifoldParameter(table(ROWS).detach(), manifold=geoopt.Lorentz(k=1.0))
    exact, compiled, chart = (table(ROWS) for _ in range(3))
    t = medians(
        {
            "geoopt": stepper(geoopt.optim.RiemannianAdam([peer], lr=1e-3), peer, gradient),
            "exact": stepper(RiemannianAdam([exact], lr=1e-3), exact, gradient),
            "compiled": stepper(RiemannianAdam([compiled], lr=1e-3, compiled=True), compiled, gradient),
            "chart": stepper(RiemannianAdam([chart], lr=1e-3, update="chart"), chart, gradient),
        },
        repeats=15,
    )
    topic, case = "RiemannianAdam / geoopt", f"{ROWS:,}×{SIZE}"
    rows = [
        times_faster(topic, f"{case}, exact", t["exact"], t["geoopt"], 5.0),
        times_faster(topic, f"{case}, exact, compiled", t["compiled"], t["geoopt"], 5.0),
        times_faster(topic, f"{case}, chart", t["chart"], t["geoopt"], 5.0),
    ]
    index = torch.randperm(MANY)[:TOUCHED]
    values = 0.1 * torch.randn(TOUCHED, SIZE)
    few = torch.sparse_coo_tensor(index[None], values, (MANY, SIZE), check_invariants=True).coalesce()
    dense, sparse = table(MANY), table(MANY)
    t = medians(
        {
            "dense": stepper(RiemannianAdam([dense], lr=1e-3), dense, few.to_dense()),
            "sparse": stepper(RiemannianAdam([sparse], lr=1e-3), sparse, few),
        },
        repeats=7,
        warmup=2,
    )
    rows.append(
        times_faster(
            "RiemannianAdam sparse / dense", f"{MANY:,}×{SIZE}, {TOUCHED:,} rows touched", t["sparse"], t["dense"], 10.0
        )
    )
    return rows
