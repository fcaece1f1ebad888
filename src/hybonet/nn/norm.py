"""The Lorentz norm: a radial move onto a geodesic sphere."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.geometry.fused import Fused, all_between, readable
from hybonet.geometry.numerics import Curvature, origin_time, precision, working
from hybonet.nn.module import LorentzModule, wide_in_autocast
from hybonet.nn.scales import NORM_LENGTH


class _Sphere(Fused):
    """(x, g) -> the lift of r g x_s/|x_s|, in few passes; a row without direction becomes the origin.

    r/|x_s| is a second, differentiable output, which makes the backward differentiable too.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, gain: Tensor | None, radius: Curvature, k: Curvature) -> tuple[Tensor, Tensor]:
        norm = torch.linalg.vector_norm(x[..., 1:], dim=-1, keepdim=True)
        scale = radius / norm
        least = precision(x.dtype).min_norm
        usual = readable(norm) and all_between(norm, least, torch.inf)
        if not usual:
            usable = (norm > least).logical_and_(norm < torch.inf)
            scale = torch.where(usable, scale, 0.0)
        y = x * scale
        if gain is not None:
            y[..., 1:] *= gain
        if not usual:
            y = y.masked_fill(~usable, 0.0)
        y[..., :1] = k**0.5
        y[..., :1] = torch.linalg.vector_norm(y, dim=-1, keepdim=True)
        return y, scale

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        x, gain, *constants = inputs
        ctx.set_materialize_grads(False)
        ctx.constants = [None if isinstance(c, Tensor) else c for c in constants]
        ctx.save_for_backward(x, gain, *output, *(c for c in constants if isinstance(c, Tensor)))

    @staticmethod
    def backward(ctx: Any, grad: Tensor | None, grad_scale: Tensor | None) -> tuple[Tensor | None, ...]:
        x, gain, y, scale, *tensors = ctx.saved_tensors
        radius, k = (tensors.pop(0) if c is None else c for c in ctx.constants)
        grad = torch.zeros_like(y) if grad is None else grad
        share = grad[..., :1] / y[..., :1]
        # Times of what follows mean nothing.
        total = torch.addcmul(grad, y, share)
        if not (readable(scale) and bool((scale > 0).all())):
            x = x.masked_fill(scale == 0, 0.0)
        products = total * x
        along = products[..., 1:].sum(-1) if gain is None else products[..., 1:] @ gain
        along = along.unsqueeze(-1) * scale
        if grad_scale is not None:
            along = along + grad_scale * scale
        pulled = total * scale
        if gain is not None:
            pulled = pulled * F.pad(gain, (1, 0))
        grad_x = torch.addcmul(pulled, x, along * (scale / radius).square(), value=-1.0)
        grad_x[..., :1] = 0.0
        needs = ctx.needs_input_grad
        grad_gain = (products.reshape(-1, x.shape[-1]).mT @ scale.flatten())[1:] if needs[1] else None
        grad_radius = (along / radius).sum_to_size(radius.shape) if needs[2] else None
        grad_k = (0.5 * share).sum_to_size(k.shape) if needs[3] else None
        return grad_x, grad_gain, grad_radius, grad_k


class LorentzNorm(LorentzModule):
    r"""Put points on a geodesic sphere about the origin: :math:`y_s = \rho R\, g \odot x_s/|x_s|`, time rebuilt.

    What layer norms do in Euclidean networks: the direction stays, the distance from the origin becomes
    :math:`R\,\mathrm{asinh}\,\rho` with :math:`R = \sqrt{-1/K}`. Gains g, one for each space coordinate, are learned
    and start at 1. A point at the origin has no direction and stays, with zero gradient.

    Args:
        features: ambient coordinates.
        gains: learn g.

    Shapes: ``(..., features) -> (..., features)``.

    Example:
        >>> import torch
        >>> norm = LorentzNorm(3)
        >>> norm(norm.manifold.lift(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))).detach()
        tensor([[2.2361, 1.2000, 1.6000],
                [1.0000, 0.0000, 0.0000]])
    """

    def __init__(
        self,
        features: int,
        *,
        gains: bool = True,
        manifold: Lorentz | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(manifold)
        if features < 2:
            raise ValueError(f"expected at least 2 ambient coordinates, got features={features}")
        self.features = features
        self.weight = nn.Parameter(torch.empty(features - 1, device=device, dtype=dtype)) if gains else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Gains of 1."""
        if self.weight is not None:
            nn.init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        self.check_input(x, self.features)
        x = wide_in_autocast(x)
        wide, K = working(x), self.manifold.K
        gain = None if self.weight is None else self.weight.to(wide.dtype)
        moved = _Sphere.apply if torch.is_grad_enabled() else _Sphere.forward  # small steps feel autograd's own cost
        return moved(wide, gain, NORM_LENGTH * origin_time(K), -1.0 / K)[0].to(x.dtype)

    def extra_repr(self) -> str:
        return f"{self.features}, gains={self.weight is not None}"
