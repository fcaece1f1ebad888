"""Conversions to and from the Poincaré ball and the Klein model, both of radius √k and of the same curvature."""

from __future__ import annotations

import torch
from torch import Tensor

from hybonet.geometry.lorentz import lift, rebuilt
from hybonet.geometry.numerics import BALL_MARGIN, Curvature, bounded, origin_time


def to_poincare(x: Tensor, *, K: Curvature) -> Tensor:
    r"""Poincaré ball coordinates :math:`p = \sqrt{k}\, x_s / (x_t + \sqrt{k})`; ``(..., d) -> (..., d - 1)``.

    Example:
        >>> import torch
        >>> to_poincare(lift(torch.tensor([0.75, 0.0]), K=-1.0), K=-1.0)
        tensor([0.3333, 0.0000])
    """
    radius, point = origin_time(K), rebuilt(x, K=K)
    return (radius * point[..., 1:] / (point[..., :1] + radius)).to(x.dtype)


def from_poincare(p: Tensor, *, K: Curvature) -> Tensor:
    r"""Point of Poincaré ball coordinates: :math:`x_s = 2 k p / (k - |p|^2)`; ``(..., n) -> (..., n + 1)``.

    Vectors on or outside the ball (radius :math:`\sqrt{k}`) are drawn just inside it.

    Example:
        >>> import torch
        >>> from_poincare(torch.tensor([1 / 3, 0.0]), K=-1.0)
        tensor([1.2500, 0.7500, 0.0000])
    """
    ball, k = _inside(p, K), -1.0 / K
    return lift((2.0 * k * ball / (k - ball.square().sum(-1, keepdim=True))).to(p.dtype), K=K)


def to_klein(x: Tensor, *, K: Curvature) -> Tensor:
    r"""Klein coordinates :math:`c = \sqrt{k}\, x_s / x_t`; ``(..., d) -> (..., d - 1)``.

    Example:
        >>> import torch
        >>> to_klein(lift(torch.tensor([0.75, 0.0]), K=-1.0), K=-1.0)
        tensor([0.6000, 0.0000])
    """
    point = rebuilt(x, K=K)
    return (origin_time(K) * point[..., 1:] / point[..., :1]).to(x.dtype)


def from_klein(c: Tensor, *, K: Curvature) -> Tensor:
    r"""Point of Klein coordinates: :math:`x_s = \sqrt{k}\, c / \sqrt{k - |c|^2}`; ``(..., n) -> (..., n + 1)``.

    Vectors on or outside the ball (radius :math:`\sqrt{k}`) are drawn just inside it.

    Example:
        >>> import torch
        >>> from_klein(torch.tensor([0.6, 0.0]), K=-1.0)
        tensor([1.2500, 0.7500, 0.0000])
    """
    ball = _inside(c, K)
    stretch = (-1.0 / K - ball.square().sum(-1, keepdim=True)).rsqrt()
    return lift((origin_time(K) * stretch * ball).to(c.dtype), K=K)


def _inside(p: Tensor, K: Curvature) -> Tensor:
    """Scale vectors that are outside the ball, or too near its edge, to just inside it."""
    limit = 1.0 - BALL_MARGIN * torch.finfo(p.dtype).eps
    p = bounded(p)
    square = -K * p.square().sum(-1, keepdim=True)
    outside = square > limit**2
    return p * torch.where(outside, limit * torch.where(outside, square, 1.0).rsqrt(), 1.0)
