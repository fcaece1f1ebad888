"""Translators made of Transformer layers, whatever their geometry, and the ordinary layers with a key-value cache."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.nn import KVCache
from hybonet.nn.attention import causal_mask
from hybonet.nn.dropout import dropout
from hybonet.nn.kv_cache import fold_copies, unfold_copies
from hybonet.tasks.translation.models.translation_model import (
    AttentionMaps,
    DecodingCache,
    Memory,
    TranslatorBase,
    recorded_weights,
)


class MultiheadAttention(nn.Module):
    """Dot-product attention; a subclass may put another rule in place of :meth:`attend` and :meth:`weights`.

    Shapes: ``query (N, L, d)``, ``memory (N, S, d) -> (N, L, d)`` and the weights ``(N, heads, L, S)`` if asked for.
    True in ``key_padding_mask (N, S)`` means *ignore*. Caches work as in :class:`hybonet.nn.LorentzMultiheadAttention`;
    without a memory the query attends to itself.
    """

    def __init__(self, dim: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        if heads < 1 or dim % heads:
            raise ValueError(f"expected dim ({dim}) to be a multiple of heads, got heads={heads}")
        self.dim, self.heads, self.dropout = dim, heads, dropout
        self.in_proj, self.out_proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        nn.init.xavier_uniform_(self.in_proj.weight)
        nn.init.xavier_uniform_(self.out_proj.weight)
        nn.init.zeros_(self.in_proj.bias)
        nn.init.zeros_(self.out_proj.bias)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, is_causal: bool) -> Tensor:
        """Values by weight, ``(N, heads, L, d / heads)``; True in the mask means attend."""
        dropout = self.dropout if self.training else 0.0
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout, is_causal=is_causal)

    def weights(self, q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
        """The weights themselves, ``(N, heads, L, S)``."""
        return masked_softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), mask)

    def forward(
        self,
        query: Tensor,
        memory: Tensor | None = None,
        *,
        key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
        cache: KVCache | None = None,
        need_weights: bool = False,
        average_attn_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        if memory is None:
            q, k, v = self._split(self.in_proj(query))
            if cache is not None:
                k, v = cache.append(k, v)
        else:
            (q,) = self._split(F.linear(query, self.in_proj.weight[: self.dim], self.in_proj.bias[: self.dim]))
            kept = None if cache is None else cache.stored()
            if kept is None:
                both = F.linear(memory, self.in_proj.weight[self.dim :], self.in_proj.bias[self.dim :])
                k, v = self._split(both) if cache is None else cache.append(*self._split(both))
            else:
                k, v = kept
            q = fold_copies(q, len(k))
        mask = None if key_padding_mask is None else ~key_padding_mask[:, None, None, :]
        context = unfold_copies(self.attend(q, k, v, mask, is_causal), len(query))
        weights = None
        if need_weights:
            weights = self.weights(q, k, causal_mask(q, k, mask) if is_causal else mask)
            weights = weights.mean(1) if average_attn_weights else weights
        return self.out_proj(context.transpose(1, 2).flatten(2)), weights

    def _split(self, x: Tensor) -> tuple[Tensor, ...]:
        parts = x.unflatten(-1, (x.shape[-1] // self.dim, self.heads, -1))
        return tuple(part.transpose(1, 2) for part in parts.unbind(-3))


def masked_softmax(logits: Tensor, mask: Tensor | None) -> Tensor:
    """Softmax over keys where the mask is True; a query that may attend to nothing gives zeros."""
    if mask is None:
        return torch.softmax(logits, dim=-1)
    logits = logits.masked_fill(~mask, -math.inf)
    nothing = ~mask.any(-1, keepdim=True)
    return torch.softmax(logits.masked_fill(nothing, 0.0), dim=-1).masked_fill(nothing, 0.0)


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward, each with residual and layer norm; ``(N, L, d) -> (N, L, d)``."""

    blocks = 2

    def __init__(
        self,
        dim: int,
        heads: int,
        feedforward: int,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        *,
        attention: type[MultiheadAttention] = MultiheadAttention,
        norm_first: bool = False,
    ) -> None:
        super().__init__()
        self.dropout, self.norm_first = dropout, norm_first
        self.self_attn = attention(dim, heads, attention_dropout)
        self.linear1, self.linear2 = nn.Linear(dim, feedforward), nn.Linear(feedforward, dim)
        for linear in (self.linear1, self.linear2):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(self.blocks))

    def forward(self, src: Tensor, src_mask: None = None, src_key_padding_mask: Tensor | None = None) -> Tensor:
        x = self._residual(src, 0, lambda h: self.self_attn(h, key_padding_mask=src_key_padding_mask)[0])
        return self._residual(x, 1, self._feed_forward)

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(dropout(torch.relu(self.linear1(x)), self.dropout, self.training))

    def _residual(self, x: Tensor, number: int, block: Callable[[Tensor], Tensor]) -> Tensor:
        norm = self.norms[number]
        if self.norm_first:
            return x + dropout(block(norm(x)), self.dropout, self.training)
        return norm(x + dropout(block(x), self.dropout, self.training))


