"""`hybonet.nn.dropout` against torch's: forward and backward, on the sizes of a small Transformer's batch."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.timing import Job, Ratio, medians, times_faster
from hybonet.nn.dropout import dot_product_attention, dropout


def run() -> list[Ratio]:
    torch.manual_seed(0)
    hidden, (q, k, v) = torch.randn(2048, 256, requires_grad=True), torch.randn(3, 128, 4, 16, 16, requires_grad=True)
    mask = torch.ones(128, 1, 1, 16, dtype=torch.bool)

    def step(result: Tensor) -> None:
        result.sum().backward()

    jobs: dict[str, Job] = {
        "dropout": lambda: step(dropout(hidden, 0.1)),
        "torch dropout": lambda: step(F.dropout(hidden, 0.1)),
        "attention": lambda: step(dot_product_attention(q, k, v, attn_mask=mask, dropout_p=0.1)),
        "torch attention": lambda: step(F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=0.1)),
    }
    t = medians(jobs, repeats=60)
    return [
        times_faster("dropout / F.dropout", "2048×256", t["dropout"], t["torch dropout"]),
        times_faster(
            "attention with dropout / torch's", "128 sentences, 4 heads, 16×16", t["attention"], t["torch attention"]
        ),
    ]
