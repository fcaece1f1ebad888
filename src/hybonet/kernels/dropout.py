"""Dropout whose random bits are drawn many at a time, since on a processor torch's own is mostly drawing."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

#: Bits of an element's own random number: probabilities are met to within 2⁻¹⁶.
_BITS = 16
_PER_DRAW = 64 // _BITS


def dropout(x: Tensor, p: float, training: bool = True) -> Tensor:
    """``F.dropout``: elements set to 0 with probability p, the others divided by 1 - p.

    On processors a draw of 64 bits serves four elements, where torch draws once an element; `python -m benchmarks
    --only dropout` compares them. On other devices and in compiled graphs it is torch's own.
    """
    if not training or p == 0.0:
        return x
    if not 0.0 < p < 1.0 or x.device.type != "cpu" or torch.compiler.is_compiling():
        return F.dropout(x, p, training)
    return x * kept(x.shape, p).to(x.dtype).mul_(1.0 / (1.0 - p))


def kept(shape: torch.Size, p: float) -> Tensor:
    """A boolean mask of that shape for a processor, False with probability p."""
    dropped, size = round(p * 2**_BITS), shape.numel()
    if dropped == 2**_BITS:
        return torch.zeros(shape, dtype=torch.bool, device="cpu")
    draws = torch.randint(-(2**63), 2**63 - 1, (-(-size // _PER_DRAW),), device="cpu")
    return draws.view(torch.int16)[:size].view(shape) >= dropped - 2 ** (_BITS - 1)
