"""Batches of about equally many tokens, of sentences of about equal length."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import torch
from torch import Tensor

from hybonet.data.text.token_pairs import TokenPairs
from hybonet.data.text.token_vocabulary import PAD


@dataclass(frozen=True)
class TextBatch:
    """Sentences ``(B, S)`` with end, and their translations with begin and with end ``(B, T)`` each.

    ``tokens`` counts the translations' tokens here. Where several processes share a batch, ``share`` is how much this
    one's mean loss weighs so that the mean over processes is the mean over tokens; it is 0 for a process whose part is
    empty and who computes with a sentence for company.
    """

    source: Tensor
    target_in: Tensor
    target_out: Tensor
    tokens: int
    share: float = 1.0

    def to(self, device: str | torch.device) -> TextBatch:
        """The same on a device."""
        source, target_in, target_out = (each.to(device) for each in (self.source, self.target_in, self.target_out))
        return TextBatch(source, target_in, target_out, self.tokens, self.share)


class TokenBatches:
    """A split cut into batches of at most ``tokens`` tokens on either side, padding included.

    Sentences are sorted by the longer side. Where one batch ends and the next begins follows from the lengths alone, so
    that every epoch has equally many batches; which of the equally long sentences are in a batch, and the order of
    batches, are random.

    Args:
        pairs: the split.
        tokens: sentences of a batch times the longest of them, at most.

    Example:
        >>> from hybonet.data.text.token_pairs import Sequences
        >>> pairs = TokenPairs(Sequences.pack([[5], [5, 6], [7]]), Sequences.pack([[8], [8], [9]]))
        >>> batches = TokenBatches(pairs, tokens=4)
        >>> [rows.tolist() for rows in batches.in_order()]
        [[0, 2], [1]]
    """

    def __init__(self, pairs: TokenPairs, tokens: int) -> None:
        self.pairs = pairs
        self.lengths = torch.maximum(pairs.source.lengths, pairs.target.lengths) + 1  # the end is a token, too
        self._sizes: list[int] = []
        size = 0
        for length in self.lengths.sort().values.tolist():
            if length > tokens:
                raise ValueError(
                    f"expected batches that hold the longest sentence ({length} tokens with its end), got "
                    f"batch_tokens={tokens}; set batch_tokens higher or max_length lower"
                )
            if (size + 1) * length > tokens:
                self._sizes.append(size)
                size = 0
            size += 1
        self._sizes += [size] if size else []

    def recut(self, pairs: TokenPairs) -> TokenBatches:
        """The same batches of the same sentences, cut in other ways; they may have more tokens then."""
        other = copy(self)
        other.pairs = pairs
        return other

    def __len__(self) -> int:
        return len(self._sizes)

    def in_order(self) -> list[Tensor]:
        """Rows of every batch, short sentences first."""
        return list(self.lengths.argsort(stable=True).split(self._sizes))

    def shuffled(self, generator: torch.Generator) -> list[Tensor]:
        """Rows of every batch in random order, with chance among equally long sentences."""
        mixed = torch.randperm(len(self.lengths), generator=generator)
        batches = mixed[self.lengths[mixed].argsort(stable=True)].split(self._sizes)
        return [batches[number] for number in torch.randperm(len(self), generator=generator).tolist()]

    def batch(self, rows: Tensor, rank: int = 0, world: int = 1) -> TextBatch:
        """The batch of some rows, or the part of it that process ``rank`` of ``world`` has."""
        counts = self.pairs.target.lengths[rows] + 1
        tokens = int(counts[rank::world].sum())
        own = rows[rank::world].tolist() or rows[:1].tolist()
        target_in = self.pairs.target.padded(own, begin=True)
        target_out = self.pairs.target.padded(own, end=True)
        assert bool(((target_in == PAD) == (target_out == PAD)).all())
        share = tokens * world / int(counts.sum())
        return TextBatch(self.pairs.source.padded(own, end=True), target_in, target_out, tokens, share)
