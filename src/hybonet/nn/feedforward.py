"""The position-wise feed-forward block."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from hybonet.geometry import Lorentz
from hybonet.nn.linear import Activation, LorentzLinear, last_options, linear_options
from hybonet.nn.module import LorentzModule


class LorentzFeedForward(LorentzModule):
    r"""Two Lorentz linear layers, :math:`\mathrm{HL}_2(\mathrm{HL}_1(x))`, the second with the activation on its
    input and, if given, the residual as its bias. ``out_form="pure"`` has it added as it is (``norm_first`` of the
    Transformer layers).

    Shapes: ``(..., d_model) -> (..., d_model)``; ``dim_feedforward`` counts ambient coordinates too.

    Example:
        >>> block = LorentzFeedForward(8, 32)
        >>> x = block.manifold.random_normal(5, 8)
        >>> block(x, residual=x).shape
        torch.Size([5, 8])
    """

    def __init__(
        self,
        d_model: int,
        dim_feedforward: int,
        dropout: float = 0.0,
        activation: Activation | str | None = torch.relu,
        bias: bool = True,
        *,
        manifold: Lorentz | None = None,
        out_form: Literal["normalized", "pure"] = "normalized",
        linear: dict[str, Any] | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(manifold)
        options = linear_options(self.manifold, linear, device, dtype)
        self.linear1 = LorentzLinear(d_model, dim_feedforward, bias, **options)
        last = {"activation": activation, "dropout": dropout, **last_options(options, out_form)}
        self.linear2 = LorentzLinear(dim_feedforward, d_model, bias, **last)

    def reset_parameters(self) -> None:
        """Reset both layers."""
        self.linear1.reset_parameters()
        self.linear2.reset_parameters()

    def forward(self, x: Tensor, residual: Tensor | None = None) -> Tensor:
        return self.linear2(self.linear1(x), residual)
