"""Training pairs whose sentences are cut in another way for every epoch (subword regularisation, Kudo 2018)."""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from random import Random

from hybonet.data.text.sentence_pieces import SentencePieces
from hybonet.data.text.token_pairs import Sequences, TokenPairs

#: How sentencepiece writes the space before a word.
_SPACE = "▁"
#: Of so many words the ways are kept: some kilobytes each, and most of a text are the same few.
_WORDS = 1 << 14
#: For a place in a word: shares of the pieces that end there, added up; where they start, and their numbers.
_Place = tuple[list[float], list[tuple[int, int]]]


class SubwordSampling:
    """Draws how each sentence of some pairs is cut.

    Tokens that the pieces do not know stay as they are, and so does a sentence that would become longer than
    ``max_length``. Sentencepiece can draw, too, but its random numbers differ from process to process whatever the
    seed, so that a stopped training would not go on as it was.

    Args:
        power: a way is drawn with its probability to this power; the lower, the more pieces.
    """

    def __init__(
        self, pairs: TokenPairs, source: SentencePieces, target: SentencePieces, *, power: float, max_length: int
    ) -> None:
        self.max_length = max_length
        self._sides = [
            (WaysToCut(pieces, power), sequences)
            for pieces, sequences in ((source, pairs.source), (target, pairs.target))
        ]

    def draw(self, seed: int) -> TokenPairs:
        """The pairs, cut in ways that follow from the seed."""
        randoms = (Random(f"{side} of {seed}").random for side in ("source", "target"))
        return TokenPairs(*(self._drawn(*side, random) for side, random in zip(self._sides, randoms, strict=True)))

    def _drawn(self, ways: WaysToCut, usual: Sequences, random: Callable[[], float]) -> Sequences:

        def cut(row: int) -> list[int]:
            numbers = usual[row].tolist()
            drawn = ways.draw(numbers, random)
            return numbers if len(drawn) > self.max_length else drawn

        return Sequences.pack(cut(row) for row in range(len(usual)))


class WaysToCut:
    """All ways to cut words into pieces, one of which is drawn with its probability to a power.

    No piece reaches over the space between two words, so that words are cut one by one: by sums over the ways up to
    each of their characters, and a walk back from the last.
    """

    def __init__(self, pieces: SentencePieces, power: float) -> None:
        self._pieces = {number: piece for number, (piece, _) in pieces.scores().items()}
        self._scores = {piece: (number, power * score) for number, (piece, score) in pieces.scores().items()}
        self._longest = max(map(len, self._scores))
        self._places = lru_cache(_WORDS)(self._places_of)

    def draw(self, numbers: list[int], random: Callable[[], float]) -> list[int]:
        """A sentence cut in another way; ``random`` gives numbers from 0 to 1."""
        found: list[int] = []
        word = ""
        for number in numbers:
            piece = self._pieces.get(number)
            if word and (piece is None or piece.startswith(_SPACE)):
                found += self._cut(word, random)
                word = ""
            if piece is None:
                found.append(number)
            else:
                word += piece
        return found + self._cut(word, random)

    def _cut(self, word: str, random: Callable[[], float]) -> list[int]:
        places, end, found = self._places(word), len(word), []
        while end:
            shares, choices = places[end]
            end, number = choices[bisect(shares, random())]
            found.append(number)
        return found[::-1]

    def _places_of(self, word: str) -> list[_Place]:
        totals = [0.0]  # log of the sum over all ways up to a place
        places: list[_Place] = [([], [])]
        for end in range(1, len(word) + 1):
            choices, logs = [], []
            for start in range(max(0, end - self._longest), end):
                if word[start:end] in self._scores:
                    number, score = self._scores[word[start:end]]
                    choices.append((start, number))
                    logs.append(totals[start] + score)
            largest = max(logs)  # there is one: every character of a piece is a piece, too
            sums = list(accumulate(math.exp(log - largest) for log in logs))
            totals.append(largest + math.log(sums[-1]))
            places.append(([each / sums[-1] for each in sums], choices))
        return places
