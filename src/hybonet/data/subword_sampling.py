"""Training pairs whose sentences are cut in another way for every epoch (subword regularisation, Kudo 2018)."""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Callable
from random import Random

from hybonet.data.sentence_pieces import SentencePieces
from hybonet.data.token_pairs import Sequences, TokenPairs

#: How sentencepiece writes the space before a word.
_SPACE = "▁"


class SubwordSampling:
    """Draws how each sentence of some pairs is cut.

    Tokens that the pieces do not know stay as they are, and so does a sentence that would become longer than
    ``max_length``. Sentencepiece can draw, too, but its random numbers differ from process to process whatever the
    seed, so that a stopped training would not go on as it was.

    Args:
        pairs: the sentences, cut in the likeliest way.
        source, target: what has cut them.
        power: a way is drawn with its probability to this power; the lower, the more pieces.
        max_length: tokens of a sentence at most.

    Example:
        >>> pieces = SentencePieces.train(["the dog sleeps", "the cat sleeps", "a dog and a cat"] * 9, 40, "unigram")
        >>> usual = Sequences.pack([pieces.encode("the cat and the dog")])
        >>> drawn = SubwordSampling(TokenPairs(usual, usual), pieces, pieces, power=0.1, max_length=50).draw(seed=1)
        >>> pieces.decode(drawn.source[0].tolist()), len(drawn.source[0]) > len(usual[0])
        ('the cat and the dog', True)
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
        return TokenPairs(*(self._drawn(*side, seed + number) for number, side in enumerate(self._sides)))

    def _drawn(self, ways: WaysToCut, usual: Sequences, seed: int) -> Sequences:
        random = Random(seed).random

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
        #: For each word and each place in it: shares of the pieces that end there, added up; their starts and numbers.
        self._known: dict[str, list[tuple[list[float], list[tuple[int, int]]]]] = {}

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
        if word not in self._known:
            self._known[word] = self._places(word)
        places, end, found = self._known[word], len(word), []
        while end:
            shares, choices = places[end]
            end, number = choices[bisect(shares, random())]
            found.append(number)
        return found[::-1]

    def _places(self, word: str) -> list[tuple[list[float], list[tuple[int, int]]]]:
        totals = [0.0]  # log of the sum over all ways up to a place
        places: list[tuple[list[float], list[tuple[int, int]]]] = [([], [])]
        for end in range(1, len(word) + 1):
            choices, logs = [], []
            for start in range(max(0, end - self._longest), end):
                number, score = self._scores.get(word[start:end], (None, 0.0))
                if number is not None and totals[start] > -math.inf:
                    choices.append((start, number))
                    logs.append(totals[start] + score)
            largest = max(logs, default=-math.inf)
            weights = [math.exp(log - largest) for log in logs]
            total = sum(weights)
            totals.append(largest + math.log(total) if weights else -math.inf)
            shares = [sum(weights[: count + 1]) / total for count in range(len(weights))]
            places.append(([*shares[:-1], 1.0] if shares else [], choices))
        return places
