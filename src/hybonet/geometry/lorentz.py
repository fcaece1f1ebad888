r"""The Lorentz model as pure functions; curvature ``K < 0`` is keyword-only and may be a float or a 0-d tensor.

A point is a vector of *ambient* coordinates, time first: :math:`x = (x_t, x_s)` with
:math:`\langle x, x\rangle_L = -x_t^2 + |x_s|^2 = 1/K` and :math:`x_t > 0`. We write :math:`k = -1/K`.
Every function works on the last dimension and broadcasts over the others.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from hybonet.geometry.fused import Fused, readable
from hybonet.geometry.numerics import Curvature, bounded, origin_time, precision, working


def require_coordinates(x: Tensor, least: int = 2) -> None:
    """Refuse points without space, or space without coordinates.

    Example:
        >>> import torch
        >>> require_coordinates(torch.zeros(3, 1))
        Traceback (most recent call last):
        ValueError: expected at least 2 coordinates in the last dimension (time and one of space), got shape (3, 1)
    """
    if x.dim() == 0 or x.shape[-1] < least:
        of = "2 coordinates in the last dimension (time and one of space)" if least == 2 else "1 space coordinate"
        raise ValueError(f"expected at least {of}, got shape {tuple(x.shape)}")


def inner(x: Tensor, y: Tensor, *, keepdim: bool = False) -> Tensor:
    r"""Lorentzian inner product :math:`\langle x, y\rangle_L = -x_t y_t + x_s \cdot y_s`.

    Shapes: ``(..., d), (..., d) -> (...)``, or ``(..., 1)`` with ``keepdim``.

    Example:
        >>> import torch
        >>> inner(torch.tensor([2.0, 1.0]), torch.tensor([3.0, 1.0]))
        tensor(-5.)
    """
    require_coordinates(x)
    product = bounded(x) * bounded(y)
    value = (product[..., 1:].sum(-1, keepdim=True) - product[..., :1]).to(x.dtype)
    return value if keepdim else value.squeeze(-1)


def cinner(x: Tensor, y: Tensor) -> Tensor:
    r"""All pairs of Lorentzian inner products by one GEMM.

    Shapes: ``(..., n, d), (..., m, d) -> (..., n, m)``. Absolute error about :math:`\epsilon\, x_t y_t`.

    Example:
        >>> import torch
        >>> x = lift(torch.eye(2), K=-1.0)
        >>> cinner(x, x).shape
        torch.Size([2, 2])
    """
    return scaled_cinner(x, y, 1.0)


def scaled_cinner(x: Tensor, y: Tensor, factor: float) -> Tensor:
    """:func:`cinner` times a number, at no further pass over all pairs."""
    require_coordinates(x)
    flipped = factor * bounded(torch.cat((-x[..., :1], x[..., 1:]), dim=-1))
    # Back to the given dtype, so that half precision is multiplied by half-precision hardware.
    return flipped.to(x.dtype) @ bounded(y).to(y.dtype).transpose(-1, -2)


class _LiftOnto(Fused):
    """(v, x) -> the point with space part v_s + x_s, in a forward and a backward of few passes.

    The backward needs the result alone, which is why the sum is not autograd's. Rows keep the room of time throughout:
    those of d - 1 coordinates would neither begin at cache lines nor fill whole vectors.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(v: Tensor, x: Tensor | None, k: Curvature) -> Tensor:
        y = v.clone() if x is None else v + x
        length = torch.linalg.vector_norm(y[..., 1:], dim=-1, keepdim=True)
        limit = precision(y.dtype).max_coordinate
        if not (readable(length) and length.numel() and length.max().item() < limit):  # else no coordinate is beyond it
            y = y.clamp(-limit, limit)
            length = torch.linalg.vector_norm(y[..., 1:], dim=-1, keepdim=True)
        y[..., :1] = (length.square() + k).sqrt()
        return y

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor | None, Curvature], output: Tensor) -> None:
        v, x, k = inputs
        ctx.shapes = v.shape, None if x is None else x.shape
        ctx.save_for_backward(output, *([k] if isinstance(k, Tensor) else []))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        y, *learned = ctx.saved_tensors
        time = y[..., :1]
        share = grad[..., :1] / time
        total = torch.addcmul(grad, y, share)
        limit = precision(y.dtype).max_coordinate
        if not (readable(y) and y.numel() and time.max().item() < limit):
            total = torch.ops.aten.hardtanh_backward(total, y, -limit, limit)  # what was clamped stands still
        total[..., :1] = 0.0
        of_v, of_x = ctx.shapes
        grad_k = 0.5 * share.sum_to_size(learned[0].shape) if ctx.needs_input_grad[2] else None
        return total.sum_to_size(of_v), None if of_x is None else total.sum_to_size(of_x), grad_k


