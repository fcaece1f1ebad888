"""The position-wise feed-forward block."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from hybonet.geometry import Lorentz
from hybonet.nn.linear import Activation, Form, LorentzLinear, last_options, linear_options
from hybonet.nn.module import LorentzModule
from hybonet.nn.scales import inner_std


class LorentzFeedForward(LorentzModule):
    r"""Two Lorentz linear layers, :math:`\mathrm{HL}_2(\mathrm{HL}_1(x))`, the second with the activation on its
    input and, if given, the residual as its bias. ``form`` is that of both layers; ``out_form`` that of the second, if
    it has another.

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
        form: Form = "scaled",
        out_form: Form | None = None,
        linear: dict[str, Any] | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(manifold)
        options = linear_options(self.manifold, linear, device, dtype, form=form)
        start = {"init_std": inner_std(d_model, dim_feedforward)} if form == "scaled" else {}
        self.linear1 = LorentzLinear(d_model, dim_feedforward, bias, **{**start, **options})
        last = {"activation": activation, "dropout": dropout, "width": d_model, **last_options(options, out_form)}
        self.linear2 = LorentzLinear(dim_feedforward, d_model, bias, **last)

    def reset_parameters(self) -> None:
        """Reset both layers."""
        self.linear1.reset_parameters()
        self.linear2.reset_parameters()

    def forward(self, x: Tensor, residual: Tensor | None = None) -> Tensor:
        first, second = self.linear1, self.linear2
        if (
            isinstance(first, LorentzLinear)
            and isinstance(second, LorentzLinear)  # adapters wrap layers
            and first.form == "scaled"
            and second.activation is not None
            and not (self.manifold.check or first.watched or second.watched)
        ):
            self.check_input(x, first.in_features, like=first.weight)
            if second.activation is torch.relu and first.activation is None and not first.dropout and first.fuses(x):
                return second.mapped(first.activated(x, second.dropout if self.training else 0.0), residual, done=True)
            return second.mapped(first.without_time(x), residual)  # the second makes time anew after its activation
        return second(first(x), residual)
