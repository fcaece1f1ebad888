"""The little of Poincaré-ball geometry that the baselines need, curvature -c, rows of points."""

from __future__ import annotations

import torch
from torch import Tensor

#: Points stay within this share of the ball's radius: beyond, float32 ends.
INSIDE = 1 - 1e-5


def into_ball(x: Tensor, c: Tensor) -> Tensor:
    """Points pulled inside the ball of curvature -c."""
    limit = INSIDE / c.sqrt()
    norm = x.norm(dim=-1, keepdim=True).clamp_min(1e-15)
    return torch.where(norm > limit, x / norm * limit, x)


def from_tangent(v: Tensor, c: Tensor) -> Tensor:
    """The exponential map at the centre."""
    root, norm = c.sqrt(), v.norm(dim=-1, keepdim=True).clamp_min(1e-15)
    return into_ball(torch.tanh(root * norm) / (root * norm) * v, c)


def to_tangent(x: Tensor, c: Tensor) -> Tensor:
    """The logarithm at the centre."""
    root, norm = c.sqrt(), x.norm(dim=-1, keepdim=True).clamp_min(1e-15)
    return torch.atanh((root * norm).clamp_max(INSIDE)) / (root * norm) * x


def mobius_add(x: Tensor, y: Tensor, c: Tensor) -> Tensor:
    """Möbius addition of points with points, row by row."""
    xy = (x * y).sum(-1, keepdim=True)
    xx, yy = x.square().sum(-1, keepdim=True), y.square().sum(-1, keepdim=True)
    numerator = (1 + 2 * c * xy + c * yy) * x + (1 - c * xx) * y
    return numerator / (1 + 2 * c * xy + c.square() * xx * yy).clamp_min(1e-15)


def from_chord(between: Tensor, norm_x: Tensor, norm_y: Tensor, c: Tensor) -> Tensor:
    """The squared distance of two points from the squared lengths of their difference and of themselves."""
    room = ((1 - c * norm_x) * (1 - c * norm_y)).clamp_min(1e-10)
    # asinh form: d = 2/√c · asinh(√(c |x-y|² / room)), exact for near points where acosh loses everything.
    chord = (c * between.clamp_min(1e-15) / room).sqrt()
    return (2 / c.sqrt() * torch.asinh(chord)).square()
