"""What every model of entity typing has: fixed word vectors, and logits for each type of a mention in its context."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn


class MentionClassifier(nn.Module):
    """Base of the models that tell a mention's types.

    ``forward(mention, context, place)`` takes rows of words, as ``MentionBatch`` has them
    (0 is padding), ``(N, M)``, ``(N, C)``, ``(N, C)``, and gives logits ``(N, types)``.

    Args:
        words: a vector for each word, ``(words, size)``; they stay as they are and are not part of the saved weights.
        dim: coordinates of a mention and of a type.
        dropout: on what the model reads; merge_dropout: on mention and context where they are merged.
        word_radius: the mean length that word vectors are scaled to, all by one factor.
        type_std: spread of the types at the start; None: the model's own.
        lift: from scaled vectors to what the model reads.
    """

    words: Tensor

    def __init__(
        self,
        words: Tensor,
        num_types: int,
        dim: int = 128,
        *,
        context_words: int = 25,
        dropout: float = 0.0,
        merge_dropout: float = 0.1,
        word_radius: float = 1.0,
        type_std: float | None = None,
        lift: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        super().__init__()
        self.num_types, self.dim, self.context_words = num_types, dim, context_words
        self.dropout, self.merge_dropout, self.type_std = dropout, merge_dropout, type_std
        scaled = unit_length_on_average(words, word_radius)
        self.register_buffer("words", scaled if lift is None else lift(scaled).detach(), persistent=False)

    def forward(self, mention: Tensor, context: Tensor, place: Tensor) -> Tensor:
        raise NotImplementedError

    @torch.no_grad()
    def start_bias(self, log_odds: Tensor, mention: Tensor, context: Tensor, place: Tensor) -> None:
        """Let the untrained model's logits be ``log_odds (types,)`` on the average over some mentions."""
        self.eval()
        self.type_bias.add_(log_odds - self(mention, context, place).mean(0))
        self.train()

    @property
    def type_bias(self) -> Tensor:
        """The bias of each type's logit, ``(types,)``."""
        raise NotImplementedError


def unit_length_on_average(vectors: Tensor, length: float = 1.0) -> Tensor:
    """Vectors times one factor, so that their mean length (of those that are not zero) is ``length``."""
    norms = vectors.norm(dim=-1)
    used = norms > 0
    mean = norms[used].mean() if bool(used.any()) else norms.new_ones(())
    return vectors * (length / mean)
