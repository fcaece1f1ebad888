"""Points of the rows of a table, and rows of one that is read as a whole as well: the hot path of look-ups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

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

    Time of the rows is not looked at. Where numbers may be read, paths that go through memory once are taken, forwards
    and backwards (with ``max_norm``, for large tables); the numbers are the same.
    """
    if not _quick(rows, manifold) or (max_norm is not None and rows.numel() <= _BLOCK):
        return _in_plain_steps(rows, max_norm, manifold)
    if max_norm is None:
        return _Timed.apply(rows, manifold)
    return _ClipNorms.apply(rows, max_norm, manifold)


def looked_up(
    table: Tensor, index: Tensor, manifold: Lorentz, *, length: float, padding_idx: int | None, sparse: bool
) -> Tensor:
    """``clip_norms(length * F.embedding(index, table, padding_idx, sparse=sparse), None, manifold)`` as one function.

    Time is written into the rows that were looked up, and gradients go back to the table without a copy between.
    """
    if type(table) in (Tensor, nn.Parameter) and type(index) is Tensor and _quick(table, manifold):
        return _LookedUp.apply(table, index, manifold, length, -1 if padding_idx is None else padding_idx, sparse)
    rows = F.embedding(index, table, padding_idx, sparse=sparse)
    return clip_norms(rows if length == 1.0 else rows * length, None, manifold)


def _quick(rows: Tensor, manifold: Lorentz) -> bool:
    """Whether functions with numbers in view may be used."""
    return not manifold.learnable and rows.dtype.itemsize >= 4 and rows.is_contiguous() and readable(rows)


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
        out = rows.clone()
        ctx.within = _write_time(out, manifold)
        ctx.manifold = manifold
        ctx.save_for_backward(rows, out)
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        rows, out = ctx.saved_tensors
        if torch.is_grad_enabled():  # a gradient of this gradient is wanted
            points = _in_plain_steps(rows, None, ctx.manifold)
            return torch.autograd.grad(points, rows, gradient, create_graph=True)[0], None
        return _of_chart(gradient, out, within=ctx.within), None


def products_with_points(question: Tensor, rows: Tensor, bias: Tensor | None, manifold: Lorentz) -> Tensor:
    """``F.linear(question, clip_norms(rows, None, manifold), bias)`` in one: ``(..., d), (C, d) -> (..., C)``."""
    plain = all(type(t) in (Tensor, nn.Parameter) for t in (question, rows))
    if plain and question.dtype == rows.dtype and _quick(rows, manifold):
        if question.dim() == 2:
            return _ProductsWithPoints.apply(question, rows, bias, manifold)
        # Nobody might change a view that a function returns in place; nor may FSDP's modules return views.
        flat = _ProductsWithPoints.apply(question.reshape(-1, question.shape[-1]), rows, bias, manifold)
        return torch.ops.aten._unsafe_view(flat, [*question.shape[:-1], len(rows)])
    return F.linear(question, clip_norms(rows, None, manifold), bias)


class _ProductsWithPoints(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, question: Tensor, rows: Tensor, bias: Tensor | None, manifold: Lorentz) -> Tensor:
        points = rows.clone()
        ctx.within, ctx.manifold = _write_time(points, manifold), manifold
        ctx.save_for_backward(question, rows, points)
        return F.linear(question, points, bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        question, rows, points = ctx.saved_tensors
        wanted, all_of = ctx.needs_input_grad, gradient.reshape(-1, gradient.shape[-1])
        of_bias = all_of.sum(0) if wanted[2] else None
        if torch.is_grad_enabled():  # a gradient of this gradient is wanted
            inputs = [t for t, asked in zip((question, rows), wanted, strict=False) if asked]
            out = F.linear(question, _in_plain_steps(rows, None, ctx.manifold))
            found = iter(torch.autograd.grad(out, inputs, gradient, create_graph=True) if inputs else ())
            return *(next(found) if asked else None for asked in wanted[:2]), of_bias, None
        of_question = gradient @ points if wanted[0] else None
        of_rows = all_of.T @ question.reshape(-1, question.shape[-1]) if wanted[1] else None
        if of_rows is not None:
            of_rows = _of_chart(of_rows, points, within=ctx.within, out=of_rows)
        return of_question, of_rows, of_bias, None


class _LookedUp(torch.autograd.Function):
    """Rows of a table, times a length, with their time."""

    @staticmethod
    def forward(
        ctx: Any, table: Tensor, index: Tensor, manifold: Lorentz, length: float, padding: int, sparse: bool
    ) -> Tensor:
        out = torch.embedding(table, index, padding, False, sparse)
        if length != 1.0:
            out.mul_(length)
        ctx.within = _write_time(out, manifold)
        ctx.options = manifold, length, padding, sparse
        ctx.save_for_backward(table, index, out)
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        table, index, out = ctx.saved_tensors
        manifold, length, padding, sparse = ctx.options
        if torch.is_grad_enabled():  # a gradient of this gradient is wanted
            rows = torch.embedding(table, index, padding, False, sparse)
            points = _in_plain_steps(rows * length, None, manifold)
            return torch.autograd.grad(points, table, gradient, create_graph=True)[0], *(None,) * 5
        if ctx.within and not sparse and kernels.run_on(gradient, out) and table.dtype == gradient.dtype:
            from hybonet.kernels.row_updates import scatter_chart

            of_table = torch.zeros_like(table)
            places = index.reshape(-1)
            scatter_chart(*_matrices(gradient, out), places, length, padding, of_table, torch.get_num_threads())
            return of_table, *(None,) * 5
        of_rows = _of_chart(gradient, out, within=ctx.within)
        if length != 1.0:
            of_rows.mul_(length)
        of_table = torch.ops.aten.embedding_backward(of_rows, index, len(table), padding, False, sparse)
        return of_table, *(None,) * 5


def _write_time(rows: Tensor, manifold: Lorentz) -> bool:
    """Give rows their time, in place; whether no coordinate had to be cut."""
    limit, k = longest(None, rows), -1.0 / manifold.curvature
    if kernels.run_on(rows):
        from hybonet.kernels.row_updates import add_time

        cut = torch.zeros(1, dtype=torch.bool)
        add_time(*_matrices(rows), k, limit, cut)
        return not cut.item()
    place = rows.select(-1, 0).fill_(k**0.5)  # then the length of the row is its time
    time = torch.linalg.vector_norm(rows, dim=-1)
    within = not time.numel() or time.max().item() < limit
    if not within:
        time = torch.linalg.vector_norm(rows.clamp_(-limit, limit), dim=-1)
    place.copy_(time)
    return within


def _of_chart(gradient: Tensor, points: Tensor, *, within: bool, out: Tensor | None = None) -> Tensor:
    """The gradient of rows from that of their points: time follows from space, dt/dx = x/t."""
    if within and kernels.run_on(gradient, points):
        from hybonet.kernels.row_updates import take_time

        of_rows = torch.empty_like(points) if out is None else out
        take_time(*_matrices(gradient, points, of_rows))
        return of_rows
    of_rows = torch.addcmul(gradient, points, gradient[..., :1] / points[..., :1], out=out)
    if not within:  # what was cut stands still
        limit = longest(None, points)
        of_rows = torch.ops.aten.hardtanh_backward(of_rows, points, -limit, limit)
    of_rows.select(-1, 0).zero_()
    return of_rows


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
