"""Exponential and logarithmic maps, parallel transport, and random points made with them."""

from __future__ import annotations

import torch
from torch import Tensor

from hybonet.geometry.distance import chart_gradient, wide_sqdist
from hybonet.geometry.lorentz import lift, rebuilt, tangent_at, tangent_sqnorm
from hybonet.geometry.numerics import Curvature, asinhc, bounded, max_rapidity, safe_sqrt, sinhc


def expmap0(u: Tensor, *, K: Curvature) -> Tensor:
    r"""Exponential map at the origin: :math:`x_s = \sinh(\alpha)\, u_s/\alpha`, :math:`\alpha = |u_s|/\sqrt{k}`.

    ``u`` is an ambient tangent vector at the origin; its time coordinate is zero there and is not read.
    Shapes: ``(..., d) -> (..., d)``.

    Example:
        >>> import torch
        >>> expmap0(torch.tensor([0.0, 1.0, 0.0]), K=-1.0)
        tensor([1.5431, 1.1752, 0.0000])
    """
    space = bounded(u[..., 1:])
    square = -K * space.square().sum(-1, keepdim=True)
    shrink = _shrink(square, max_rapidity(u.dtype, K))
    return lift((sinhc(square * shrink.square()) * shrink * space).to(u.dtype), K=K)


def _shrink(square: Tensor, limit: Curvature) -> Tensor:
    """Factor that cuts a step to the largest representable rapidity and keeps its direction."""
    beyond = square > limit**2
    return torch.where(beyond, limit / torch.where(beyond, square, 1.0).sqrt(), 1.0)


def logmap0(x: Tensor, *, K: Curvature) -> Tensor:
    r"""Logarithmic map at the origin: :math:`u_s = \mathrm{asinh}(a)\, x_s/a`, :math:`a = |x_s|/\sqrt{k}`.

    The time coordinate of the result is 0. Shapes: ``(..., d) -> (..., d)``.

    Example:
        >>> import torch
        >>> logmap0(expmap0(torch.tensor([0.0, 0.6, 0.8]), K=-0.5), K=-0.5)
        tensor([0.0000, 0.6000, 0.8000])
    """
    space = bounded(x[..., 1:])
    tangent = asinhc(-K * space.square().sum(-1, keepdim=True)) * space
    return torch.cat((torch.zeros_like(tangent[..., :1]), tangent), dim=-1).to(x.dtype)


def expmap(x: Tensor, u: Tensor, *, K: Curvature) -> Tensor:
    r"""Exponential map at x: :math:`\cosh(\alpha)\, x + \sinh(\alpha)\, u/\alpha`, :math:`\alpha = |u|_L/\sqrt{k}`.

    ``u`` must be tangent at x (``proju`` makes it so); its time coordinate is not read.
    Shapes: ``(..., d), (..., d) -> (..., d)``.

    Example:
        >>> import torch
        >>> x = lift(torch.tensor([3.0, 4.0]), K=-1.0)
        >>> expmap(x, tangent_at(x, torch.tensor([0.8, -0.6])), K=-1.0)
        tensor([7.8682, 5.5694, 5.4672])
    """
    dtype = x.dtype
    x, u = torch.broadcast_tensors(rebuilt(x, K=K), bounded(u))
    square = -K * tangent_sqnorm(x, u, K=K)
    shrink = _shrink(square, max_rapidity(dtype, K))
    u, square = u * shrink, square * shrink.square()
    sinh = sinhc(square)
    cosh = (1.0 + square * sinh.square()).sqrt()
    return lift((cosh * x[..., 1:] + sinh * u[..., 1:]).to(dtype), K=K)


