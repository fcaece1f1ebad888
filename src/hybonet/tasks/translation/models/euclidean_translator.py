"""The ordinary Transformer for translation, and HAtt, hyperbolic in its attention alone (Gulcehre et al., 2018)."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, ClassVar, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.nn.attention import causal_mask
from hybonet.nn.dropout import dropout
from hybonet.nn.module import wide_in_autocast
from hybonet.nn.position import PositionKind, sinusoids
from hybonet.tasks.translation.models.transformer_translator import (
    DecoderLayer,
    EncoderLayer,
    MultiheadAttention,
    TransformerTranslator,
    masked_softmax,
)
from hybonet.tasks.translation.models.translation_model import TranslatorBase


class TokenEmbedding(nn.Module):
    """Vectors of tokens plus those of their positions; ``(B, T) -> (B, T, d)``.

    Tokens start at N(0, 1/d) and are multiplied with √d, so that they weigh as much as sinusoidal positions.
    """

    def __init__(self, vocab: int, *, model: TranslatorBase, positions: PositionKind) -> None:
        super().__init__()
        if positions not in get_args(PositionKind):
            raise ValueError(f"expected positions 'learned', 'sinusoidal' or 'centred', got {positions!r}")
        dim, max_length, padding = model.dim, model.max_length, model.padding
        self.max_length, self.factor = max_length, math.sqrt(dim)
        self.tokens = nn.Embedding(vocab, dim, padding_idx=padding)
        nn.init.normal_(self.tokens.weight, std=dim**-0.5)
        with torch.no_grad():
            self.tokens.weight[padding] = 0.0
        self.position: Tensor
        if positions == "learned":
            self.position = nn.Parameter(0.02 * torch.randn(max_length, dim))
        else:
            codes = sinusoids(max_length, dim, centred=positions == "centred").to(torch.get_default_dtype())
            self.register_buffer("position", codes, persistent=False)

    def forward(self, tokens: Tensor, offset: int = 0) -> Tensor:
        length = tokens.shape[1]
        if offset + length > self.max_length:
            raise ValueError(
                f"expected at most {self.max_length} positions, got {offset + length}; "
                "build the model with a larger max_length or cut the sentence"
            )
        return self.factor * self.tokens(tokens) + self.position[offset : offset + length]


class EuclideanTranslator(TransformerTranslator):
    """The Transformer with layer norm, of the same sizes as ``Translator``.

    Args:
        sizes, options: of :class:`TranslatorBase`; dropout is on each block, too, before it joins its residual.
        norm_first: layer norms before the blocks instead of after them.
    """

    attention: ClassVar[type[MultiheadAttention]] = MultiheadAttention

    def __init__(
        self,
        *sizes: int,
        positions: PositionKind = "sinusoidal",
        norm_first: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(*sizes, **options)
        dim = self.dim
        self.embed_tokens(partial(TokenEmbedding, model=self, positions=positions))
        kind: dict[str, Any] = {"attention": self.attention, "norm_first": norm_first}

        def stack(layer: type[EncoderLayer]) -> nn.ModuleList:
            numbers = (dim, self.heads, self.inside, self.dropout, self.attention_dropout)
            return nn.ModuleList(layer(*numbers, **kind) for _ in range(self.depth))

        self.encoder_layers, self.decoder_layers = stack(EncoderLayer), stack(DecoderLayer)
        self.encoder_norm, self.decoder_norm = (nn.LayerNorm(dim) if norm_first else nn.Identity() for _ in range(2))
        self.head: nn.Linear = nn.Linear(dim, self.target_vocab)
        nn.init.xavier_uniform_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def embed_source(self, tokens: Tensor) -> Tensor:
        return dropout(self.source_embedding(tokens), self.dropout, self.training)

    def embed_target(self, tokens: Tensor, offset: int = 0) -> Tensor:
        return dropout(self.target_embedding(tokens, offset), self.dropout, self.training)

    def inner_form(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        return linear_inner_form(self.head, hidden)


def linear_inner_form(head: nn.Linear, x: Tensor) -> tuple[Tensor, Tensor]:
    """Matrices whose products are a linear layer's outputs, the bias as one more coordinate; ``(N, d) -> (N, d + 1),
    (out, d + 1)``.
    """
    return torch.cat((x, x.new_ones(len(x), 1)), dim=-1), torch.cat((head.weight, head.bias[:, None]), dim=-1)


class HyperbolicAttention(MultiheadAttention):
    r"""Weights :math:`\mathrm{softmax}_j(-\beta\, d(q_i, k_j))` by geodesic distance, and the Einstein midpoint of the
    values.

    Queries, keys and values are made by ordinary linear maps and go to the hyperboloid by the exponential map at the
    origin (length as radius, as in the pseudo-polar coordinates of the original); the midpoint, which in Lorentz
    coordinates is the centroid, comes back by the logarithm. Vectors are divided by √d on the way out and multiplied on
    the way back, so that radii start near 1. β is learned, one per head.
    """

    def __init__(self, dim: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__(dim, heads, dropout)
        self.manifold = Lorentz()
        self.log_sharpness = nn.Parameter(torch.zeros(heads, 1, 1))

    def _points(self, x: Tensor) -> Tensor:
        return self.manifold.expmap0(F.pad(wide_in_autocast(x) * x.shape[-1] ** -0.5, (1, 0)))

    def weights(self, q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
        distance = self.manifold.cdist(self._points(q), self._points(k))
        return masked_softmax(-self.log_sharpness.exp() * distance, mask)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, is_causal: bool) -> Tensor:
        weights = self.weights(q, k, causal_mask(q, k, mask) if is_causal else mask)
        weights = dropout(weights, self.dropout, self.training)
        middle = self.manifold.to_sheet(weights @ self._points(v))
        return (self.manifold.logmap0(middle)[..., 1:] * v.shape[-1] ** 0.5).to(v.dtype)


class HyperbolicAttentionTranslator(EuclideanTranslator):
    """HAtt: the Euclidean Transformer with :class:`HyperbolicAttention`; the arguments are the same."""

    attention: ClassVar[type[MultiheadAttention]] = HyperbolicAttention
