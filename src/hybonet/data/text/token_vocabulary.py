"""Tokens and their numbers, the four special ones first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

PAD, UNK, BOS, EOS = 0, 1, 2, 3
#: How the special tokens are written in files, in the order of their numbers.
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")


class TokenVocabulary:
    """Tokens by number; what is not among them is :data:`UNK`, and so is a special token that stands in a text.

    Args:
        tokens: the ordinary tokens, without the special ones; their numbers begin after those.

    Example:
        >>> vocabulary = TokenVocabulary(["the", "dog"])
        >>> vocabulary.numbers(["the", "cat"]), vocabulary.tokens([4, 5, EOS])
        ([4, 1], ['the', 'dog', '</s>'])
    """

    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = (*SPECIAL, *tokens)
        self._numbers = {token: number for number, token in enumerate(self._tokens)}
        if len(self._numbers) < len(self._tokens):
            twice = next(token for token, count in Counter(self._tokens).items() if count > 1)
            raise ValueError(f"expected every token once, got {twice!r} twice; leave one out")
        for token in SPECIAL:
            self._numbers[token] = UNK  # a word like any other unknown one, not the end of a sentence or padding

    @classmethod
    def from_counts(cls, sentences: Iterable[Sequence[str]], size: int | None = None) -> TokenVocabulary:
        """The most frequent tokens of sentences, at most ``size`` with the special ones.

        Example:
            >>> TokenVocabulary.from_counts([["a", "b", "a"], ["c", "b"]], size=6).tokens([4, 5])
            ['a', 'b']
        """
        counts = Counter(token for sentence in sentences for token in sentence if token not in SPECIAL)
        # Equal counts in the order of the alphabet: the same text gives the same numbers.
        ranked = sorted(counts, key=lambda token: (-counts[token], token))
        return cls(ranked if size is None else ranked[: max(0, size - len(SPECIAL))])

    def __len__(self) -> int:
        return len(self._tokens)

    def __contains__(self, token: str) -> bool:
        return token in self._numbers

    @property
    def ordinary(self) -> tuple[str, ...]:
        """All tokens but the special ones, by number."""
        return self._tokens[len(SPECIAL) :]

    def numbers(self, tokens: Iterable[str]) -> list[int]:
        """Numbers of tokens."""
        return [self._numbers.get(token, UNK) for token in tokens]

    def tokens(self, numbers: Iterable[int]) -> list[str]:
        """Tokens of numbers."""
        return [self._tokens[number] for number in numbers]
