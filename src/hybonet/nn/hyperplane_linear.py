"""A linear layer whose outputs are signed distances to hyperplanes."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.geometry.lorentz import lift_onto
from hybonet.geometry.numerics import max_rapidity, origin_time, precision, working
from hybonet.nn.linear import Activation, activation_function
from hybonet.nn.module import LorentzModule


class LorentzHyperplaneLinear(LorentzModule):
    r"""Linear layer by distances to hyperplanes, after "Fast and Geometrically Grounded Lorentz Neural Networks".

    A Euclidean linear layer gives :math:`|w_i|` times the signed distance to the hyperplane :math:`w_i \cdot x + b_i =
    0`. So does this one: :math:`H_i` has the direction :math:`w_i` and lies :math:`b_i` from the origin, which gives

    .. math:: v_i = |w_i|\,d(x, H_i) = |w_i| R\,\mathrm{asinh}\Big(\cosh\tfrac{b_i}{R}\,\tfrac{w_i \cdot x_s}{|w_i| R}
              - \sinh\tfrac{b_i}{R}\,\tfrac{x_t}{R}\Big)

    with :math:`R = \sqrt{-1/K}`. The output is the point that lies :math:`v_i` from the hyperplane across axis i:
    :math:`y_{s,i} = R \sinh(v_i/R)`, time rebuilt. How far out it lies grows with the weights, and not, as with
    :class:`LorentzLinear`, with their logarithm (`benchmarks/norm_growth.py`).

    Args:
        in_features, out_features: ambient coordinates, time included.
        bias: learn :math:`b_i`; else hyperplanes go through the origin.
        activation: applied to the input's space part; a function of a tensor, or ``"relu"`` or ``"gelu"``.

    Shapes: ``(..., in_features) -> (..., out_features)``.

    Example:
        >>> layer = LorentzHyperplaneLinear(5, 9, manifold=Lorentz(K=-0.5))
        >>> y = layer(layer.manifold.random_normal(2, 5))
        >>> y.shape, layer.manifold.check_point(y)
        (torch.Size([2, 9]), True)
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        *,
        manifold: Lorentz | None = None,
        activation: Activation | str | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(manifold)
        if in_features < 2 or out_features < 2:
            raise ValueError(
                f"expected at least 2 ambient coordinates (time and one of space), got in_features={in_features}, "
                f"out_features={out_features}"
            )
        self.in_features, self.out_features = in_features, out_features
        self.activation = activation_function(activation)
        self.weight = nn.Parameter(torch.empty(out_features - 1, in_features - 1, device=device, dtype=dtype))
        self.bias = nn.Parameter(torch.empty(out_features - 1, device=device, dtype=dtype)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform weights within ±1/√n, as in ``nn.Linear``; hyperplanes through the origin."""
        bound = 1.0 / math.sqrt(self.in_features - 1)
        nn.init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        self.check_input(x, self.in_features)
        K = self.manifold.K
        if self.activation is not None:
            x = lift_onto(F.pad(self.activation(x[..., 1:]), (1, 0)), K=K)
        radius, weight = origin_time(K), working(self.weight)
        farthest = 0.5 * float(max_rapidity(weight.dtype))  # half of it: many coordinates may be as large
        normal = F.pad(F.normalize(weight, dim=-1, eps=precision(weight.dtype).min_norm), (1, 0))
        if self.bias is not None:
            offset = (working(self.bias) / radius).clamp(-farthest, farthest)[:, None]
            normal = normal * offset.cosh() - F.pad(offset.sinh(), (0, self.in_features - 1))
        with torch.autocast(x.device.type, enabled=False):  # sinh magnifies errors
            sines = F.linear(working(x), normal.to(working(x).dtype)) / radius
            distances = torch.linalg.vector_norm(weight, dim=-1).to(sines.dtype) * sines.asinh()
            space = radius * distances.clamp(-farthest, farthest).sinh()
        return lift_onto(F.pad(space, (1, 0)), K=K).to(x.dtype)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
