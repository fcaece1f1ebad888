"""What translation models made of Transformer layers have in common, whatever their geometry."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from hybonet.nn import KVCache
from hybonet.tasks.translation.models.translation_model import (
    AttentionMaps,
    DecodingCache,
    Memory,
    TranslatorBase,
    recorded_weights,
)


class LayerCaches(DecodingCache):
    """Keys and values of every decoder layer; those of the memory are kept once a sentence, not once a copy."""

    def __init__(self, memory: Memory, copies: int, layers: int) -> None:
        self.memory, self.copies, self.position = memory, copies, 0
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
