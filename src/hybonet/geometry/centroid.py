"""The Lorentz centroid, and the scaling of time-like vectors to the hyperboloid that it rests on."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from hybonet.geometry.distance import wide_sqdist
from hybonet.geometry.fused import Fused
from hybonet.geometry.lorentz import lift, rebuilt, require_coordinates
from hybonet.geometry.numerics import Curvature, bounded, precision


class _ToSheet(Fused):
    """y = √k s/|s|_L. Saves only y and one number per row; that number is a second, differentiable output, which makes
    the backward differentiable too.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(s: Tensor, k: Curvature) -> tuple[Tensor, Tensor]:
        time, space_square = s[..., :1], s[..., 1:].square().sum(-1, keepdim=True)
        time_square = time.square()
        # -<s,s> is known only to rounding; below that a smaller value would be noise.
        noise = torch.finfo(s.dtype).eps * torch.maximum(time_square, space_square)
        square = torch.maximum(time_square - space_square, noise)
        usable = time > precision(s.dtype).min_norm
        scale = torch.where(usable, k**0.5 / torch.where(usable, square, 1.0).sqrt(), 0.0)
        y = s * scale
        y[..., :1] = (space_square * scale.square() + k).sqrt()
        return y, scale

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Curvature], output: tuple[Tensor, Tensor]) -> None:
        k = inputs[1]
        ctx.set_materialize_grads(False)
        ctx.k = None if isinstance(k, Tensor) else k
        ctx.save_for_backward(*output, *([k] if isinstance(k, Tensor) else []))

    @staticmethod
    def backward(ctx: Any, grad: Tensor | None, grad_scale: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
        y, scale, *rest = ctx.saved_tensors
        k = rest[0] if rest else ctx.k
        grad = torch.zeros_like(y) if grad is None else grad
        along = (grad * y).sum(-1, keepdim=True)
        if grad_scale is not None:
            along = along + grad_scale * scale
        # scale (g + J y (y·g)/k)
        share = along / k
        grad_s = torch.addcmul(grad, y, share)
        grad_s[..., :1] = grad[..., :1] - y[..., :1] * share
        grad_k = (along.sum() / (2 * k)) if ctx.needs_input_grad[1] else None
        return grad_s.mul_(scale), grad_k


def to_sheet(s: Tensor, *, K: Curvature) -> Tensor:
    r"""Scale a time-like vector to the hyperboloid: :math:`y = \sqrt{k}\; s / |\,\|s\|_L\,|`.

    A sum of points with non-negative weights is time-like, so ``to_sheet(weights @ x)`` is the fast form of the
    centroid: one GEMM. Its geodesic error grows like :math:`\epsilon\, s_t^2 / |s|_L^2`, up to the usable radius of the
    dtype (:func:`centroid` has no such growth). The zero vector (nothing to average) gives the origin.
    Shapes: ``(..., d) -> (..., d)``.

    Example:
        >>> import torch
        >>> to_sheet(torch.tensor([[10.0, 0.0, 6.0], [0.0, 0.0, 0.0]]), K=-1.0)
        tensor([[1.2500, 0.0000, 0.7500],
                [1.0000, 0.0000, 0.0000]])
    """
    require_coordinates(s)
    scaled = _ToSheet.apply if torch.is_grad_enabled() else _ToSheet.forward  # small steps feel autograd's own cost
    return scaled(bounded(s), -1.0 / K)[0].to(s.dtype)


def centroid(x: Tensor, weights: Tensor | None = None, *, K: Curvature) -> Tensor:
    r"""Centroid :math:`\mu = \sum_j \nu_j x_j \big/ \left(\sqrt{-K}\,|\,\|\sum_i \nu_i x_i\|_L\,|\right)`,
    the point with the least weighted squared Lorentzian distance to the given ones.

    The norm is not taken from the sum, where it cancels far from the origin. With weights that add up to 1, m the
    Euclidean mean of the space parts, :math:`m_t` the time that lifts it to the hyperboloid and Q the mean squared
    Lorentzian distance to the lifted point, it is :math:`\sqrt{k + Q + Q^2 / 4 m_t^2}`: a sum. Centroids of many
    sets of weights over the same points are faster by :func:`to_sheet`.

    Shapes: ``x (..., n, d)``, ``weights (..., n)`` (default: equal) ``-> (..., d)``. Negative weights count as zero;
    if all are zero the result is the origin.

    Example:
        >>> import torch
        >>> from hybonet.geometry import lift
        >>> x = lift(torch.tensor([[1.0, 0.0], [-1.0, 0.0], [5.0, 5.0]]), K=-1.0)
        >>> centroid(x, torch.tensor([1.0, 1.0, 0.0]), K=-1.0)
        tensor([1., 0., 0.])
    """
    point = rebuilt(x, K=K)
    if weights is None:
        share = point.new_full((point.shape[-2],), 1.0 / point.shape[-2])
    else:
        share = weights.to(point.dtype).clamp_max(precision(point.dtype).max_coordinate)
        share = torch.where(share < 0, 0.0, share)  # a weight of 0 may grow, which a clamp forbids since torch 2.14
        total = share.sum(-1, keepdim=True)
        usable = total > precision(point.dtype).min_norm
        share = torch.where(usable, share / torch.where(usable, total, 1.0), 0.0)
    mean = lift((share.unsqueeze(-2) @ point[..., 1:]).squeeze(-2), K=K)
    spread = (share * wide_sqdist(point, mean.unsqueeze(-2), K=K)).sum(-1, keepdim=True)
    stretch = 1.0 - K * (spread + (0.5 * spread / mean[..., :1]).square())
    return lift((mean[..., 1:] * stretch.rsqrt()).to(x.dtype), K=K)