def lift_onto(v: Tensor, x: Tensor | None = None, *, K: Curvature) -> Tensor:
    r"""The point with space part :math:`v_s`, or :math:`v_s + x_s`; what stands where time belongs is not read.

    Shapes: ``(..., d), (..., d) -> (..., d)``.

    Example:
        >>> import torch
        >>> lift_onto(torch.tensor([9.0, 0.0, -2.0]), torch.tensor([2.2361, 0.0, 2.0]), K=-1.0)
        tensor([1., 0., 0.])
    """
    require_coordinates(v)
    lifted = _LiftOnto.apply if torch.is_grad_enabled() else _LiftOnto.forward
    return lifted(working(v), None if x is None else working(x), -1.0 / K).to(v.dtype)


def lift(space: Tensor, *, K: Curvature) -> Tensor:
    r"""The point with the given space part: :math:`x = (\sqrt{|x_s|^2 + k},\ x_s)`.

    This chart covers the whole hyperboloid, so any vector becomes a point. Shapes: ``(..., n) -> (..., n + 1)``.

    Example:
        >>> import torch
        >>> lift(torch.tensor([0.0, 2.0]), K=-1.0)
        tensor([2.2361, 0.0000, 2.0000])
    """
    return _with_time(bounded(space), K).to(space.dtype)


def time_of(space: Tensor, *, K: Curvature) -> Tensor:
    r"""Time coordinate that puts a space part on the hyperboloid: :math:`\sqrt{|x_s|^2 + k}`; ``(..., n) -> (..., 1)``.

    Example:
        >>> import torch
        >>> time_of(torch.tensor([3.0, 4.0]), K=-1.0)
        tensor([5.0990])
    """
    return _time(bounded(space), K).to(space.dtype)


def _time(space: Tensor, K: Curvature) -> Tensor:
    return (space.square().sum(-1, keepdim=True) - 1.0 / K).sqrt()


def _with_time(space: Tensor, K: Curvature) -> Tensor:
    require_coordinates(space, 1)
    return torch.cat((_time(space, K), space), dim=-1)


def rebuilt(x: Tensor, *, K: Curvature) -> Tensor:
    """``x`` ready for arithmetic, its time computed anew from its space part; ``(..., d) -> (..., d)``.

    Functions of points start with this. Half precision is then on the hyperboloid to float32, no stray time coordinate
    can divide by zero, and gradients sit wholly in the space coordinates (see `distance.py` for why that is better).

    Example:
        >>> import torch
        >>> rebuilt(torch.tensor([0.0, 3.0, 4.0], dtype=torch.half), K=-1.0)
        tensor([5.0990, 3.0000, 4.0000])
    """
    return _with_time(bounded(x[..., 1:]), K)


def projx(x: Tensor, *, K: Curvature) -> Tensor:
    r"""Project to the hyperboloid: the space part stays, time is rebuilt from it. ``(..., d) -> (..., d)``.

    Example:
        >>> import torch
        >>> projx(torch.tensor([99.0, 3.0, 4.0]), K=-1.0)
        tensor([5.0990, 3.0000, 4.0000])
    """
    return lift(x[..., 1:], K=K)


def origin(
    *size: int, K: Curvature, dtype: torch.dtype | None = None, device: torch.device | str | None = None
) -> Tensor:
    r"""Points :math:`(\sqrt{k}, 0, \dots, 0)` of the given shape, the last number counting ambient coordinates.

    Example:
        >>> origin(3, K=-0.25)
        tensor([2., 0., 0.])
    """
    at_least_space = max(0, size[-1] - 1)
    return lift(torch.zeros(*size[:-1], at_least_space, dtype=dtype, device=device), K=K)


