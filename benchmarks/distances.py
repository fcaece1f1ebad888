"""`cdist` against the usual acosh of inner products and against torch's Euclidean one: forward and backward."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from benchmarks.timing import Job, Ratio, lower_is_better, medians
from hybonet import Lorentz

#: Attention of a small Transformer's batch, and points against classes.
SHAPES = (((256, 25, 16), (256, 25, 16)), ((2048, 64), (1000, 64)))


def by_acosh(x: Tensor, y: Tensor) -> Tensor:
    """What other libraries do for K = -1; the clamp keeps the slope finite."""
    flipped = torch.cat((x[..., :1], -x[..., 1:]), dim=-1)
    return torch.acosh((flipped @ y.mT).clamp_min(1.0 + 1e-6))


def run() -> list[Ratio]:
    torch.manual_seed(0)
    manifold = Lorentz()
    rows = []
    for first, second in SHAPES:
        x, y = (manifold.random_normal(*shape, std=0.3).requires_grad_() for shape in (first, second))

        def step(distances: Callable[[Tensor, Tensor], Tensor], x: Tensor = x, y: Tensor = y) -> Job:
            def job() -> None:
                x.grad = y.grad = None
                distances(x, y).sum().backward()

            return job

        t = medians({"ours": step(manifold.cdist), "acosh": step(by_acosh), "euclidean": step(torch.cdist)}, repeats=30)
        case = f"{'×'.join(map(str, first))} and {'×'.join(map(str, second))}"
        rows += [
            lower_is_better("cdist / acosh of inner products", case, t["ours"], t["acosh"]),
            lower_is_better("cdist / torch.cdist", case, t["ours"], t["euclidean"]),
        ]
    return rows
