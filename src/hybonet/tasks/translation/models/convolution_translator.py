"""ConvSeq2Seq: translation by gated convolutions (Gehring et al., 2017)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.nn.dropout import dropout
from hybonet.nn.position import PositionKind
from hybonet.tasks.translation.models.euclidean_translator import TokenEmbedding, linear_inner_form
from hybonet.tasks.translation.models.transformer_translator import masked_softmax
from hybonet.tasks.translation.models.translation_model import (
    AttentionMaps,
    DecodingCache,
    Memory,
    TranslatorBase,
    recorded_weights,
)

#: A sum of two equal variances is brought back to one.
HALF = math.sqrt(0.5)


class Windows(DecodingCache):
    """What each decoder layer still sees of earlier positions, ``(N, width - 1, h)``."""

    def __init__(self, memory: Memory, copies: int, layers: int) -> None:
        super().__init__(memory, copies)
        self.past: list[Tensor | None] = [None] * layers

    def reorder(self, rows: Tensor) -> None:
        sentences = rows[:: self.copies] // self.copies
        self.memory = Memory(*(None if part is None else part[sentences] for part in self.memory))  # type: ignore[arg-type]
        self.past = [None if past is None else past[rows] for past in self.past]


class GatedConvolution(nn.Module):
    """A window of positions to one, by a linear map and a gate: ``(N, T + width - 1, h) -> (N, T, h)``."""

    def __init__(self, hidden: int, width: int, dropout: float) -> None:
        super().__init__()
        self.width, self.dropout = width, dropout
        self.linear = nn.Linear(width * hidden, 2 * hidden)
        # A gated unit passes a quarter of the variance on.
        nn.init.normal_(self.linear.weight, std=math.sqrt(4.0 * (1.0 - dropout) / (width * hidden)))
        nn.init.zeros_(self.linear.bias)

    def forward(self, padded: Tensor) -> Tensor:
        padded = dropout(padded, self.dropout, self.training)
        return F.glu(self.linear(windows(padded, self.width)), dim=-1)


def windows(padded: Tensor, width: int) -> Tensor:
    """Every ``width`` neighbours side by side, ``(N, T + width - 1, h) -> (N, T, width · h)``."""
    length = padded.shape[1] - width + 1
    return torch.cat([padded[:, i : i + length] for i in range(width)], dim=-1)


class LookUp(nn.Module):
    """Attention of a decoder layer to the source; the token just read is part of the question.

    Shapes: states ``(N, T, h)``, embedded tokens ``(N, T, d)`` ``-> (N, T, h)`` and the weights if asked for.
    """

    def __init__(self, dim: int, hidden: int, heads: int, dropout: float, linear: Any = nn.Linear) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.into, self.back = linear(hidden, dim), linear(dim, hidden)

    def forward(
        self,
        states: Tensor,
        tokens: Tensor,
        memory: Memory,
        *,
        need_weights: bool = False,
        average_attn_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        out, weights = self.gather(states, tokens, memory)
        if not need_weights:
            return out, None
        return out, weights.mean(1) if average_attn_weights else weights

    def gather(self, states: Tensor, tokens: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
        """What is found, and the weights of each head."""
        assert memory.values is not None
        question = (self.into(states) + tokens) * HALF
        q, k, v = (x.unflatten(-1, (self.heads, -1)).transpose(1, 2) for x in (question, memory.states, memory.values))
        weights = masked_softmax(q @ k.transpose(-1, -2), ~memory.padding[:, None, None, :])
        found = dropout(weights, self.dropout, self.training) @ v
        # A mean of S values has less variance than one of them: as in the original, it is scaled back.
        length = (~memory.padding).sum(1).clamp_min(1).to(v.dtype)[:, None, None]
        return self.back(found.transpose(1, 2).flatten(2) * length.sqrt()), weights


class ConvolutionTranslator(TranslatorBase):
    """Gated convolutions in encoder and decoder, and attention to the source in every decoder layer.

    Args:
        sizes, options: of :class:`TranslatorBase`.
        heads: of the attention to the source (the original has one).
        feedforward: the Transformer's, 4 ``dim`` by default: hidden states are as wide as it takes for a layer to have
            as many parameters as a Transformer's encoder layer.
        width: positions that a convolution sees, odd.
    """

    def __init__(
        self,
        *sizes: int,
        heads: int = 1,
        positions: PositionKind = "learned",
        width: int = 3,
        **options: Any,
    ) -> None:
        super().__init__(*sizes, heads=heads, **options)
        dim = self.dim
        if width < 1 or width % 2 == 0:
            raise ValueError(f"expected an odd width, got {width}")
        if heads < 1 or dim % heads:
            raise ValueError(f"expected dim ({dim}) to be a multiple of heads, got heads={heads}")
        self.width = width
        # 2 · width · h² = 4 d² + 2 d f
        hidden = max(2, round(math.sqrt((2 * dim**2 + dim * self.inside) / width)))
        self.embed_tokens(partial(TokenEmbedding, model=self, positions=positions))
        self.build_layers(hidden)

    def build_layers(
        self,
        hidden: int,
        *,
        linear: Any = nn.Linear,
        convolution: Any = GatedConvolution,
        look_up: Any = LookUp,
        head: Any = nn.Linear,
    ) -> None:
        """All that comes after the embeddings, of these kinds of layers."""
        dim, sizes = self.dim, (hidden, self.width, self.dropout)
        self.encoder_in, self.encoder_out = linear(dim, hidden), linear(hidden, dim)
        self.decoder_in, self.decoder_out = linear(dim, hidden), linear(hidden, dim)
        self.encoder_layers = nn.ModuleList(convolution(*sizes) for _ in range(self.depth))
        self.decoder_layers = nn.ModuleList(convolution(*sizes) for _ in range(self.depth))
        self.look_ups = nn.ModuleList(
            look_up(dim, hidden, self.heads, self.attention_dropout) for _ in range(self.depth)
        )
        self.head = head(dim, self.target_vocab)

    def embed(self, table: nn.Module, tokens: Tensor, offset: int = 0) -> Tensor:
        """States of tokens with their positions, ``(B, T) -> (B, T, d)``."""
        return dropout(table(tokens, offset), self.dropout, self.training)

    def join(self, x: Tensor, y: Tensor) -> Tensor:
        """A residual connection."""
        return (x + y) * HALF

    def layer_states(self, source: Tensor) -> list[Tensor]:
        embedded = self.embed(self.source_embedding, source)
        return [embedded, *self._convolved(embedded, source == self.padding)]

    def _convolved(self, embedded: Tensor, padding: Tensor) -> list[Tensor]:
        """States after every encoder layer; all but the last are ``hidden`` wide."""
        x, side, states = self.encoder_in(embedded), self.width // 2, []
        for layer in self.encoder_layers:
            x = x.masked_fill(padding[..., None], 0.0)
            x = self.join(x, layer(F.pad(x, (0, 0, side, side))))
            states.append(x)
        return [*states[:-1], self.encoder_out(x)]

    def encode(self, source: Tensor) -> Memory:
        padding = source == self.padding
        embedded = self.embed(self.source_embedding, source)
        states = self._convolved(embedded, padding)[-1]
        return Memory(states, padding, self.join(states, embedded))

    def decode(self, target_in: Tensor, memory: Memory) -> Tensor:
        tokens = self.embed(self.target_embedding, target_in)
        x = self.decoder_in(tokens)
        for layer, look_up in zip(self.decoder_layers, self.look_ups, strict=True):
            y = layer(F.pad(x, (0, 0, self.width - 1, 0)))
            x = self.join(x, self.join(y, look_up(y, tokens, memory)[0]))
        return self.decoder_out(x)

    def start(self, memory: Memory, copies: int = 1) -> Windows:
        return Windows(memory, copies, len(self.decoder_layers))

    def step(self, tokens: Tensor, cache: Windows) -> Tensor:
        embedded = self.embed(self.target_embedding, tokens[:, None], cache.position)
        together = (len(tokens) // cache.copies, cache.copies, -1)  # copies ask the one memory side by side
        x = self.decoder_in(embedded)
        for number, (layer, look_up) in enumerate(zip(self.decoder_layers, self.look_ups, strict=True)):
            past = cache.past[number]
            seen = F.pad(x, (0, 0, self.width - 1, 0)) if past is None else torch.cat((past, x), dim=1)
            cache.past[number] = seen[:, 1:]
            y = layer.forward(seen)  # not layer(...), which may be compiled for long sequences
            found = look_up.forward(y.view(together), embedded.view(together), cache.memory)[0]
            x = self.join(x, self.join(y, found.view_as(y)))
        cache.position += 1
        return self.logits(self.decoder_out(x)[:, 0])

    def repeated_layers(self) -> Iterator[nn.Module]:
        yield from self.encoder_layers
        yield from self.decoder_layers
        yield from self.look_ups

    @torch.no_grad()
    def attention_maps(self, source: Tensor, target_in: Tensor) -> AttentionMaps:
        with recorded_weights(self.look_ups) as weights:
            self.decode(target_in, self.encode(source))
        return AttentionMaps([], [], [weights[look_up] for look_up in self.look_ups])

    def inner_form(self, hidden: Tensor) -> tuple[Tensor, Tensor] | None:
        return linear_inner_form(self.head, hidden) if isinstance(self.head, nn.Linear) else None