class DecoderLayer(EncoderLayer):
    """An encoder layer that sees no later positions and, between its blocks, attends to a memory ``(N, S, d)``."""

    blocks = 3

    def __init__(
        self, dim: int, heads: int, feedforward: int, dropout: float = 0.0, attention_dropout: float = 0.0, **kinds: Any
    ) -> None:
        super().__init__(dim, heads, feedforward, dropout, attention_dropout, **kinds)
        self.cross_attn: MultiheadAttention = type(self.self_attn)(dim, heads, attention_dropout)

    def forward(  # type: ignore[override]
        self,
        tgt: Tensor,
        memory: Tensor,
        *,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        cache: tuple[KVCache, KVCache] | None = None,
    ) -> Tensor:
        own, cross = (None, None) if cache is None else cache

        def look_up(h: Tensor) -> Tensor:
            return self.cross_attn(h, memory, key_padding_mask=memory_key_padding_mask, cache=cross)[0]

        x = self._residual(tgt, 0, lambda h: self.self_attn(h, is_causal=tgt_is_causal, cache=own)[0])
        x = self._residual(x, 1, look_up)
        return self._residual(x, 2, self._feed_forward)


class LayerCaches(DecodingCache):
    """Keys and values of every decoder layer; those of the memory are kept once a sentence, not once a copy."""

    def __init__(self, memory: Memory, copies: int, layers: int) -> None:
        super().__init__(memory, copies)
        self.layers = [(KVCache(), KVCache()) for _ in range(layers)]

    def reorder(self, rows: Tensor) -> None:
        sentences = rows[:: self.copies] // self.copies
        for own, _ in self.layers:
            own.reorder(rows)
        if len(sentences) == len(self.memory.states) and bool((sentences.diff() == 1).all()):
            return  # all sentences are still there, in their order
        self.memory = Memory(self.memory.states[sentences], self.memory.padding[sentences])
        for _, cross in self.layers:
            cross.reorder(sentences)


class TransformerTranslator(TranslatorBase):
    """Encoder and decoder layers with the call signatures of :mod:`hybonet.nn.transformer`.

    A subclass builds ``encoder_layers`` and ``decoder_layers`` and says how tokens become states. Their attention
    blocks are called ``self_attn`` and ``cross_attn`` and give weights when asked with ``need_weights``.
    """

    encoder_layers: nn.ModuleList
    decoder_layers: nn.ModuleList
    #: A last map after all layers.
    encoder_norm: nn.Module
    decoder_norm: nn.Module

    @abstractmethod
    def embed_source(self, tokens: Tensor) -> Tensor:
        """States of source tokens with their positions, ``(B, S) -> (B, S, d)``."""

    @abstractmethod
    def embed_target(self, tokens: Tensor, offset: int = 0) -> Tensor:
        """States of target tokens, ``(B, T) -> (B, T, d)``; the first is at position ``offset``."""

    def layer_states(self, source: Tensor) -> list[Tensor]:
        padding = source == self.padding
        states = [self.embed_source(source)]
        for layer in self.encoder_layers:
            states.append(layer(states[-1], None, padding))
        states[-1] = self.encoder_norm(states[-1])
        return states

    def decode(self, target_in: Tensor, memory: Memory) -> Tensor:
        x = self.embed_target(target_in)
        for layer in self.decoder_layers:
            # Padding follows the sentence, so that what a token may see holds none: causality is mask enough.
            x = layer(x, memory.states, memory_key_padding_mask=memory.padding, tgt_is_causal=True)
        return self.decoder_norm(x)

    def start(self, memory: Memory, copies: int = 1) -> LayerCaches:
        return LayerCaches(memory, copies, len(self.decoder_layers))

    def step(self, tokens: Tensor, cache: LayerCaches) -> Tensor:
        x = self.embed_target(tokens[:, None], cache.position)
        for layer, own in zip(self.decoder_layers, cache.layers, strict=True):
            # Not layer(...): a compiled call would be built anew for every length of the cache.
            x = layer.forward(x, cache.memory.states, memory_key_padding_mask=cache.memory.padding, cache=own)
        cache.position += 1
        return self.logits(self.decoder_norm(x)[:, 0])

    def repeated_layers(self) -> Iterator[nn.Module]:
        yield from self.encoder_layers
        yield from self.decoder_layers

    @torch.no_grad()
    def attention_maps(self, source: Tensor, target_in: Tensor) -> AttentionMaps:
        encoder = [layer.get_submodule("self_attn") for layer in self.encoder_layers]
        decoder = [layer.get_submodule("self_attn") for layer in self.decoder_layers]
        cross = [layer.get_submodule("cross_attn") for layer in self.decoder_layers]
        with recorded_weights([*encoder, *decoder, *cross]) as weights:
            self.decode(target_in, self.encode(source))
        return AttentionMaps(*([weights[block] for block in blocks] for blocks in (encoder, decoder, cross)))
