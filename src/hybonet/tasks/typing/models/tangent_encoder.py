"""A Transformer encoder whose maps go through the tangent space at the origin, for comparison with the Lorentz one."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.nn import TangentLinear, lorentz_attention
from hybonet.nn.linear import head_features
from hybonet.nn.module import LorentzModule


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

    Shapes: ``(N, L, d_model) -> (N, L, d_model)``; ``padding (N, L)`` is True where there is no word.

    Example:
        >>> layer = TangentEncoderLayer(16, 4, 32, manifold=Lorentz())
        >>> layer(layer.manifold.random_normal(2, 5, 16), torch.zeros(2, 5, dtype=torch.bool)).shape
        torch.Size([2, 5, 16])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        *,
        attention_dropout: float = 0.0,
        dropout: float = 0.0,
        manifold: Lorentz,
    ) -> None:
        super().__init__(manifold)
        self.heads, self.head_space = nhead, head_features(d_model, nhead) - 1
        self.attention_dropout = attention_dropout
        inside = nhead * self.head_space + 1
        self.q_proj, self.k_proj, self.v_proj = (
            TangentLinear(d_model, inside, manifold=manifold, dropout=dropout) for _ in range(3)
        )
        self.out_proj = TangentLinear(inside, d_model, manifold=manifold, dropout=dropout)
        self.linear1 = TangentLinear(d_model, dim_feedforward, manifold=manifold, dropout=dropout)
        self.linear2 = TangentLinear(
            dim_feedforward, d_model, manifold=manifold, activation=torch.relu, dropout=dropout
        )

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
