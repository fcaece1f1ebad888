"""Byte-pair merges in the format of subword-nmt, applied to text that is cut into words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from hybonet.data.io.source_file import SourceFile
from hybonet.data.io.text_table import decode as decode_text
from hybonet.data.text.tokenizer import TOKENS, TokenVocabulary, Words, write_tokens

#: Stands after a piece that its word goes on after, and at the end of a word while pieces are merged.
JOINER, _END = "@@", "</w>"
_WORDS_REMEMBERED = 1 << 17


class BytePairs(Words):
    """Words cut by merges; pieces inside a word end in ``@@``.

    Args:
        merges: pairs of symbols to join, the most important first; the end of a word is part of its last symbol.

    Example:
        >>> merges = [("l", "o"), ("lo", "w</w>"), ("n", "e")]
        >>> pairs = BytePairs.from_text(["low new"], merges)
        >>> pairs.tokens(pairs.encode("low new"))
        ['low', 'ne@@', 'w']
        >>> pairs.decode(pairs.encode("new low"))
        'new low'
    """

    def __init__(self, vocabulary: TokenVocabulary, merges: Sequence[tuple[str, str]]) -> None:
        super().__init__(vocabulary)
        self.merges = list(merges)
        ranks = {pair: rank for rank, pair in reversed(list(enumerate(self.merges)))}
        self._cut = lru_cache(_WORDS_REMEMBERED)(lambda word: cut_word(word, ranks))

    @classmethod
    def from_text(  # type: ignore[override]
        cls, lines: Iterable[str], merges: Sequence[tuple[str, str]], size: int | None = None
    ) -> BytePairs:
        """With the most frequent pieces of a text, at most ``size``."""
        cutter = cls(TokenVocabulary(()), merges)
        return cls(TokenVocabulary.from_counts((cutter.pieces(line) for line in lines), size), merges)

    def pieces(self, text: str) -> list[str]:
        """A sentence's pieces, known ones or not."""
        return [piece for word in text.split() for piece in self._cut(word)]

    def encode(self, text: str) -> list[int]:
        return self.vocabulary.numbers(self.pieces(text))

    def decode(self, numbers: Iterable[int]) -> str:
        return (super().decode(numbers) + " ").replace(f"{JOINER} ", "").strip()

    def write(self, folder: Path, name: str) -> None:
        write_tokens(folder / f"{name}{TOKENS}", tokens=self.vocabulary.ordinary, merges=self.merges)


def cut_word(word: str, ranks: dict[tuple[str, str], int]) -> tuple[str, ...]:
    """The pieces of a word: neighbours are joined, those of the first merge of the list first.

    Example:
        >>> cut_word("lower", {("l", "o"): 0, ("e", "r</w>"): 1, ("lo", "w"): 2})
        ('low@@', 'er')
    """
    symbols = [*word[:-1], word[-1] + _END]
    while len(symbols) > 1:
        best = min(pairwise(symbols), key=lambda pair: ranks.get(pair, len(ranks)))
        if best not in ranks:
            break
        joined: list[str] = []
        place = 0
        while place < len(symbols):
            if tuple(symbols[place : place + 2]) == best:
                joined.append("".join(best))
                place += 2
            else:
                joined.append(symbols[place])
                place += 1
        symbols = joined
    return (*(symbol + JOINER for symbol in symbols[:-1]), symbols[-1].removesuffix(_END))


def read_codes(file: SourceFile) -> list[tuple[str, str]]:
    """The merges of a file that subword-nmt's ``learn-bpe`` has written."""
    merges = []
    for number, line in enumerate(decode_text(file.content, file.source).rstrip("\n").split("\n"), 1):
        if number == 1 and line.startswith("#version"):
            continue
        symbols = line.rstrip("\r").split(" ")
        if len(symbols) != 2:
            raise ValueError(
                f"{file.source}, line {number}: expected two symbols per line, got {line!r:.60}; give a file that "
                "subword-nmt learn-bpe wrote"
            )
        merges.append((symbols[0], symbols[1]))
    return merges
