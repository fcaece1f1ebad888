"""The families of maps that an entity typer can be made of: within the Lorentz model, or through tangent spaces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.nn import (
    LorentzFeedForward,
    LorentzLinear,
    LorentzNorm,
    LorentzPositionalEncoding,
    LorentzTransformerEncoder,
    LorentzTransformerEncoderLayer,
    TangentLinear,
    lorentz_attention,
)
from hybonet.nn.linear import head_features
from hybonet.nn.module import LorentzModule
from hybonet.nn.transformer import HEAD_SCALE


class TangentPositionalEncoding(LorentzModule):
    """Positions as learned tangent vectors, added to a tangent-space linear map of the points.

    Shapes: ``x (N, L, d)``, ``positions (N, L) -> (N, L, d)``.
    """

    def __init__(self, d_model: int, max_len: int, *, dropout: float = 0.0, manifold: Lorentz) -> None:
        super().__init__(manifold)
        self.linear = TangentLinear(d_model, d_model, manifold=manifold, dropout=dropout)
        self.position = nn.Parameter(torch.empty(max_len, d_model))
        nn.init.normal_(self.position, std=0.02)

    def forward(self, x: Tensor, offset: int = 0, positions: Tensor | None = None) -> Tensor:
        chosen = self.position[offset : offset + x.shape[-2]] if positions is None else self.position[positions]
        tangent = chosen * chosen.new_tensor([0.0] + [1.0] * (chosen.shape[-1] - 1))  # no time part at the origin
        return self.linear(x, self.manifold.expmap0(tangent))


class TangentEncoderLayer(LorentzModule):
    """Attention by distances and a feed-forward block, every map a :class:`~hybonet.nn.TangentLinear`.

    Queries, keys and values are cut into heads in the tangent space; residuals are added there. Takes the place of
    :class:`~hybonet.nn.LorentzTransformerEncoderLayer`.

    Shapes: ``(N, L, dim) -> (N, L, dim)``; ``padding (N, L)`` is True where there is no word.
    """

    def __init__(
        self, dim: int, heads: int, feedforward: int, *, attention_dropout: float, dropout: float, manifold: Lorentz
    ) -> None:
        super().__init__(manifold)
        self.heads, self.head_space = heads, head_features(dim, heads) - 1
        self.attention_dropout = attention_dropout
        linear = partial(TangentLinear, manifold=manifold, dropout=dropout)
        inside = heads * self.head_space + 1
        self.q_proj, self.k_proj, self.v_proj = (linear(dim, inside) for _ in range(3))
        self.out_proj = linear(inside, dim)
        self.linear1, self.linear2 = linear(dim, feedforward), linear(feedforward, dim, activation=torch.relu)

    def _heads(self, x: Tensor) -> Tensor:
        tangent = self.manifold.logmap0(x)[..., 1:].unflatten(-1, (self.heads, self.head_space))
        return self.manifold.expmap0(nn.functional.pad(tangent, (1, 0))).transpose(-2, -3)

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        attended = lorentz_attention(
            *(self._heads(layer(x)) for layer in (self.q_proj, self.k_proj, self.v_proj)),
            manifold=self.manifold,
            attn_mask=~padding[:, None, None, :],
            dropout_p=self.attention_dropout if self.training else 0.0,
        )
        tangent = self.manifold.logmap0(attended)[..., 1:].transpose(-2, -3).flatten(-2)
        x = self.out_proj(self.manifold.expmap0(nn.functional.pad(tangent, (1, 0))), x)
        return self.linear2(self.linear1(x), x)


@dataclass(frozen=True)
class ScaledMaps:
    """Every map a Lorentz linear layer in the scaled form, whose input is normed.

    Args:
        dropout: on the input of the linear layers.
    """

    manifold: Lorentz
    dropout: float = 0.0

    def linear(self, before: int, after: int) -> nn.Module:
        linear = LorentzLinear(before, after, manifold=self.manifold, dropout=self.dropout)
        return nn.Sequential(linear, LorentzNorm(after, manifold=self.manifold))

    def position(self, dim: int, places: int) -> nn.Module:
        return LorentzPositionalEncoding(dim, places, manifold=self.manifold)

    def encoder(self, dim: int, layers: int, heads: int, feedforward: int, attention_dropout: float) -> nn.Module:
        layer = LorentzTransformerEncoderLayer(
            dim,
            heads,
            feedforward,
            self.dropout,
            manifold=self.manifold,
            attention={"dropout": attention_dropout},
        )
        return LorentzTransformerEncoder(layer, layers)

    def merge(self, dim: int, dropout: float) -> nn.Module:
        linear = LorentzLinear(2 * dim, dim, in_heads=2, width=dim, manifold=self.manifold, dropout=dropout)
        return _LorentzMerge(linear, LorentzNorm(dim, manifold=self.manifold))

    def feedforward(self, dim: int, inside: int) -> nn.Module:
        return _NormedFeedForward(
            LorentzFeedForward(dim, inside, manifold=self.manifold), LorentzNorm(dim, manifold=self.manifold)
        )


@dataclass(frozen=True)
class LorentzMaps:
    """What an entity typer builds its parts with: every map a Lorentz linear layer.

    ``linear`` maps points. ``position`` adds where a word stands: called with points and their places. ``encoder`` is
    the context's Transformer: called with points and ``src_key_padding_mask``. ``merge`` makes one point of two, and
    ``feedforward`` is called with points and what it adds to.
    """

    manifold: Lorentz
    dropout: float = 0.0
    scale: float = 10.0
    norm_first: bool = False

    def linear(self, before: int, after: int) -> nn.Module:
        return LorentzLinear(before, after, form="paper", manifold=self.manifold, **self._linear())

    def position(self, dim: int, places: int) -> nn.Module:
        return LorentzPositionalEncoding(dim, places, form="paper", manifold=self.manifold, linear=self._linear())

    def encoder(self, dim: int, layers: int, heads: int, feedforward: int, attention_dropout: float) -> nn.Module:
        layer = LorentzTransformerEncoderLayer(
            dim,
            heads,
            feedforward,
            attention_dropout,
            norm_first=self.norm_first,
            form="paper",
            manifold=self.manifold,
            attention={"head_scale": HEAD_SCALE if self.norm_first else None},
            linear=self._linear(),
        )
        return LorentzTransformerEncoder(layer, layers)

    def merge(self, dim: int, dropout: float) -> nn.Module:
        options: dict[str, Any] = {"form": "paper", "manifold": self.manifold, "dropout": dropout, "scale": self.scale}
        return _LorentzMerge(LorentzLinear(2 * dim, dim, in_heads=2, **options))

    def feedforward(self, dim: int, inside: int) -> nn.Module:
        out: Any = "pure" if self.norm_first else None
        options: dict[str, Any] = {"form": "paper", "manifold": self.manifold, "linear": {"scale": self.scale}}
        return LorentzFeedForward(dim, inside, **options, out_form=out)

    def _linear(self) -> dict[str, Any]:
        return {"dropout": self.dropout, "scale": self.scale}


@dataclass(frozen=True)
class TangentMaps:
    """The same by maps through the tangent space at the origin; residuals are added there."""

    manifold: Lorentz
    dropout: float = 0.0

    def linear(self, before: int, after: int) -> nn.Module:
        return TangentLinear(before, after, manifold=self.manifold, dropout=self.dropout)

    def position(self, dim: int, places: int) -> nn.Module:
        return TangentPositionalEncoding(dim, places, dropout=self.dropout, manifold=self.manifold)

    def encoder(self, dim: int, layers: int, heads: int, feedforward: int, attention_dropout: float) -> nn.Module:
        options: dict[str, Any] = {"attention_dropout": attention_dropout, "dropout": self.dropout}
        return _TangentEncoder(
            TangentEncoderLayer(dim, heads, feedforward, manifold=self.manifold, **options) for _ in range(layers)
        )

    def merge(self, dim: int, dropout: float) -> nn.Module:
        return _TangentMerge(TangentLinear(2 * dim - 1, dim, manifold=self.manifold, dropout=dropout))

    def feedforward(self, dim: int, inside: int) -> nn.Module:
        return _TangentFeedForward(
            TangentLinear(dim, inside, manifold=self.manifold),
            TangentLinear(inside, dim, manifold=self.manifold, activation=torch.relu),
        )


class _LorentzMerge(nn.Module):
    """Two points side by side, as two heads are, mapped to one."""

    def __init__(self, linear: LorentzLinear, norm: LorentzNorm | None = None) -> None:
        super().__init__()
        self.linear, self.norm = linear, norm

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        point = self.linear(torch.cat((first, second), dim=-1))
        return point if self.norm is None else self.norm(point)


class _NormedFeedForward(nn.Module):
    """A feed-forward block whose sum is normed."""

    def __init__(self, block: LorentzFeedForward, norm: LorentzNorm) -> None:
        super().__init__()
        self.block, self.norm = block, norm

    def forward(self, x: Tensor, residual: Tensor) -> Tensor:
        return self.norm(self.block(x, residual))


class _TangentMerge(LorentzModule):
    """The tangent vectors of two points side by side, mapped to one point."""

    def __init__(self, linear: TangentLinear) -> None:
        super().__init__(linear.manifold)
        self.linear = linear

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        tangents = [self.manifold.logmap0(each)[..., 1:] for each in (first, second)]
        return self.linear(self.manifold.expmap0(nn.functional.pad(torch.cat(tangents, dim=-1), (1, 0))))


class _TangentFeedForward(nn.Module):
    """Two tangent-space layers, the second adding to what it is given."""

    def __init__(self, linear1: TangentLinear, linear2: TangentLinear) -> None:
        super().__init__()
        self.linear1, self.linear2 = linear1, linear2

    def forward(self, x: Tensor, residual: Tensor) -> Tensor:
        return self.linear2(self.linear1(x), residual)


class _TangentEncoder(nn.Module):
    """Encoder layers one after the other, called as a Lorentz encoder is."""

    def __init__(self, layers: Iterable[nn.Module]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x: Tensor, src_key_padding_mask: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x, src_key_padding_mask)
        return x
