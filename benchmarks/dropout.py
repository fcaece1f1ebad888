"""`hybonet.nn.dropout` against torch's, by itself and inside attention, on the sizes of a small Transformer's batch."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.timing import Job, Ratio, lower_is_better, medians, peak_mebibytes, times_faster
from hybonet import Lorentz
from hybonet.nn import lorentz_attention
from hybonet.nn.dropout import dropout

P, HEADS, SIZE = 0.1, 4, 16
#: Sentences and their length: about two thousand tokens each.
BATCHES = ((80, 25), (32, 64), (8, 256))


def run() -> list[Ratio]:
    torch.manual_seed(0)
    x = torch.randn(2048, 256, requires_grad=True)
    t = medians(
        {
            "ours": lambda: dropout(x, P).sum().backward(),
            "torch": lambda: F.dropout(x, P).sum().backward(),
        },
        repeats=60,
    )
    rows = [times_faster("dropout / F.dropout", "2048×256", t["ours"], t["torch"])]
    for sentences, length in BATCHES:
        rows += attention(sentences, length)
    return rows


def attention(sentences: int, length: int) -> list[Ratio]:
    """Forward and backward of attention whose weights are dropped out: ours hides keys, torch's drops weights."""
    manifold = Lorentz()
    shape = (sentences, HEADS, length, SIZE)
    q, k, v = (manifold.random_normal(*shape, std=SIZE**-0.5).requires_grad_() for _ in range(3))
    gradient = torch.randn(*shape)

    def clear() -> None:
        q.grad = k.grad = v.grad = None

    def step(attend: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Job:
        def job() -> None:
            clear()
            attend(q, k, v).backward(gradient)

        return job

    jobs = {
        "ours": step(lambda q, k, v: lorentz_attention(q, k, v, manifold=manifold, dropout_p=P)),
        "torch": step(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, dropout_p=P)),
    }
    t = medians(jobs, repeats=30)
    memory = {name: peak_mebibytes(job, clear) for name, job in jobs.items()}
    topic, case = "lorentz_attention / SDPA, dropout", f"{sentences}×{HEADS} heads, L={length}, d={SIZE}"
    return [
        lower_is_better(topic, case, t["ours"], t["torch"]),
        lower_is_better(topic, case, memory["ours"], memory["torch"], quantity="peak memory", unit="MiB"),
    ]
