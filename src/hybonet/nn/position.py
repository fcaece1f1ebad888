"""Position encodings: the position enters as the bias of a Lorentz linear layer."""

from __future__ import annotations

import math
from typing import Any, Literal

import torch
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.nn.linear import LorentzLinear, linear_options
from hybonet.nn.module import LorentzModule


class LorentzPositionalEncoding(LorentzModule):
    r"""Add positions to points: one Lorentz linear layer, shared by all positions, with :math:`p_i` as its residual.

    Args:
        d_model: ambient coordinates.
        max_len: positions available.
        kind: ``"learned"`` vectors (started at std 0.02) or the fixed ``"sinusoidal"`` ones.
        dropout: on the input coordinates.

    Shapes: ``(N, L, d_model) -> (N, L, d_model)`` (or unbatched); ``offset`` is the position of the first one, for
    decoding step by step. ``positions (N, L)`` gives each its own instead, to count from somewhere else.

    Example:
        >>> import torch
        >>> layer = LorentzPositionalEncoding(8, max_len=50, kind="sinusoidal")
        >>> x = layer.manifold.random_normal(2, 5, 8)
        >>> torch.allclose(layer(x)[:, 3:4], layer(x[:, 3:4], offset=3), atol=1e-6)
        True
    """

    def __init__(
        self,
        d_model: int,
        max_len: int = 512,
        *,
        kind: Literal["learned", "sinusoidal"] = "learned",
        dropout: float = 0.0,
        manifold: Lorentz | None = None,
        linear: dict[str, Any] | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(manifold)
        if kind not in ("learned", "sinusoidal"):
            raise ValueError(f"expected kind 'learned' or 'sinusoidal', got {kind!r}")
        self.d_model, self.max_len, self.kind = d_model, max_len, kind
        options = linear_options(self.manifold, linear, device, dtype)
        self.linear = LorentzLinear(d_model, d_model, **{"dropout": dropout, **options})
        table = torch.empty(max_len, d_model, device=device, dtype=dtype)
        self.position: Tensor
        if kind == "learned":
            self.position = nn.Parameter(table)
        else:
            self.register_buffer("position", table, persistent=False)
        self._fill_positions()

    def reset_parameters(self) -> None:
        """Reset the linear layer and the positions."""
        self.linear.reset_parameters()
        self._fill_positions()

    @torch.no_grad()
    def _fill_positions(self) -> None:
        if self.kind == "learned":
            nn.init.normal_(self.position, std=0.02)
        else:
            self.position.copy_(sinusoids(self.max_len, self.d_model))

    def forward(self, x: Tensor, offset: int = 0, positions: Tensor | None = None) -> Tensor:
        if positions is not None:
            if positions.shape != x.shape[:-1]:
                raise ValueError(
                    f"expected positions of shape {tuple(x.shape[:-1])}, one a point, got {tuple(positions.shape)}"
                )
            return self.linear(x, self.position[positions])
        length = x.shape[-2]
        if not 0 <= offset <= self.max_len - length:
            raise ValueError(
                f"expected positions within 0 to {self.max_len - 1}, got {offset} to {offset + length - 1}; "
                "build the layer with a larger max_len or cut the sequence"
            )
        return self.linear(x, self.position[offset : offset + length])

    def extra_repr(self) -> str:
        return f"{self.d_model}, max_len={self.max_len}, kind={self.kind}"


def sinusoids(length: int, features: int) -> Tensor:
    """Sines and cosines of positions at wave lengths from 2π to 20,000π, ``(length, features)`` in float64.

    Example:
        >>> sinusoids(2, 2)[0]
        tensor([0., 1.], dtype=torch.float64)
    """
    step = torch.arange(length, dtype=torch.float64)[:, None]
    pair = torch.arange(features, dtype=torch.float64)
    angle = step * torch.exp((pair - pair % 2) * (-math.log(10000.0) / features))
    return torch.where(pair % 2 == 0, angle.sin(), angle.cos())
