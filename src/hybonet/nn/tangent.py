"""The conventional hyperbolic linear layer, for comparison."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.kernels.sparse_points import dropped, is_sparse_rows, linear, sparse_log0
from hybonet.nn.linear import Activation, activation_function
from hybonet.nn.module import LorentzModule, wide_in_autocast


class TangentLinear(LorentzModule):
    r"""Linear map in the tangent space at the origin: :math:`y = \exp_o(W h(\log_o(x)_s) + b)`.

    The layer that earlier hyperbolic networks use: a pseudo-rotation without boost (block-diagonal M in the paper's
    notation), costlier than :class:`LorentzLinear`.

    A ``residual`` (a point) is added in the tangent space: :math:`\exp_o(W h(\log_o(x)_s) + b + \log_o(r)_s)`.

    Shapes: ``(..., in_features) -> (..., out_features)``, ambient coordinates; ``weight`` is
    ``(out_features - 1, in_features - 1)``. Points that do not change and are mostly zero may be a matrix in compressed
    rows, as for :class:`LorentzLinear`.

    Example:
        >>> layer = TangentLinear(5, 9)
        >>> layer(layer.manifold.random_normal(2, 5)).shape
        torch.Size([2, 9])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        *,
        manifold: Lorentz | None = None,
        activation: Activation | str | None = None,
        dropout: float = 0.0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(manifold)
        if in_features < 2 or out_features < 2:
            raise ValueError(
                f"expected at least 2 ambient coordinates, got in_features={in_features}, out_features={out_features}"
            )
        self.in_features, self.out_features = in_features, out_features
        self.activation, self.dropout = activation_function(activation), dropout
        self.weight = nn.Parameter(torch.empty(out_features - 1, in_features - 1, device=device, dtype=dtype))
        self.bias = nn.Parameter(torch.empty(out_features - 1, device=device, dtype=dtype)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weights and zero bias as in :class:`LorentzLinear`."""
        bound = 1.0 / math.sqrt(self.in_features - 1)
        nn.init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, residual: Tensor | None = None) -> Tensor:
        self.check_input(x, self.in_features, like=self.weight)
        tangent = sparse_log0(x, K=self.manifold.K) if is_sparse_rows(x) else self.manifold.logmap0(x)[..., 1:]
        tangent = dropped(tangent, self.dropout, self.training)
        if self.activation is not None:
            tangent = self.activation(tangent)
        tangent = wide_in_autocast(linear(tangent, self.weight, self.bias))
        if residual is not None:
            self.check_input(residual, self.out_features, name="residual")
            tangent = tangent + self.manifold.logmap0(residual)[..., 1:]
        return self.manifold.expmap0(F.pad(tangent, (1, 0)))

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
