"""What cuts a sentence into numbered tokens and puts it together again, and how it is kept in a folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from hybonet.data.text.token_vocabulary import SPECIAL, TokenVocabulary

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
    """Tokens separated by spaces: text that something else has cut already.

    Example:
        >>> words = Words.from_text(["the dog sleeps", "the cat"])
        >>> words.encode("the dog flies")
        [4, 6, 1]
        >>> words.decode([4, 6, 3])
        'the dog'
    """

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
        content = json.loads(tokens.read_text(encoding="utf-8"))
        vocabulary = TokenVocabulary(content["tokens"])
        return (
            BytePairs(vocabulary, [tuple(pair) for pair in content["merges"]])
            if "merges" in content
            else Words(vocabulary)
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{tokens}: expected tokens as JSON, but {error}; restore the file or train again") from None


def train_tokenizer(
    kind: TokenizerKind, lines: Sequence[str], size: int, *, merges: Sequence[tuple[str, str]] | None = None
) -> Tokenizer:
    """A tokenizer for a text.

    Args:
        kind: ``unigram`` and ``bpe`` learn pieces of words with sentencepiece; ``words`` takes what spaces separate;
            ``subword-nmt`` applies merges that were learned before.

    Example:
        >>> len(train_tokenizer("words", ["the dog sleeps"], 100))
        7
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
    return SentencePieces.train(lines, size, kind)
