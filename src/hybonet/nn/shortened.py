"""Rows of a table with a bounded space part: the hot path of tables with a max-norm."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from hybonet.geometry import Lorentz

#: Numbers worked on at a time: they stay in the cache from the first pass over them to the last.
_BLOCK = 1 << 17


def shortened(rows: Tensor, max_norm: float, manifold: Lorentz) -> Tensor:
    """Points whose space part is that of the rows, cut to a length of ``max_norm``; ``(..., d) -> (..., d)``.

    Large tables take a path that goes through memory once, forwards and backwards; the numbers are the same.

    Example:
        >>> import torch
        >>> shortened(torch.tensor([[0.0, 3.0, 4.0]]), 2.5, Lorentz())
        tensor([[2.6926, 1.5000, 2.0000]])
    """
    plain = manifold.learnable or torch.compiler.is_compiling() or rows.numel() <= _BLOCK
    if plain or not rows.is_contiguous() or rows.dtype.itemsize < 4:
        return _in_plain_steps(rows, max_norm, manifold)
    return _Shortened.apply(rows, max_norm, manifold)


def _in_plain_steps(rows: Tensor, max_norm: float, manifold: Lorentz) -> Tensor:
    space = rows[..., 1:]
    length = torch.linalg.vector_norm(space, dim=-1, keepdim=True)
    return manifold.lift(space * (max_norm / length.clamp_min(max_norm)))


class _Shortened(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, max_norm: float, manifold: Lorentz) -> Tensor:
        ctx.save_for_backward(rows)
        ctx.max_norm, ctx.manifold = max_norm, manifold
        out = torch.empty_like(rows)
        for x, y in zip(_blocks(rows), _blocks(out), strict=True):
            length = torch.linalg.vector_norm(x[:, 1:], dim=-1, keepdim=True)
            torch.mul(x, max_norm / length.clamp_min(max_norm), out=y)
            y[:, :1] = (length.clamp_max(max_norm).square() - 1.0 / manifold.curvature).sqrt()
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (rows,) = ctx.saved_tensors
        if torch.is_grad_enabled():  # a gradient of this gradient is wanted
            out = _in_plain_steps(rows, ctx.max_norm, ctx.manifold)
            return torch.autograd.grad(out, rows, gradient, create_graph=True)[0], None, None
        out = torch.empty_like(rows)
        for x, g, y in zip(_blocks(rows), _blocks(gradient.contiguous()), _blocks(out), strict=True):
            # With f the factor and t the time of the point: g_s + g_t f x/t is the gradient of the point in the chart,
            # and a row that was cut feels only what of it is at right angles to x.
            space, of_time = x[:, 1:], g[:, :1]
            length = torch.linalg.vector_norm(space, dim=-1, keepdim=True)
            factor = ctx.max_norm / length.clamp_min(ctx.max_norm)
            time = (length.clamp_max(ctx.max_norm).square() - 1.0 / ctx.manifold.curvature).sqrt()
            of_time = of_time * factor / time
            torch.mul(x, g, out=y)
            along = y.sum(-1, keepdim=True) - y[:, :1]
            radial = of_time + along / length.square().clamp_min(torch.finfo(x.dtype).tiny)
            torch.mul(g, factor, out=y)
            outward = factor * torch.where(length > ctx.max_norm, of_time - radial, of_time)
            y.addcmul_(x, outward.nan_to_num(0.0, 0.0, 0.0))  # a length beyond the largest number has no direction
            y[:, 0] = 0.0
        return out, None, None


def _blocks(table: Tensor) -> tuple[Tensor, ...]:
    """Parts of the table's rows, as matrices."""
    matrix = table.view(-1, table.shape[-1])
    return matrix.split(max(1, _BLOCK // matrix.shape[1]))
