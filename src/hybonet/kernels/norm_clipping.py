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
from hybonet.geometry.numerics import Curvature, precision
from hybonet.kernels.sparse_product import row_dots

#: Numbers worked on at a time: they stay in the cache from the first pass over them to the last.
_BLOCK = 1 << 17
#: So few numbers are added up by one thread.
_IN_ORDER = 1 << 15


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
    table: Tensor, index: Tensor, manifold: Lorentz, length: float, padding_idx: int | None, sparse: bool
) -> Tensor:
    """``clip_norms(length * F.embedding(index, table, padding_idx, sparse=sparse), None, manifold)`` as one function.

    Time is written into the rows that were looked up, and gradients go back to the table without a copy between.
    """
    if type(table) in (Tensor, nn.Parameter) and type(index) is Tensor and _quick(table, manifold):
        options = manifold, length, -1 if padding_idx is None else padding_idx, sparse
        return _LookedUp.apply(table, index, options)
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


def products_with_points(
    x: Tensor,
    rows: Tensor,
    bias: Tensor | None,
    manifold: Lorentz,
    *,
    factor: float | Tensor = 1.0,
    length: Curvature = 1.0,
    origin: Curvature = 0.0,
    constant: Curvature = 0.0,
    max_norm: float | None = None,
) -> Tensor:
    """``factor * (<x - o, c> + constant) + bias`` for the points c of rows times a length; ``(..., d) -> (..., C)``.

    The time of o is ``origin``, and it has no space. One function where numbers may be looked at.
    """
    constants = length, origin, constant
    plain = max_norm is None and all(type(t) in (Tensor, nn.Parameter) for t in (x, rows)) and x.dtype == rows.dtype
    if not (plain and _quick(rows, manifold)):
        return _products(x, clip_norms(rows * length, max_norm, manifold), bias, factor, origin, constant)
    if x.dim() == 2:
        return _ProductsWithPoints.apply(x, rows, bias, factor, manifold, constants)
    # Nobody might change a view that a function returns in place; nor may FSDP's modules return views.
    flat = _ProductsWithPoints.apply(x.reshape(-1, x.shape[-1]), rows, bias, factor, manifold, constants)
    return torch.ops.aten._unsafe_view(flat, [*x.shape[:-1], len(rows)])


def mirrored(x: Tensor, factor: float | Tensor, origin: Curvature = 0.0) -> Tensor:
    """What gives factor · <x - o, c> in a plain product with c."""
    if isinstance(factor, Tensor) or isinstance(origin, Tensor) or origin:
        return torch.cat((factor * (origin - x[..., :1]), factor * x[..., 1:]), dim=-1)
    signs = x.new_full(x.shape[-1:], factor)
    signs[0] = -factor
    return x * signs


def _products(
    x: Tensor, points: Tensor, bias: Tensor | None, factor: float | Tensor, origin: Curvature, constant: Curvature
) -> Tensor:
    constant = factor * constant
    question = mirrored(x, factor, origin)
    return F.linear(question, points) + constant if bias is None else F.linear(question, points, bias + constant)


class _ProductsWithPoints(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        rows: Tensor,
        bias: Tensor | None,
        factor: float | Tensor,
        manifold: Lorentz,
        constants: tuple[float, float, float],
    ) -> Tensor:
        length, origin, constant = ctx.constants = constants
        ctx.number = factor.item() if isinstance(factor, Tensor) else factor
        ctx.manifold = manifold
        ctx.save_for_backward(x, rows, *([factor] if isinstance(factor, Tensor) else []))
        ctx.points, ctx.within = _mirror_images(rows, length, manifold)
        if constant or bias is None:
            bias = ctx.number * constant + (x.new_zeros(1) if bias is None else bias)
        return torch.addmm(bias, _from(x, origin), ctx.points.T, alpha=ctx.number)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, rows, *learned = ctx.saved_tensors
        (length, origin, constant), wanted = ctx.constants, ctx.needs_input_grad
        of_bias = gradient.sum(0) if wanted[2] else None
        if torch.is_grad_enabled() or not ctx.within:  # a gradient of this gradient is wanted, or some are cut
            with_graph, factor = torch.is_grad_enabled(), learned[0] if learned else ctx.number
            with torch.enable_grad():
                points = _in_plain_steps(rows * length, None, ctx.manifold)
                out = _products(x, points, None, factor, origin, constant)
            inputs = [t for i, t in zip((0, 1, 3), (x, rows, *learned), strict=False) if wanted[i]]
            found = iter(torch.autograd.grad(out, inputs, gradient, create_graph=with_graph) if inputs else ())
            of_x, of_rows, of_factor = (next(found) if wanted[i] else None for i in (0, 1, 3))
            return of_x, of_rows, of_bias, of_factor, None, None
        # They become the gradient: a table is the most that is held, and whoever comes again makes them anew.
        points, ctx.points = ctx.points, None
        if points is None:
            points, _ = _mirror_images(rows, length, ctx.manifold)
        x = _from(x, origin)
        of_x = of_rows = of_factor = None
        if wanted[0] or wanted[3]:
            of_x = torch.addmm(x, gradient, points, beta=0.0, alpha=ctx.number)
            if wanted[3]:
                of_factor = torch.dot(of_x.flatten(), x.flatten()) / ctx.number + constant * gradient.sum()
        if wanted[1]:
            place = points.narrow(1, 0, 1)
            time = place.clone()
            of_rows = points.addmm_(gradient.T, x, beta=0.0, alpha=ctx.number * length)
            of_rows.addcmul_(rows, place / time, value=length)
            place.zero_()
        return of_x if wanted[0] else None, of_rows, of_bias, of_factor, None, None


