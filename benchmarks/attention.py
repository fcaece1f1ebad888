"""`lorentz_attention` against torch's fused attention, in time and memory, and against the naive n×n form."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.timing import Job, Ratio, lower_is_better, medians, peak_mebibytes, times_faster
from hybonet import Lorentz
from hybonet.nn import lorentz_attention

BATCH, HEADS, LENGTH, SIZE = 2, 8, 1024, 64


def naive(q: Tensor, k: Tensor, v: Tensor, manifold: Lorentz) -> Tensor:
    """The definition, with the matrix of all distances."""
    weights = torch.softmax(-manifold.csqdist(q, k) / SIZE**0.5, dim=-1)
    return manifold.to_sheet(weights @ v)


def run() -> list[Ratio]:
    torch.manual_seed(0)
    manifold = Lorentz()
    shape = (BATCH, HEADS, LENGTH, SIZE)
    q, k, v = (manifold.random_normal(*shape, std=SIZE**-0.5).requires_grad_() for _ in range(3))
    gradient = torch.randn(*shape)

    def step(attend: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Job:
        def job() -> None:
            q.grad = k.grad = v.grad = None
            attend(q, k, v).backward(gradient)

        return job

    jobs = {
        "sdpa": step(F.scaled_dot_product_attention),
        "lorentz": step(lambda q, k, v: lorentz_attention(q, k, v, manifold=manifold)),
        "naive": step(lambda q, k, v: naive(q, k, v, manifold)),
    }
    t = medians(jobs, repeats=15)

    def clear() -> None:
        q.grad = k.grad = v.grad = None

    held = 4 * q.numel() * q.element_size() / 2**20  # q, k, v and the incoming gradient, there from start to end
    memory = {name: peak_mebibytes(job, clear) for name, job in jobs.items()}
    topic, case = "lorentz_attention / SDPA", f"{BATCH}×{HEADS} heads, L={LENGTH}, d={SIZE}"
    return [
        lower_is_better(topic, case, t["lorentz"], t["sdpa"], 1.25),
        lower_is_better(
            topic, case, held + memory["lorentz"], held + memory["sdpa"], 1.25, quantity="peak memory", unit="MiB"
        ),
        lower_is_better(
            topic,
            case,
            memory["lorentz"],
            memory["sdpa"],
            quantity="peak memory beyond q, k, v and gradient",
            unit="MiB",
        ),
        times_faster("lorentz_attention / naive n×n", case, t["lorentz"], t["naive"], 2.0),
    ]
