"""`hybonet.nn.dropout` against torch's: forward and backward, on the sizes of a small Transformer's batch."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from benchmarks.timing import Ratio, medians, times_faster
from hybonet.nn.dropout import dropout


def run() -> list[Ratio]:
    torch.manual_seed(0)
    x = torch.randn(2048, 256, requires_grad=True)
    t = medians(
        {
            "ours": lambda: dropout(x, 0.1).sum().backward(),
            "torch": lambda: F.dropout(x, 0.1).sum().backward(),
        },
        repeats=60,
    )
    return [times_faster("dropout / F.dropout", "2048×256", t["ours"], t["torch"])]