def logmap(x: Tensor, y: Tensor, *, K: Curvature) -> Tensor:
    r"""Logarithmic map at x: the tangent vector whose exponential is y,
    :math:`u_s = \frac{\beta'}{\sinh \beta'}\left(y_s - x_s - \frac{q}{2k} x_s\right)` with
    :math:`q = d_L^2(x, y)` and :math:`\beta' = d(x, y)/\sqrt{k}`. Shapes: ``(..., d), (..., d) -> (..., d)``.

    Example:
        >>> import torch
        >>> x, y = lift(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), K=-1.0)
        >>> logmap(x, y, K=-1.0)
        tensor([0., 0., 0.])
    """
    dtype = x.dtype
    x, y = torch.broadcast_tensors(rebuilt(x, K=K), rebuilt(y, K=K))
    ratio = -K * wide_sqdist(x, y, K=K, keepdim=True)
    # sinh(b) = sqrt(q/k) sqrt(1 + q/4k) and b = 2 asinh(sqrt(q/k)/2), so b/sinh(b) needs no inverse cosh.
    factor = asinhc(ratio / 4) / (1.0 + ratio / 4).sqrt()
    return tangent_at(x, factor * (y[..., 1:] - x[..., 1:]) - (0.5 * factor * ratio) * x[..., 1:]).to(dtype)


def transp(x: Tensor, y: Tensor, v: Tensor, *, K: Curvature) -> Tensor:
    r"""Parallel transport of v along the geodesic from x to y:
    :math:`v + \frac{\langle y, v\rangle_L}{k - \langle x, y\rangle_L}(x + y)`. Shapes: ``(..., d) x3 -> (..., d)``.

    Example:
        >>> import torch
        >>> x, y = lift(torch.tensor([[1.0, 0.0], [0.0, 2.0]]), K=-1.0)
        >>> v = tangent_at(x, torch.tensor([0.5, -1.0]))
        >>> moved = transp(x, y, v, K=-1.0)
        >>> torch.isclose(tangent_sqnorm(y, moved, K=-1.0), tangent_sqnorm(x, v, K=-1.0))
        tensor([True])
    """
    dtype = v.dtype
    x, y, v = torch.broadcast_tensors(rebuilt(x, K=K), rebuilt(y, K=K), bounded(v))
    xs, ys, vs = x[..., 1:], y[..., 1:], v[..., 1:]
    # <y, v> is minus half the change of d²_L along v, which is known without cancellation.
    along = -0.5 * (chart_gradient(xs, ys, -1.0 / K) * vs).sum(-1, keepdim=True)
    spread = -2.0 / K + 0.5 * wide_sqdist(x, y, K=K, keepdim=True)
    return tangent_at(y, vs + along / spread * (xs + ys)).to(dtype)


def transp0(y: Tensor, v: Tensor, *, K: Curvature) -> Tensor:
    """Parallel transport from the origin to y. Shapes: ``(..., d), (..., d) -> (..., d)``.

    Example:
        >>> import torch
        >>> transp0(lift(torch.zeros(2), K=-1.0), torch.tensor([0.0, 1.0, 2.0]), K=-1.0)
        tensor([0., 1., 2.])
    """
    return transp(torch.zeros_like(y), y, v, K=K)  # the time coordinate is not read


def geodesic_norm(x: Tensor, u: Tensor, *, K: Curvature) -> Tensor:
    """Riemannian length of a tangent vector u at x; ``(..., d), (..., d) -> (...)``.

    Example:
        >>> import torch
        >>> x = lift(torch.zeros(2), K=-1.0)
        >>> geodesic_norm(x, torch.tensor([0.0, 3.0, 4.0]), K=-1.0)
        tensor(5.)
    """
    return safe_sqrt(tangent_sqnorm(x, u, K=K)).squeeze(-1)


def random_normal(
    *size: int,
    K: Curvature,
    std: float = 1.0,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    r"""Gaussian points: :math:`\exp_o(u)` with every space coordinate of :math:`u \sim N(0, \mathrm{std}^2)`.

    ``std`` means what it says: the geodesic radius is about :math:`\mathrm{std}\sqrt{d - 1}`.

    Example:
        >>> import torch
        >>> generator = torch.Generator().manual_seed(0)
        >>> random_normal(5, 3, K=-1.0, std=0.1, generator=generator).shape
        torch.Size([5, 3])
    """
    tangent = torch.randn(*size, dtype=dtype, device=device, generator=generator) * std
    return expmap0(tangent, K=K)
