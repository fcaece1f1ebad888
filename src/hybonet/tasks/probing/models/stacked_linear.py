"""Many linear layers of one size side by side, each with its own input: one batched matrix product."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.nn.linear import gated_lift
from hybonet.nn.module import LorentzModule


class StackedLinear(nn.Module):
    """Linear maps without bias: input i is multiplied by matrix i; ``(stack, n, in) -> (stack, n, out)``.

    Example:
        >>> StackedLinear(3, 5, 2)(torch.ones(3, 7, 5)).shape
        torch.Size([3, 7, 2])
    """

    def __init__(self, stack: int, in_features: int, out_features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(stack, out_features, in_features))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform weights within ±1/√in."""
        bound = 1.0 / math.sqrt(self.weight.shape[-1])
        nn.init.uniform_(self.weight, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight.mT


class StackedLorentzLinear(LorentzModule):
    """Lorentz linear layers in the normalised form, as :class:`~hybonet.nn.LorentzLinear` has it; λ is learnt.

    Input points may lie on a sheet of another curvature; outputs lie on the manifold's.
    Shapes: ``(stack, n, in) -> (stack, n, out)``, ambient.

    Example:
        >>> layers = StackedLorentzLinear(3, 5, 4, manifold=Lorentz(-0.5))
        >>> y = layers(Lorentz().random_normal(3, 7, 5))
        >>> y.shape, layers.manifold.check_point(y)
        (torch.Size([3, 7, 4]), True)
    """

    def __init__(
        self,
        stack: int,
        in_features: int,
        out_features: int,
        *,
        scale: float = 10.0,
        manifold: Lorentz | None = None,
    ) -> None:
        super().__init__(manifold)
        self.initial_scale = scale
        self.weight = nn.Parameter(torch.empty(stack, out_features, in_features))
        self.bias = nn.Parameter(torch.empty(stack, 1, out_features))
        self.log_scale = nn.Parameter(torch.empty(stack, 1, 1))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """As a :class:`~hybonet.nn.LorentzLinear` starts."""
        bound = 1.0 / math.sqrt(self.weight.shape[-1])
        nn.init.uniform_(self.weight, -bound, bound)
        with torch.no_grad():
            self.weight[..., 0] = 0.0
        nn.init.zeros_(self.bias)
        nn.init.constant_(self.log_scale, math.log(self.initial_scale))

    def forward(self, x: Tensor) -> Tensor:
        return gated_lift(torch.baddbmm(self.bias, x, self.weight.mT), self.log_scale.exp(), K=self.manifold.K)
