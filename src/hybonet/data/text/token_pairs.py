"""Sentence pairs as numbers, kept as one long row of tokens for each side, and batches of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from hybonet.data.text.parallel_text import ParallelText
from hybonet.data.text.tokenizer import BOS, EOS, PAD, SPECIAL, UNK, Tokenizer, Words


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
    share: float

    def to(self, device: str | torch.device) -> TextBatch:
        source, target_in, target_out = (each.to(device) for each in (self.source, self.target_in, self.target_out))
        return TextBatch(source, target_in, target_out, self.tokens, self.share)


class TokenBatches:
    """A split cut into batches of at most ``tokens`` tokens on either side, padding included.

    Sentences are sorted by the longer side. Where one batch ends and the next begins follows from the lengths alone, so
    that every epoch has equally many batches; which of the equally long sentences are in a batch, and the order of
    batches, are random.
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


#: What would steer a model if it were read from a text.
_CONTROL = frozenset(SPECIAL) - {SPECIAL[UNK]}


@dataclass(frozen=True)
class Sequences:
    """Sequences of numbers one behind the other: ``values (total,)``, ``starts (n + 1,)``.

    Example:
        >>> sequences = Sequences.pack([[5, 6], [7]])
        >>> sequences.lengths.tolist(), sequences[1].tolist()
        ([2, 1], [7])
    """

    values: Tensor
    starts: Tensor

    @classmethod
    def pack(cls, sequences: Iterable[Sequence[int]]) -> Sequences:
        rows = list(sequences)
        lengths = torch.tensor([0, *map(len, rows)])
        values = torch.tensor([number for row in rows for number in row], dtype=torch.int32)
        return cls(values, lengths.cumsum(0))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> Tensor:
        return self.values[int(self.starts[row]) : int(self.starts[row + 1])].long()

    @property
    def lengths(self) -> Tensor:
        return self.starts.diff()

    def padded(self, rows: Iterable[int], *, begin: bool = False, end: bool = False) -> Tensor:
        """Some of them side by side ``(rows, longest)``, with the tokens of begin and end if asked for."""
        before, after = torch.tensor([BOS] * begin, dtype=torch.long), torch.tensor([EOS] * end, dtype=torch.long)
        return pad_sequence([torch.cat((before, self[row], after)) for row in rows], True, PAD)


@dataclass(frozen=True)
class TokenPairs:
    """A split as numbers."""

    source: Sequences
    target: Sequences

    def __len__(self) -> int:
        return len(self.source)

    @property
    def target_tokens(self) -> int:
        """Tokens that a model has to choose, ends of sentences included."""
        return len(self.target.values) + len(self.target)


def encode_splits(
    text: ParallelText, source: Tokenizer, target: Tokenizer, max_length: int
) -> tuple[dict[str, TokenPairs], list[str]]:
    """All splits as numbers, and what was done about long sentences.

    Training pairs with a sentence of more than ``max_length`` tokens are left out; in other splits, where leaving out
    would change what is measured, such sentences are cut. Both are counted in the notes, and so are tokens that a
    vocabulary does not know, and pairs with a special token written out, which vocabularies of words take for one.
    """
    splits, notes = {}, []
    for name, pairs in text.splits.items():
        numbers = [(source.encode(first), target.encode(second)) for first, second in pairs]
        long = [max(map(len, each)) > max_length for each in numbers]
        if any(long) and name == "train":
            notes.append(
                f"{sum(long):,} of {len(pairs):,} pairs of {name} with a sentence of more than {max_length} tokens "
                "left out"
            )
            numbers = [each for each, too_long in zip(numbers, long, strict=True) if not too_long]
        elif any(long):
            notes.append(
                f"{sum(long):,} of {len(pairs):,} pairs of {name} with a sentence of more than {max_length} tokens "
                "cut there for the model"
            )
        if type(target) is Words:  # all others cut them up
            marked = sum(not _CONTROL.isdisjoint((*first.split(), *second.split())) for first, second in pairs)
            if marked:
                notes.append(
                    f"{marked:,} of {len(pairs):,} pairs of {name} with {', '.join(sorted(_CONTROL))} in the text, "
                    "taken for unknown words"
                )
        for language, side in zip(text.languages, zip(*numbers, strict=True), strict=False):
            unknown, tokens = sum(each.count(UNK) for each in side), sum(map(len, side))
            if unknown:
                notes.append(
                    f"{unknown:,} of {tokens:,} {language} tokens of {name} ({unknown / tokens:.1%}) are not in the "
                    "vocabulary and taken for one unknown word"
                )
        cut = [(first[:max_length], second[:max_length]) for first, second in numbers]
        splits[name] = TokenPairs(
            Sequences.pack(first for first, _ in cut), Sequences.pack(second for _, second in cut)
        )
    return splits, notes
