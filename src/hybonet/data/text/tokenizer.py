"""What cuts a sentence into numbered tokens and puts it together again, and how it is kept in a folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from hybonet.files import parse_json

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
        """The most frequent tokens of sentences, at most ``size`` with the special ones."""
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
        return [self._numbers.get(token, UNK) for token in tokens]

    def tokens(self, numbers: Iterable[int]) -> list[str]:
        return [self._tokens[number] for number in numbers]


TokenizerKind = Literal["unigram", "bpe", "words", "subword-nmt"]
#: Endings of a tokenizer's file: of a sentencepiece model, and of tokens (and merges) as JSON.
PIECES, TOKENS = ".spm", ".tokens.json"


class Tokenizer(Protocol):
    """Sentences to numbers and back; no special token is added, and :meth:`decode` leaves them out."""

    def __len__(self) -> int:
        """How many tokens there are, special ones included."""

    def encode(self, text: str) -> list[int]:
        """Numbers of a sentence's tokens."""

    def decode(self, numbers: Iterable[int]) -> str:
        """The sentence of numbers."""

    def tokens(self, numbers: Iterable[int]) -> list[str]:
        """The tokens of numbers one by one, special ones included, as pictures show them."""

    def write(self, folder: Path, name: str) -> None:
        """Keep it in a folder under a name; :func:`read_tokenizer` reads it."""


class Words:
    """Tokens separated by spaces: text that something else has cut already."""

    def __init__(self, vocabulary: TokenVocabulary) -> None:
        self.vocabulary = vocabulary

    @classmethod
    def from_text(cls, lines: Iterable[str], size: int | None = None) -> Words:
        """With the most frequent tokens of a text, at most ``size``."""
        return cls(TokenVocabulary.from_counts((line.split() for line in lines), size))

    def __len__(self) -> int:
        return len(self.vocabulary)

    def encode(self, text: str) -> list[int]:
        return self.vocabulary.numbers(text.split())

    def decode(self, numbers: Iterable[int]) -> str:
        return " ".join(token for token in self.vocabulary.tokens(numbers) if token not in _INVISIBLE)

    def tokens(self, numbers: Iterable[int]) -> list[str]:
        return self.vocabulary.tokens(numbers)

    def write(self, folder: Path, name: str) -> None:
        write_tokens(folder / f"{name}{TOKENS}", tokens=self.vocabulary.ordinary)


#: Special tokens that a sentence does not show; an unknown word it does.
_INVISIBLE = frozenset(SPECIAL) - {"<unk>"}


def write_tokens(path: Path, **content: Sequence[Any]) -> None:
    """Tokens, and what else a tokenizer is made of, as JSON."""
    path.write_text(json.dumps(content, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


def read_tokenizer(folder: Path, name: str) -> Tokenizer:
    """A tokenizer that :meth:`Tokenizer.write` has kept."""
    from hybonet.data.text.byte_pairs import BytePairs
    from hybonet.data.text.sentence_pieces import SentencePieces

    pieces, tokens = folder / f"{name}{PIECES}", folder / f"{name}{TOKENS}"
    if pieces.is_file():
        return SentencePieces(pieces.read_bytes(), str(pieces))
    if not tokens.is_file():
        raise ValueError(f"expected {pieces.name} or {tokens.name} in {str(folder)!r}, found neither; restore the file")
    try:
        content = parse_json(tokens.read_text(encoding="utf-8"))
        vocabulary = TokenVocabulary(content["tokens"])
        return (
            BytePairs(vocabulary, [tuple(pair) for pair in content["merges"]])
            if "merges" in content
            else Words(vocabulary)
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{tokens}: expected tokens as JSON, but {error}; restore the file or train again") from None


def train_tokenizer(
    kind: TokenizerKind, lines: Sequence[str], size: int | None, *, merges: Sequence[tuple[str, str]] | None = None
) -> Tokenizer:
    """A tokenizer for a text.

    Args:
        kind: ``unigram`` and ``bpe`` learn pieces of words with sentencepiece; ``words`` takes what spaces separate;
            ``subword-nmt`` applies merges that were learned before.
        size: tokens at most; None: as :func:`vocabulary_for` has it, of words and merges all.
    """
    from hybonet.data.text.byte_pairs import BytePairs
    from hybonet.data.text.sentence_pieces import SentencePieces

    if kind == "words":
        return Words.from_text(lines, size)
    if kind == "subword-nmt":
        if not merges:
            raise ValueError(
                "expected merges for tokenizer=subword-nmt, got none; give a file of codes, or use tokenizer=bpe"
            )
        return BytePairs.from_text(lines, merges, size)
    return SentencePieces.train(lines, size or vocabulary_for(lines), kind)


def vocabulary_for(lines: Iterable[str]) -> int:
    """How many pieces of words suit a text: some hundred for hundreds of sentences, thousands for ten thousands.

    Example:
        >>> vocabulary_for(["the dog sees two birds"] * 30_000)
        2437
    """
    counts = Counter(character for line in lines for character in line)
    return min(32_000, max(round(3 * counts.total() ** 0.5), 2 * len(counts) + len(SPECIAL)))
