"""A Lorentz linear layer that learns the size of its input from the first one, as ``nn.LazyLinear`` does."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.modules.lazy import LazyModuleMixin
from torch.nn.parameter import UninitializedParameter

from hybonet.nn.linear import LorentzLinear


class LazyLorentzLinear(LazyModuleMixin, LorentzLinear):
    """A :class:`LorentzLinear` whose ``in_features`` is that of the first input; from then on it is an ordinary one.

    Example:
        >>> from hybonet import Lorentz
        >>> layer = LazyLorentzLinear(4)
        >>> layer(Lorentz().random_normal(2, 7)).shape
        torch.Size([2, 4])
        >>> type(layer).__name__, layer.in_features
        ('LorentzLinear', 7)
    """

    cls_to_become = LorentzLinear

    def __init__(self, out_features: int, bias: bool = True, **options: Any) -> None:
        super().__init__(2, out_features, bias, **options)  # of any size: the weight is replaced
        self.in_features = 0
        weight = self.weight
        self.rows = weight.shape[0]
        self.weight = UninitializedParameter(device=weight.device, dtype=weight.dtype)  # type: ignore

    def reset_parameters(self) -> None:
        """As :meth:`LorentzLinear.reset_parameters`, once the size is known."""
        if self.in_features and not self.has_uninitialized_params():
            super().reset_parameters()

    @torch.no_grad()
    def initialize_parameters(self, x: Tensor, residual: Tensor | None = None) -> None:
        """Take the size of the first input; weights that came with a ``load_state_dict`` are kept."""
        drawn = self.has_uninitialized_params()
        if drawn:
            self.check_input(x)
            self.weight.materialize((self.rows, x.shape[-1]))  # type: ignore[attr-defined]
        self.in_features = self.weight.shape[1]
        if drawn:
            self.reset_parameters()


def linear_or_lazy(in_features: int, out_features: int, bias: bool, **options: Any) -> LorentzLinear:
    """A Lorentz linear layer, lazy if ``in_features`` is -1, as PyTorch Geometric writes it.

    Example:
        >>> linear_or_lazy(-1, 4, True)
        LazyLorentzLinear(
          in_features=0, out_features=4, bias=True, form=scaled
          (manifold): Lorentz(K=-1)
        )
    """
    if in_features == -1:
        return LazyLorentzLinear(out_features, bias, **options)
    return LorentzLinear(in_features, out_features, bias, **options)
