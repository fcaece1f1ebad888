"""Dropout whose random bits are drawn many at a time, since on a processor torch's own is mostly drawing."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

#: Bits of an element's own random number: probabilities are met to within 2⁻¹⁶.
_BITS = 16
_PER_DRAW = 64 // _BITS


def dropout(x: Tensor, p: float, training: bool = True) -> Tensor:
    """``F.dropout``: elements set to 0 with probability p, the others divided by 1 - p.

    On processors a draw of 64 bits serves four elements, where torch draws once an element (`python -m benchmarks --only dropout`).
    On other devices and in compiled graphs it is torch's own.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> dropout(torch.ones(4), 0.5)
        tensor([0., 0., 2., 0.])
        >>> dropout(torch.ones(2), 0.5, training=False)
        tensor([1., 1.])
    """
    if not training or p == 0.0:
        return x
    if not 0.0 < p < 1.0 or x.device.type != "cpu" or torch.compiler.is_compiling():
        return F.dropout(x, p, training)
    return x * _mask(x, p)


def _mask(x: Tensor, p: float) -> Tensor:
    """0 with probability p, else 1 / (1 - p); of the shape and type of x."""
    size = x.numel()
    draws = torch.empty(-(-size // _PER_DRAW), dtype=torch.int64).random_(-(2**63), None)
    numbers = draws.view(torch.int16)[:size].view(x.shape)
    least = -(2 ** (_BITS - 1))
    return (numbers >= least + round(p * 2**_BITS)).to(x.dtype).mul_(1.0 / (1.0 - p))


class Dropout(nn.Dropout):
    """``nn.Dropout`` by :func:`dropout`."""

    def forward(self, input: Tensor) -> Tensor:
        return dropout(input, self.p, self.training)


def dot_product_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """``F.scaled_dot_product_attention``, with :func:`dropout` where torch has no fused kernel: on processors, for
    weights that are dropped.

    Example:
        >>> q = torch.randn(2, 3, 4)
        >>> torch.equal(dot_product_attention(q, q, q), F.scaled_dot_product_attention(q, q, q))
        True
    """
    if dropout_p == 0.0 or q.device.type != "cpu" or torch.compiler.is_compiling():
        return F.scaled_dot_product_attention(
            q, k, v, attn_mask=attn_mask, dropout_p=dropout_p, is_causal=is_causal, scale=scale
        )
    scale = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    logits = (q if scale == 1.0 else q * scale) @ k.transpose(-1, -2)
    if is_causal:
        attn_mask = torch.ones(logits.shape[-2:], dtype=torch.bool, device=q.device).tril()
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        attn_mask = torch.zeros_like(attn_mask, dtype=logits.dtype).masked_fill_(~attn_mask, -math.inf)
    if attn_mask is not None:
        logits = logits + attn_mask
    # As in torch's function, a query that may attend to nothing gathers nothing.
    return dropout(torch._safe_softmax(logits, -1), dropout_p) @ v
