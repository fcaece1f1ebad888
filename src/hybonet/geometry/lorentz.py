r"""The Lorentz model as pure functions; curvature ``K < 0`` is keyword-only and may be a float or a 0-d tensor.

A point is a vector of *ambient* coordinates, time first: :math:`x = (x_t, x_s)` with
:math:`\langle x, x\rangle_L = -x_t^2 + |x_s|^2 = 1/K` and :math:`x_t > 0`. We write :math:`k = -1/K`.
Every function works on the last dimension and broadcasts over the others.
"""

from __future__ import annotations

import torch
from torch import Tensor

from hybonet.geometry.numerics import (
    Curvature,
    bounded,
    precision,
    safe_sqrt,
    working,
)


def inner(x: Tensor, y: Tensor, *, keepdim: bool = False) -> Tensor:
    r"""Lorentzian inner product :math:`\langle x, y\rangle_L = -x_t y_t + x_s \cdot y_s`.

    Shapes: ``(..., d), (..., d) -> (...)``, or ``(..., 1)`` with ``keepdim``.

    Example:
        >>> import torch
        >>> inner(torch.tensor([2.0, 1.0]), torch.tensor([3.0, 1.0]))
        tensor(-5.)
    """
    product = bounded(x) * bounded(y)
    value = product[..., 1:].sum(-1, keepdim=True) - product[..., :1]
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
    flipped = torch.cat((-x[..., :1], x[..., 1:]), dim=-1)
    return bounded(flipped) @ bounded(y).transpose(-1, -2)


def lift(space: Tensor, *, K: Curvature) -> Tensor:
    r"""The point with the given space part: :math:`x = (\sqrt{|x_s|^2 + k},\ x_s)`.

    This chart covers the whole sheet, so any vector becomes a point. Shapes: ``(..., n) -> (..., n + 1)``.

    Example:
        >>> import torch
        >>> lift(torch.tensor([0.0, 2.0]), K=-1.0)
        tensor([2.2361, 0.0000, 2.0000])
    """
    space = bounded(space)
    return torch.cat((time_of(space, K=K), space), dim=-1)


def time_of(space: Tensor, *, K: Curvature) -> Tensor:
    r"""Time coordinate that puts a space part on the sheet: :math:`\sqrt{|x_s|^2 + k}`; ``(..., n) -> (..., 1)``.

    Example:
        >>> import torch
        >>> time_of(torch.tensor([3.0, 4.0]), K=-1.0)
        tensor([5.0990])
    """
    square = working(space).square().sum(-1, keepdim=True)
    return (square - 1.0 / K).sqrt().to(space.dtype)


def projx(x: Tensor, *, K: Curvature) -> Tensor:
    r"""Project to the sheet: the space part stays, time is rebuilt from it. ``(..., d) -> (..., d)``.

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
    space = torch.zeros(*size[:-1], size[-1] - 1, dtype=dtype, device=device)
    return lift(space, K=K)


def proju(x: Tensor, v: Tensor, *, K: Curvature) -> Tensor:
    r"""Project an ambient vector to the tangent space at x: :math:`v + \langle x, v\rangle_L\, x / k`.

    Shapes: ``(..., d), (..., d) -> (..., d)``.

    Example:
        >>> import torch
        >>> x = lift(torch.tensor([1.0, 2.0]), K=-1.0)
        >>> inner(x, proju(x, torch.ones(3), K=-1.0)).abs() < 1e-6
        tensor(True)
    """
    x, v = bounded(x), bounded(v)
    return tangent_at(x, v[..., 1:] - K * inner(x, v, keepdim=True) * x[..., 1:])


def tangent_at(x: Tensor, space: Tensor) -> Tensor:
    r"""The tangent vector at x with the given space part; its time is :math:`x_s \cdot u_s / x_t`.

    Shapes: ``(..., d), (..., d - 1) -> (..., d)``.

    Example:
        >>> import torch
        >>> x = lift(torch.tensor([1.0, 2.0]), K=-1.0)
        >>> tangent_at(x, torch.tensor([2.0, -1.0]))
        tensor([ 0.,  2., -1.])
    """
    time = (x[..., 1:] * space).sum(-1, keepdim=True) / x[..., :1]
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
    x, grad = bounded(x), bounded(grad)
    radial = (x * grad).sum(-1, keepdim=True)
    return tangent_at(x, grad[..., 1:] - K * radial * x[..., 1:])


def tangent_sqnorm(x: Tensor, u: Tensor, *, K: Curvature) -> Tensor:
    r"""Squared Riemannian norm of a tangent vector u at x, without cancellation; ``(..., d) x2 -> (..., 1)``.

    :math:`\langle u, u\rangle_L` subtracts two numbers of size :math:`x_t^2`. Splitting :math:`u_s` along
    :math:`\hat x_s` into :math:`u_r \hat x_s + u_\perp` gives the same value as a sum,
    :math:`|u_\perp|^2 + u_r^2\, k / x_t^2`.

    Example:
        >>> import torch
        >>> x = lift(torch.tensor([3000.0, 0.0]), K=-1.0)
        >>> tangent_sqnorm(x, tangent_at(x, torch.tensor([3000.0, 1.0])), K=-1.0)
        tensor([2.])
    """
    radial, across = split_radial(x, u)
    return across.square().sum(-1, keepdim=True) - (radial / x[..., :1]).square() / K


def split_radial(x: Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
    r"""Split the space part of u along :math:`\hat x_s`: the radial component ``(..., 1)`` and the rest ``(..., n)``.

    At the origin there is no radial direction: the component is 0 and the rest is all of :math:`u_s`.

    Example:
        >>> import torch
        >>> radial, across = split_radial(lift(torch.tensor([0.0, 2.0]), K=-1.0), torch.tensor([0.0, 5.0, 3.0]))
        >>> radial, across
        (tensor([3.]), tensor([5., 0.]))
    """
    axis = unit(x[..., 1:])
    radial = (axis * u[..., 1:]).sum(-1, keepdim=True)
    return radial, u[..., 1:] - radial * axis


def unit(v: Tensor) -> Tensor:
    """``v / |v|``, and zero (with zero gradient) where v is zero. Shapes: ``(..., n) -> (..., n)``.

    Example:
        >>> import torch
        >>> unit(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
        tensor([[0.6000, 0.8000],
                [0.0000, 0.0000]])
    """
    norm = safe_sqrt(v.square().sum(-1, keepdim=True))
    usable = norm > precision(v.dtype).min_norm
    return torch.where(usable, v / torch.where(usable, norm, 1.0), 0.0)