def proju(x: Tensor, v: Tensor, *, K: Curvature) -> Tensor:
    r"""Project an ambient vector to the tangent space at x: :math:`v + \langle x, v\rangle_L\, x / k`.

    Shapes: ``(..., d), (..., d) -> (..., d)``.

    Example:
        >>> import torch
        >>> x = lift(torch.tensor([1.0, 2.0]), K=-1.0)
        >>> inner(x, proju(x, torch.ones(3), K=-1.0)).abs() < 1e-6
        tensor(True)
    """
    wide_x, wide_v = bounded(x), bounded(v)
    radial = K * inner(wide_x, wide_v, keepdim=True)
    return _tangent(wide_x, wide_v[..., 1:] - radial * wide_x[..., 1:], origin_time(K)).to(x.dtype)


def tangent_at(x: Tensor, space: Tensor) -> Tensor:
    r"""The tangent vector at x with the given space part; its time is :math:`x_s \cdot u_s / x_t`.

    Shapes: ``(..., d), (..., d - 1) -> (..., d)``.

    Example:
        >>> import torch
        >>> x = lift(torch.tensor([1.0, 2.0]), K=-1.0)
        >>> tangent_at(x, torch.tensor([2.0, -1.0]))
        tensor([ 0.,  2., -1.])
    """
    wide = bounded(x)
    least = wide[..., 1:].abs().amax(-1, keepdim=True).clamp_min(precision(x.dtype).min_norm)
    return _tangent(wide, space, least).to(x.dtype)


def _tangent(x: Tensor, space: Tensor, least: Curvature) -> Tensor:
    """Adds the time coordinate. On the hyperboloid x_t is never below ``least``; off it, that keeps 0/0 away."""
    space = bounded(space)
    # No clamp: the origin has just that time, and there the gradient of a clamp depends on torch's version.
    time = (x[..., 1:] * space).sum(-1, keepdim=True) / torch.where(x[..., :1] < least, least, x[..., :1])
    return torch.cat((time, space.expand(*time.shape[:-1], -1)), dim=-1)


def egrad2rgrad(x: Tensor, grad: Tensor, *, K: Curvature) -> Tensor:
    r"""Riemannian gradient of a Euclidean one: flip the sign of time, then project,
    :math:`J g + (x \cdot g)\, x / k`. Shapes: ``(..., d), (..., d) -> (..., d)``.

    Example:
        >>> import torch
        >>> x = origin(3, K=-1.0)
        >>> egrad2rgrad(x, torch.tensor([5.0, 1.0, 2.0]), K=-1.0)
        tensor([0., 1., 2.])
    """
    wide_x, wide_grad = bounded(x), bounded(grad)
    radial = K * (wide_x * wide_grad).sum(-1, keepdim=True)
    return _tangent(wide_x, wide_grad[..., 1:] - radial * wide_x[..., 1:], origin_time(K)).to(x.dtype)


def tangent_sqnorm(x: Tensor, u: Tensor, *, K: Curvature) -> Tensor:
    r"""Squared Riemannian norm of a tangent vector u at x, without cancellation; ``(..., d) x2 -> (..., 1)``.

    :math:`\langle u, u\rangle_L = |u_s|^2 - (x_s \cdot u_s / x_t)^2` cancels far from the origin. There :math:`u_s` is
    split along :math:`\hat x_s` into :math:`u_r \hat x_s + u_\perp`, which gives the same value as a sum,
    :math:`|u_\perp|^2 + u_r^2\, k / x_t^2`. Only space parts are read.

    Example:
        >>> import torch
        >>> x = lift(torch.tensor([3000.0, 0.0]), K=-1.0)
        >>> tangent_sqnorm(x, tangent_at(x, torch.tensor([3000.0, 2.0])), K=-1.0).round(decimals=4)
        tensor([5.])
    """
    xs, us, k = bounded(x[..., 1:]), bounded(u[..., 1:]), -1.0 / K
    xx = xs.square().sum(-1, keepdim=True)
    x_time, along = (xx + k).sqrt(), (xs * us).sum(-1, keepdim=True)
    straight = us.square().sum(-1, keepdim=True) - (along / x_time).square()
    far = xx > k  # nearer the origin nothing much cancels, and there the split would spoil the gradient
    square = torch.where(far, xx, 1.0)
    across = us - (along / square) * xs
    split = across.square().sum(-1, keepdim=True) + k * (along / square.sqrt() / x_time).square()
    return torch.where(far, split, straight).to(x.dtype)
