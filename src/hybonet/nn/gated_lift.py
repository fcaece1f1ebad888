"""The second half of the paper's linear layer: from a gate and a direction to a point."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from hybonet.geometry.fused import Fused, all_between, readable
from hybonet.geometry.lorentz import require_coordinates
from hybonet.geometry.numerics import Curvature, origin_time, precision, working
from hybonet.nn.module import wide_in_autocast

#: Time coordinates of the normalised form start at this multiple of the origin's; the paper's code has 1.1 for K = -1.
MIN_TIME = 1.1


class _GatedLift(Fused):
    """(gate, z) -> (t, z/|z| √(t² - k)) with t = λ σ(gate) + ε, fused: two passes forward, two backward.

    Only the output and two numbers per row are saved. Those numbers are differentiable outputs as well, so that the
    backward can be differentiated again.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(u: Tensor, lam: Curvature, eps: Curvature, k: Curvature) -> tuple[Tensor, Tensor, Tensor]:
        # In place, and no more operations than needed: the few rows of a decoding step feel each of them.
        sigma = torch.sigmoid(u[..., :1])
        time = sigma * lam + eps
        norm = torch.linalg.vector_norm(u[..., 1:], dim=-1, keepdim=True)
        scale = (time * time - k).sqrt_().div_(norm)
        y = u * scale
        y[..., :1] = time
        least = precision(u.dtype).min_norm
        if readable(u) and all_between(norm, least, math.inf):
            return y, scale, sigma
        # Without a direction there is no point at that time: such a row becomes the origin, with zero gradient.
        lost = (norm <= least).logical_or_(norm == math.inf)
        y.masked_fill_(lost, 0.0)
        origin = k**0.5
        y[..., :1] = torch.where(lost, origin, time) if isinstance(origin, Tensor) else time.masked_fill_(lost, origin)
        scale.masked_fill_(lost, 0.0)
        return y, scale, sigma

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
        constants = inputs[1:]
        ctx.set_materialize_grads(False)
        ctx.constants = [None if isinstance(c, Tensor) else c for c in constants]
        ctx.save_for_backward(*output, *(c for c in constants if isinstance(c, Tensor)))

    @staticmethod
    def backward(
        ctx: Any, grad: Tensor | None, grad_scale: Tensor | None, grad_sigma: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        y, scale, sigma, *tensors = ctx.saved_tensors
        lam, eps, k = (tensors.pop(0) if c is None else c for c in ctx.constants)
        grad = torch.zeros_like(y) if grad is None else grad
        usable = scale > 0
        time, grad_time = y[..., :1], grad[..., :1]
        square = torch.where(usable, time.square() - k, 1.0)
        along = ((grad * y).sum(-1, keepdim=True) - grad_time * time) / square
        if grad_scale is not None:
            along = along + grad_scale * scale / square
        total_time = torch.where(usable, grad_time + along * time, 0.0)
        slope = sigma * (1.0 - sigma)
        grad_gate = total_time * lam * slope
        if grad_sigma is not None:
            grad_gate = grad_gate + grad_sigma * slope
        grad_u = torch.addcmul(grad, y, along, value=-1.0).mul_(scale)
        grad_u[..., :1] = grad_gate
        needs = ctx.needs_input_grad
        grad_lam = (total_time * sigma).sum_to_size(lam.shape) if needs[1] else None
        grad_eps = total_time.sum_to_size(eps.shape) if needs[2] else None
        grad_k = -0.5 * along.sum_to_size(k.shape) if needs[3] else None
        return grad_u, grad_lam, grad_eps, grad_k


def gated_lift(u: Tensor, scale: Curvature, *, K: Curvature, min_time: float = MIN_TIME) -> Tensor:
    r"""The normalised form's second half: from a gate and a direction to a point.

    With :math:`u = (g, z)`: :math:`y_t = \lambda\,\sigma(g) + \varepsilon`, :math:`y_s = \frac{z}{|z|}\sqrt{y_t^2 -
    k}`, :math:`\varepsilon =` ``min_time`` :math:`\cdot\sqrt{k}`. Shapes: ``(..., d) -> (..., d)``; ``scale`` is λ, a
    number or a tensor that broadcasts against ``(..., 1)``. A zero z gives the origin. Half precision is computed in
    float32; under ``torch.autocast`` the result stays float32, as torch's own normalisations do.

    Example:
        >>> import torch
        >>> gated_lift(torch.tensor([0.0, 3.0, 4.0]), 2.0, K=-1.0)
        tensor([2.1000, 1.1080, 1.4773])
    """
    require_coordinates(u)
    u = wide_in_autocast(u)
    # Steps of decoding are so small that the way through autograd would cost as much as the work.
    lifted = _GatedLift.apply if torch.is_grad_enabled() else _GatedLift.forward
    return lifted(working(u), scale, min_time * origin_time(K), -1.0 / K)[0].to(u.dtype)
