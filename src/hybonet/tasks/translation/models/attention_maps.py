"""Attention weights of a model's blocks, recorded while it runs as usual."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn


@contextmanager
def recorded_weights(blocks: Iterable[nn.Module]) -> Iterator[dict[nn.Module, Tensor]]:
    """While inside, every call of a block asks it for its weights, head by head; they are in the dictionary afterwards.

    Blocks are called as ``nn.MultiheadAttention`` is: ``need_weights``, ``average_attn_weights``, and a pair as answer.

    Example:
        >>> from hybonet.nn import LorentzMultiheadAttention
        >>> attention = LorentzMultiheadAttention(8, 2)
        >>> with recorded_weights([attention]) as weights:
        ...     _ = attention(attention.manifold.random_normal(1, 3, 8))
        >>> weights[attention].shape
        torch.Size([1, 2, 3, 3])
    """
    weights: dict[nn.Module, Tensor] = {}

    def ask(block: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return given, {**named, "need_weights": True, "average_attn_weights": False}

    def keep(block: nn.Module, given: tuple[Any, ...], answer: tuple[Tensor, Tensor]) -> None:
        weights[block] = answer[1]

    handles = []
    for block in blocks:
        handles += [block.register_forward_pre_hook(ask, with_kwargs=True), block.register_forward_hook(keep)]
    try:
        with torch.compiler.set_stance("force_eager"):  # a compiled caller knows nothing of hooks
            yield weights
    finally:
        for handle in handles:
            handle.remove()
