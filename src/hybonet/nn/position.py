"""Position encodings: the position is added in the chart, or enters as the bias of a Lorentz linear layer."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.geometry.lorentz import lift_onto
from hybonet.nn.dropout import dropout
from hybonet.nn.linear import LorentzLinear, linear_options
from hybonet.nn.module import LorentzModule
from hybonet.nn.scales import POSITION_STD, unit

PositionKind = Literal["learned", "sinusoidal", "centred"]
#: Positions whose centred vectors have a mean of zero. A number of its own, so that ``max_len`` changes no vector.
_CENTRED = 100


class LorentzPositionalEncoding(LorentzModule):
    r"""Add positions to points: :math:`y_s = x_s + l\,p_i`, time rebuilt, with the unit l of
    :mod:`hybonet.nn.scales`.

    Args:
        d_model: ambient coordinates.
        max_len: positions available.
        kind: ``"learned"`` vectors; fixed ``"sinusoidal"`` ones; or ``"centred"``, which are sinusoidal without what
            near positions have in common. More than half of a sinusoidal vector is a constant, since slow cosines
            are near 1 at every place of a sentence; it tells no positions apart and disturbs training at large rates.
        dropout: on the sum; in the paper's form on the coordinates of the input.
        form: ``"scaled"``; or ``"paper"`` or ``"paper_code"``, where one linear layer of that form is shared by all
            positions, with :math:`p_i` (learned ones start at std 0.02) as its residual.
        linear: further options of that layer.

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
        kind: PositionKind = "learned",
        dropout: float = 0.0,
        form: Literal["scaled", "paper", "paper_code"] = "scaled",
        manifold: Lorentz | None = None,
        linear: dict[str, Any] | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(manifold)
        if d_model < 2:
            raise ValueError(f"expected at least 2 ambient coordinates, got d_model={d_model}")
        if kind not in get_args(PositionKind):
            raise ValueError(f"expected kind 'learned', 'sinusoidal' or 'centred', got {kind!r}")
        if not 0.0 <= dropout <= 1.0:
            raise ValueError(f"expected dropout probability between 0 and 1, got {dropout}")
        if form == "scaled" and linear:
            raise ValueError(f"form='scaled' has no linear layer for {linear}; use form='paper', or leave them out")
        self.d_model, self.max_len, self.kind, self.form, self.dropout = d_model, max_len, kind, form, dropout
        self.linear = None
        if form != "scaled":
            options = linear_options(self.manifold, linear, device, dtype, form=form)
            self.linear = LorentzLinear(d_model, d_model, **{"dropout": dropout, **options})
        # The paper's residuals are whole points, of which the layer reads the space part.
        table = torch.empty(max_len, d_model - (form == "scaled"), device=device, dtype=dtype)
        self.position: Tensor
        if kind == "learned":
            self.position = nn.Parameter(table)
        else:
            self.register_buffer("position", table, persistent=False)
        self._fill_positions()

    def reset_parameters(self) -> None:
        """Reset the positions and the linear layer."""
        if self.linear is not None:
            self.linear.reset_parameters()
        self._fill_positions()

    @torch.no_grad()
    def _fill_positions(self) -> None:
        if self.kind == "learned":
            nn.init.normal_(self.position, std=0.02 if self.linear is not None else POSITION_STD)
        else:
            self.position.copy_(sinusoids(*self.position.shape, centred=self.kind == "centred"))

    def forward(self, x: Tensor, offset: int = 0, positions: Tensor | None = None) -> Tensor:
        if positions is not None:
            if positions.shape != x.shape[:-1]:
                raise ValueError(
                    f"expected positions of shape {tuple(x.shape[:-1])}, one a point, got {tuple(positions.shape)}"
                )
            return self._add(x, self.position[positions])
        length = x.shape[-2]
        if not 0 <= offset <= self.max_len - length:
            raise ValueError(
                f"expected positions within 0 to {self.max_len - 1}, got {offset} to {offset + length - 1}; "
                "build the layer with a larger max_len or cut the sequence"
            )
        return self._add(x, self.position[offset : offset + length])

    def _add(self, x: Tensor, position: Tensor) -> Tensor:
        if self.linear is not None:
            return self.linear(x, position)
        self.check_input(x, self.d_model)
        K = self.manifold.K
        y = lift_onto(F.pad(position * unit(self.d_model, K=K), (1, 0)), x, K=K)
        return lift_onto(dropout(y, self.dropout), K=K) if self.dropout and self.training else y

    def extra_repr(self) -> str:
        return f"{self.d_model}, max_len={self.max_len}, kind={self.kind}"


def sinusoids(length: int, features: int, *, centred: bool = False) -> Tensor:
    """Sines and cosines of positions at wave lengths from 2π to 20,000π, ``(length, features)`` in float64.

    ``centred`` takes off the mean over the first hundred positions, however many are asked for.

    Example:
        >>> sinusoids(2, 2)[0]
        tensor([0., 1.], dtype=torch.float64)
    """
    if centred:
        return sinusoids(length, features) - sinusoids(_CENTRED, features).mean(0)
    step = torch.arange(length, dtype=torch.float64)[:, None]
    pair = torch.arange(features, dtype=torch.float64)
    angle = step * torch.exp((pair - pair % 2) * (-math.log(10000.0) / features))
    return torch.where(pair % 2 == 0, angle.sin(), angle.cos())
