"""Training pairs whose sentences are cut in another way for every epoch (subword regularisation, Kudo 2018)."""

from __future__ import annotations

from hybonet.data.sentence_pieces import SentencePieces
from hybonet.data.token_pairs import Sequences, TokenPairs


class SubwordSampling:
    """Draws how each sentence of some pairs is cut.

    A sentence that its tokens do not give back, because of a character that the pieces do not know, stays as it is cut,
    and so does one that would become longer than ``max_length``.

    Args:
        pairs: the sentences, cut in the likeliest way.
        source, target: what cuts them.
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
        self.power, self.max_length = power, max_length
        self._sides = [
            (pieces, sequences, _texts(pieces, sequences))
            for pieces, sequences in ((source, pairs.source), (target, pairs.target))
        ]

    def draw(self, seed: int) -> TokenPairs:
        """The pairs, cut in ways that follow from the seed."""
        return TokenPairs(*(self._drawn(*side, seed + number) for number, side in enumerate(self._sides)))

    def _drawn(self, pieces: SentencePieces, usual: Sequences, texts: list[str | None], seed: int) -> Sequences:
        drawn = pieces.draw([text or "" for text in texts], self.power, seed)
        return Sequences.pack(
            usual[row].tolist() if texts[row] is None or len(numbers) > self.max_length else numbers
            for row, numbers in enumerate(drawn)
        )


def _texts(pieces: SentencePieces, sequences: Sequences) -> list[str | None]:
    """Each sentence, or None if its tokens do not give it back."""
    texts: list[str | None] = []
    for row in range(len(sequences)):
        numbers = sequences[row].tolist()
        text = pieces.decode(numbers)
        texts.append(text if pieces.encode(text) == numbers else None)
    return texts
