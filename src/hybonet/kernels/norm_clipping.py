"""Points of the rows of a table, and rows of one that is read as a whole as well: the hot path of look-ups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from hybonet import kernels
from hybonet.geometry import Lorentz
from hybonet.geometry.fused import readable
from hybonet.geometry.lorentz import lift_onto
from hybonet.geometry.numerics import precision
from hybonet.kernels.sparse_product import row_dots

#: Numbers worked on at a time: they stay in the cache from the first pass over them to the last.
_BLOCK = 1 << 17


def clip_norms(rows: Tensor, max_norm: float | None, manifold: Lorentz) -> Tensor:
    """Points whose space part is that of the rows, clipped to ``max_norm`` if given; ``(..., d) -> (..., d)``.

    Time of the rows is not looked at. Large tables take a path that goes through memory once, forwards and backwards;
    the numbers are the same.
    """
    plain = manifold.learnable or not readable(rows) or rows.numel() <= _BLOCK
    if plain or not rows.is_contiguous() or rows.dtype.itemsize < 4:
        return _in_plain_steps(rows, max_norm, manifold)
    if max_norm is None:
        return _Timed.apply(rows, manifold)
    return _ClipNorms.apply(rows, max_norm, manifold)


def longest(max_norm: float | None, rows: Tensor) -> float:
    """The bound on the rows' space parts; without one, the dtype's."""
    return precision(rows.dtype).max_coordinate if max_norm is None else max_norm


def _in_plain_steps(rows: Tensor, max_norm: float | None, manifold: Lorentz) -> Tensor:
    if max_norm is None:
        return lift_onto(rows, K=manifold.K)
    space = rows[..., 1:]
    length = torch.linalg.vector_norm(space, dim=-1, keepdim=True)
    # As the fast path has it, a row of just that length does not grow; the gradient of a clamp there is torch's affair.
    return manifold.lift(space * (max_norm / torch.where(length > max_norm, length, max_norm)))


@dataclass(frozen=True)
class NormClipping:
    """What makes points of rows: two numbers per row, so that the points themselves need not be made.

    Attributes:
        factor: of the space part, ``(N,)``; 1 where the row is short enough.
        time: of the point, ``(N,)``.
        length: of the row's space part.
    """

    factor: Tensor
    time: Tensor
    length: Tensor

    @classmethod
    def of(cls, rows: Tensor, max_norm: float, manifold: Lorentz) -> NormClipping:
        """The clipping of a table's rows, ``(N, d)``."""
        length = torch.linalg.vector_norm(rows[:, 1:], dim=-1)
        factor = max_norm / length.clamp_min(max_norm)
        time = length.clamp_max(max_norm).square_().sub_(1.0 / manifold.curvature).sqrt_()
        return cls(factor, time, length)

    def back_(self, rows: Tensor, of_space: Tensor, of_time: Tensor, along: Tensor) -> Tensor:
        """The gradient of the rows from that of their points, made in place of ``of_space``.

        Args:
            rows: the table, ``(N, d)``.
            of_space: gradient of the points times :attr:`factor`, ``(N, d)``; time is not looked at.
            of_time: gradient of the points' time, ``(N,)``.
            along: inner products of ``rows`` and ``of_space`` without time, ``(N,)``.
        """
        # Time follows from space, dt/dx = x/t. The length of a row that was clipped is fixed: it feels only what of the
        # gradient is at right angles to it.
        outward = torch.where(self.factor < 1, -along / self.length / self.length, of_time / self.time)
        of_space.addcmul_(rows, outward[:, None])
        of_space[:, 0] = 0.0
        return of_space


class _ClipNorms(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, max_norm: float, manifold: Lorentz) -> Tensor:
        ctx.save_for_backward(rows)
        ctx.max_norm, ctx.manifold = max_norm, manifold
        out = torch.empty_like(rows)
        for x, y in zip(_blocks(rows), _blocks(out), strict=True):
            clip = NormClipping.of(x, max_norm, manifold)
            torch.mul(x, clip.factor[:, None], out=y)
            y[:, 0] = clip.time
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (rows,) = ctx.saved_tensors
        if torch.is_grad_enabled():  # a gradient of this gradient is wanted
            out = _in_plain_steps(rows, ctx.max_norm, ctx.manifold)
            return torch.autograd.grad(out, rows, gradient, create_graph=True)[0], None, None
        out = torch.empty_like(rows)
        for x, g, y in zip(_blocks(rows), _blocks(gradient.contiguous()), _blocks(out), strict=True):
            clip = NormClipping.of(x, ctx.max_norm, ctx.manifold)
            torch.mul(g, clip.factor[:, None], out=y)[:, 0] = 0.0
            clip.back_(x, y, g[:, 0], row_dots(x, y))
        return out, None, None


class _Timed(torch.autograd.Function):
    """Rows with their time, otherwise as they are."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, manifold: Lorentz) -> Tensor:
        limit = longest(None, rows)
        ctx.manifold = manifold
        if kernels.run_on(rows):
            from hybonet.kernels.row_updates import add_time

            out = torch.empty_like(rows)
            add_time(*_matrices(rows, out), -1.0 / manifold.curvature, limit)
            ctx.save_for_backward(rows, out)
            return out
        length = torch.linalg.vector_norm(rows[..., 1:], dim=-1)
        out = rows.clone() if bool((length <= limit).all()) else rows.clamp(-limit, limit)
        out[..., 0] = length.clamp_max_(limit).square_().sub_(1.0 / manifold.curvature).sqrt_()
        ctx.save_for_backward(rows, out)
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        rows, out = ctx.saved_tensors
        if torch.is_grad_enabled():  # a gradient of this gradient is wanted
            points = _in_plain_steps(rows, None, ctx.manifold)
            return torch.autograd.grad(points, rows, gradient, create_graph=True)[0], None
        if kernels.run_on(gradient, out):
            from hybonet.kernels.row_updates import take_time

            of_rows = torch.empty_like(out)
            take_time(*_matrices(gradient, out, of_rows))
            return of_rows, None
        of_rows = torch.addcmul(gradient, out, gradient[..., :1] / out[..., :1])
        of_rows[..., 0] = 0.0
        return of_rows, None


def _matrices(*tensors: Tensor) -> list[Tensor]:
    return [each.detach().view(-1, each.shape[-1]) for each in tensors]


def _blocks(table: Tensor) -> tuple[Tensor, ...]:
    """Parts of the table's rows, as matrices."""
    matrix = table.view(-1, table.shape[-1])
    return matrix.split(max(1, _BLOCK // matrix.shape[1]))


def rows_and_table(table: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of a table, ``(n, d), (B,) -> (B, d)``, and the table to go on with, so that both have one gradient.

    Left to torch, a few rows would cost as much as the whole table: a gradient of zeros as large as it is, and a pass
    to add it to the other one. Here the rows' gradient is added in place to that of the table returned. So the function
    that reads that table must return a gradient that nobody else holds (``per_triple_scores``
    does). Differentiable once.
    """
    return _RowsAndTable.apply(table, index)


class _RowsAndTable(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(index)
        ctx.shape = table.shape
        return table.index_select(0, index), table.view_as(table)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, of_rows: Tensor | None, of_table: Tensor | None) -> tuple[Tensor | None, None]:
        (index,) = ctx.saved_tensors
        if of_rows is not None:
            of_table = of_rows.new_zeros(ctx.shape) if of_table is None else of_table
            of_table.index_add_(0, index, of_rows)
        return of_table, None
