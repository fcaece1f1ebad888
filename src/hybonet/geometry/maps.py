"""Exponential and logarithmic maps, parallel transport, and random points made with them."""

from __future__ import annotations

import torch
from torch import Tensor

from hybonet.geometry.distance import sqdist
from hybonet.geometry.lorentz import lift, split_radial, tangent_at, tangent_sqnorm
from hybonet.geometry.numerics import Curvature, asinhc, bounded, max_rapidity, safe_sqrt, sinhc


def expmap0(u: Tensor, *, K: Curvature) -> Tensor:
    r"""Exponential map at the origin: :math:`x_s = \sqrt{k}\,\sinh(\alpha)\, u_s/|u_s|`, :math:`\alpha = |u_s|/\sqrt{k}`.

    ``u`` is an ambient tangent vector at the origin; its time coordinate is zero there and is not read.
    Shapes: ``(..., d) -> (..., d)``.

    Example:
        >>> import torch
        >>> expmap0(torch.tensor([0.0, 1.0, 0.0]), K=-1.0)
        tensor([1.5431, 1.1752, 0.0000])
    """
    space = bounded(u[..., 1:])
    square = -K * space.square().sum(-1, keepdim=True)
    # Past the largest representable radius the direction is kept and the length is cut.
    limit = max_rapidity(u.dtype, K)
    beyond = square > limit**2
    shrink = torch.where(beyond, limit / torch.where(beyond, square, 1.0).sqrt(), 1.0)
    return lift(sinhc(square * shrink.square()) * shrink * space, K=K)


def logmap0(x: Tensor, *, K: Curvature) -> Tensor:
    r"""Logarithmic map at the origin: :math:`u_s = \sqrt{k}\,\mathrm{asinh}(|x_s|/\sqrt{k})\; x_s/|x_s|`, :math:`u_t = 0`.

    Shapes: ``(..., d) -> (..., d)``.

    Example:
        >>> import torch
        >>> logmap0(expmap0(torch.tensor([0.0, 0.6, 0.8]), K=-0.5), K=-0.5)
        tensor([0.0000, 0.6000, 0.8000])
    """
    space = bounded(x[..., 1:])
    tangent = asinhc(-K * space.square().sum(-1, keepdim=True)) * space
    return torch.cat((torch.zeros_like(tangent[..., :1]), tangent), dim=-1)


def expmap(x: Tensor, u: Tensor, *, K: Curvature) -> Tensor:
    r"""Exponential map at x: :math:`\cosh(\alpha)\, x + \sinh(\alpha)\, u/\alpha`, :math:`\alpha = |u|_L/\sqrt{k}`.

    ``u`` must be tangent at x (``proju`` makes it so). A long step towards the origin is computed in polar form, because
    the two terms above then cancel almost wholly. Shapes: ``(..., d), (..., d) -> (..., d)``.

    Example:
        >>> import torch
        >>> x = lift(torch.tensor([3.0, 4.0]), K=-1.0)
        >>> expmap(x, logmap(x, lift(torch.zeros(2), K=-1.0), K=-1.0), K=-1.0).round(decimals=5)
        tensor([1., 0., 0.])
    """
    x, u = torch.broadcast_tensors(bounded(x), bounded(u))
    square = -K * tangent_sqnorm(x, u, K=K)
    limit = max_rapidity(x.dtype, K)
    beyond = square > limit**2
    shrink = torch.where(beyond, limit / torch.where(beyond, square, 1.0).sqrt(), 1.0)
    u, square = u * shrink, square * shrink.square()

    cosh = 1.0 + 0.5 * square * sinhc(square / 4).square()
    straight = cosh * x[..., 1:] + sinhc(square) * u[..., 1:]
    # The polar form has no derivative at the origin or at u = 0, and no advantage near them.
    far = (square > 1.0) & (-K * x[..., 1:].square().sum(-1, keepdim=True) > 1.0)
    anchor = torch.zeros_like(x[..., 1:])
    anchor[..., 0] = 2.0
    polar = _polar_step(
        lift(torch.where(far, x[..., 1:], anchor), K=K),
        torch.where(far, u, 1.0),
        torch.where(far, square, 4.0),
        K=K,
    )
    return lift(torch.where(far, polar, straight), K=K)


def _polar_step(x: Tensor, u: Tensor, square: Tensor, *, K: Curvature) -> Tensor:
    """Space part of exp_x(u) by addition theorems along the radius of x: sums of like sign, no cancellation."""
    rapidity = square.sqrt()
    radial, across = split_radial(x, u)
    # c is the cosine between u and the outward radius; 1 - |c| comes from the sine.
    c = (radial / (x[..., :1] * rapidity)).clamp(-1.0, 1.0)
    sine_square = (-K * across.square().sum(-1, keepdim=True) / square).clamp(0.0, 1.0)
    small_side = sine_square / (1.0 + c.abs())
    plus = torch.where(c < 0, small_side, 1.0 + c)
    minus = torch.where(c < 0, 1.0 - c, small_side)
    axis = x[..., 1:] / x[..., 1:].square().sum(-1, keepdim=True).sqrt()
    radius = torch.asinh((-K * x[..., 1:].square().sum(-1, keepdim=True)).sqrt())
    limit = max_rapidity(x.dtype, K)
    outward = 0.5 * (
        plus * torch.sinh((radius + rapidity).clamp_max(limit)) + minus * torch.sinh((radius - rapidity).clamp_min(-limit))
    )
    length = (-1.0 / K) ** 0.5
    return length * outward * axis + sinhc(square) * across


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
    x, y = torch.broadcast_tensors(bounded(x), bounded(y))
    ratio = -K * sqdist(x, y, K=K).unsqueeze(-1)
    # sinh(b) = sqrt(q/k) sqrt(1 + q/4k) and b = 2 asinh(sqrt(q/k)/2), so b/sinh(b) needs no inverse cosh.
    factor = asinhc(ratio / 4) / (1.0 + ratio / 4).sqrt()
    return tangent_at(x, factor * (y[..., 1:] - x[..., 1:]) - (0.5 * factor * ratio) * x[..., 1:])


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
    x, y, v = torch.broadcast_tensors(bounded(x), bounded(y), bounded(v))
    xs, ys, vs = x[..., 1:], y[..., 1:], v[..., 1:]
    delta = ys - xs
    # <y, v> = <y - x, v> since v is tangent at x; y_t - x_t without cancellation.
    delta_time = (delta * (xs + ys)).sum(-1, keepdim=True) / (x[..., :1] + y[..., :1])
    along = (delta * vs).sum(-1, keepdim=True) - delta_time * v[..., :1]
    spread = -2.0 / K + 0.5 * sqdist(x, y, K=K).unsqueeze(-1)
    return tangent_at(y, vs + along / spread * (xs + ys))


def transp0(y: Tensor, v: Tensor, *, K: Curvature) -> Tensor:
    """Parallel transport from the origin to y. Shapes: ``(..., d), (..., d) -> (..., d)``.

    Example:
        >>> import torch
        >>> transp0(lift(torch.zeros(2), K=-1.0), torch.tensor([0.0, 1.0, 2.0]), K=-1.0)
        tensor([0., 1., 2.])
    """
    return transp(lift(torch.zeros_like(y[..., 1:]), K=K), y, v, K=K)


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