class _LookedUp(torch.autograd.Function):
    """Rows of a table, times a length, with their time."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, index: Tensor, options: tuple[Lorentz, float, int, bool]) -> Tensor:
        manifold, length, padding, sparse = ctx.options = options
        out = torch.embedding(table, index, padding, False, sparse)
        if length != 1.0:
            out.mul_(length)
        ctx.within = _write_time(out, manifold)
        ctx.save_for_backward(table, index, out)
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        table, index, out = ctx.saved_tensors
        manifold, length, padding, sparse = ctx.options
        if torch.is_grad_enabled():  # a gradient of this gradient is wanted
            rows = torch.embedding(table, index, padding, False, sparse)
            points = _in_plain_steps(rows * length, None, manifold)
            return torch.autograd.grad(points, table, gradient, create_graph=True)[0], None, None
        if ctx.within and not sparse and kernels.run_on(gradient, out) and table.dtype == gradient.dtype:
            from hybonet.kernels.row_updates import scatter_chart

            of_table = torch.zeros_like(table)
            places = index.reshape(-1)
            scatter_chart(*_matrices(gradient, out), places, length, padding, of_table, torch.get_num_threads())
            return of_table, None, None
        of_rows = _of_chart(gradient, out, within=ctx.within)
        if length != 1.0:
            of_rows.mul_(length)
        if padding < 0 and not sparse and of_rows.numel() < _IN_ORDER:  # quicker than the gradient of torch's look-up
            return torch.zeros_like(table).index_put_((index,), of_rows, accumulate=True), None, None
        return torch.ops.aten.embedding_backward(of_rows, index, len(table), padding, False, sparse), None, None


def _mirror_images(rows: Tensor, length: float, manifold: Lorentz) -> tuple[Tensor, bool]:
    """Points of rows times a length, with minus their time; whether no coordinate had to be cut."""
    points = rows.clone() if length == 1.0 else rows * length
    return points, _write_time(points, manifold, sign=-1)


def _from(x: Tensor, origin: float) -> Tensor:
    """x - o."""
    if not origin:
        return x
    x = x.clone()
    x.select(-1, 0).sub_(origin)
    return x


def _write_time(rows: Tensor, manifold: Lorentz, *, sign: int = 1) -> bool:
    """Give rows their time, or minus it, in place; whether no coordinate had to be cut."""
    limit, k = longest(None, rows), -1.0 / manifold.curvature
    if kernels.run_on(rows):
        from hybonet.kernels.row_updates import add_time

        cut = torch.zeros(1, dtype=torch.bool)
        add_time(*_matrices(rows), k, limit, cut)
        if sign < 0:
            rows.select(-1, 0).neg_()
        return not cut.item()
    place = rows.select(-1, 0).fill_(k**0.5)  # then the length of the row is its time
    time = torch.linalg.vector_norm(rows, dim=-1)
    within = not time.numel() or time.max().item() < limit
    if not within:
        time = torch.linalg.vector_norm(rows.clamp_(-limit, limit), dim=-1)
    place.copy_(time) if sign > 0 else torch.neg(time, out=place)
    return within


def _of_chart(gradient: Tensor, points: Tensor, *, within: bool) -> Tensor:
    """The gradient of rows from that of their points: time follows from space, dt/dx = x/t."""
    if within and kernels.run_on(gradient, points):
        from hybonet.kernels.row_updates import take_time

        of_rows = torch.empty_like(points)
        take_time(*_matrices(gradient, points, of_rows))
        return of_rows
    share = gradient.narrow(-1, 0, 1) / points.narrow(-1, 0, 1)
    of_rows = torch.addcmul(gradient, points, share)
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
