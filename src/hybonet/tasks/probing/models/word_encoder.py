"""Encoders as a probe sees them: sentences in, the states of their words out, for every layer.

An encoder works on pieces of words; the state of a word is the mean of the states of its pieces, or their Lorentz
centroid where states are points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from hybonet.geometry import Lorentz, to_sheet


class Sentence(Protocol):
    """Words, and the text they were written as."""

    @property
    def words(self) -> tuple[str, ...]: ...

    @property
    def text(self) -> str: ...


class WordEncoder(Protocol):
    """Anything that gives words states; frozen, and the same each time it is asked."""

    #: What titles call it.
    name: str
    #: The manifold that states are points of; None: they are Euclidean vectors.
    manifold: Lorentz | None

    def fits(self, sentence: Sentence) -> bool:
        """Whether a sentence is short enough."""

    def states(self, sentences: Sequence[Sentence], only: Sequence[int] | None = None) -> Tensor:
        """States of all words in order, from these layers or from all; ``-> (words, layers, d)``."""

    def describe(self) -> dict[str, Any]:
        """What the run record says of it."""


@dataclass(frozen=True)
class Pieces:
    """A sentence in pieces: their numbers, and for each word the places of the pieces that it lies in."""

    tokens: list[int]
    of_words: list[list[int]]


Tokenize = Callable[[Sentence], Pieces]
#: Padded piece numbers (sentences, n) to the states of every layer, (sentences, n, d) each.
Layers = Callable[[Tensor], Sequence[Tensor]]


class ModuleEncoder:
    """Any PyTorch function from piece numbers to vectors as an encoder.

    Args:
        layers: from padded numbers ``(sentences, n)`` to a list of states ``(sentences, n, d)``, one for each layer.
            The padding must not change the states of other pieces.
        tokenize: from a sentence to its pieces; see :func:`by_text` and :func:`word_by_word`.
        longest: pieces that a sentence may have at most; None: any number.

    Example:
        >>> from types import SimpleNamespace
        >>> table = torch.nn.Embedding.from_pretrained(torch.eye(4))
        >>> encoder = ModuleEncoder(lambda tokens: [table(tokens)], word_by_word(lambda word: [len(word), 0]))
        >>> encoder.states([SimpleNamespace(words=("a", "bc", "de"), text="a bc de")])[:, 0].tolist()
        [[0.5, 0.5, 0.0, 0.0], [0.5, 0.0, 0.5, 0.0], [0.5, 0.0, 0.5, 0.0]]
    """

    def __init__(
        self,
        layers: Layers,
        tokenize: Tokenize,
        *,
        manifold: Lorentz | None = None,
        padding: int = 0,
        name: str = "a module",
        about: dict[str, Any] | None = None,
        sentences_at_once: int = 32,
        longest: int | None = None,
    ) -> None:
        self.layers, self.tokenize, self.manifold = layers, tokenize, manifold
        self.padding, self.name, self.about = padding, name, about or {}
        self.sentences_at_once, self.longest = sentences_at_once, longest

    def describe(self) -> dict[str, Any]:
        """Its name, and what it was made with."""
        return {"name": self.name, **self.about}

    def fits(self, sentence: Sentence) -> bool:
        """Whether a sentence is short enough for the encoder."""
        return self.longest is None or len(self.tokenize(sentence).tokens) <= self.longest

    @torch.no_grad()
    def states(self, sentences: Sequence[Sentence], only: Sequence[int] | None = None) -> Tensor:
        """States of all words in order, from these layers or from all; ``-> (words, layers, d)``.

        Layers narrower than the widest of these are filled up with zeros.
        """
        if isinstance(self.layers, nn.Module):
            self.layers.eval()
        pieces = [self.tokenize(sentence) for sentence in sentences]
        # Sentences of about one length go together, for there is little padding then.
        order = sorted(range(len(pieces)), key=lambda number: len(pieces[number].tokens))
        found: list[Tensor] = [torch.empty(0)] * len(pieces)
        for start in range(0, len(order), self.sentences_at_once):
            chosen = order[start : start + self.sentences_at_once]
            for number, states in zip(chosen, self._batch([pieces[number] for number in chosen], only), strict=True):
                found[number] = states
        return torch.cat(found)

    def _batch(self, batch: Sequence[Pieces], only: Sequence[int] | None) -> Sequence[Tensor]:
        longest = max(len(sentence.tokens) for sentence in batch)
        rows = [sentence.tokens + [self.padding] * (longest - len(sentence.tokens)) for sentence in batch]
        layers = self.layers(torch.tensor(rows))
        for number, layer in enumerate(layers):
            if layer.dim() != 3 or layer.shape[:2] != (len(rows), longest):
                raise ValueError(
                    f"expected states of shape ({len(rows)}, {longest}, d) from layer {number} of {self.name}, got "
                    f"{tuple(layer.shape)}; the function takes numbers (sentences, n) to a list of (sentences, n, d)"
                )
        wrong = next((number for number in only or () if not 0 <= number < len(layers)), None)
        if wrong is not None:
            raise ValueError(
                f"expected layers from 0 (the embedding) to {len(layers) - 1} of {self.name}, got {wrong}; choose "
                "others"
            )
        chosen = [layers[number] for number in only or range(len(layers))]
        # Zeros change nothing that a probe reads: products, distances, whether a point is on the hyperboloid.
        widest = max(layer.shape[-1] for layer in chosen)
        states = torch.stack([nn.functional.pad(layer, (0, widest - layer.shape[-1])) for layer in chosen], dim=2)
        return [pool_words(row, sentence.of_words, self.manifold) for row, sentence in zip(states, batch, strict=True)]


def pool_words(states: Tensor, of_words: Sequence[Sequence[int]], manifold: Lorentz | None = None) -> Tensor:
    """States of words from those of their pieces: the mean, or the centroid of points.

    A word without pieces gets the zero vector, or the origin. Shapes: ``(pieces, ..., d) -> (words, ..., d)``.

    Example:
        >>> pool_words(torch.tensor([[1.0], [3.0], [5.0]]), [[0, 1], [2], []]).tolist()
        [[2.0], [5.0], [0.0]]
    """
    weights = torch.zeros(len(of_words), len(states), dtype=states.dtype, device=states.device)
    for word, places in enumerate(of_words):
        weights[word, list(places)] = 1.0 / max(1, len(places))
    mixed = torch.tensordot(weights, states, dims=1)
    return mixed if manifold is None else to_sheet(mixed, K=manifold.K)


def word_by_word(numbers: Callable[[str], list[int]], *, end: int | None = None) -> Tokenize:
    """A tokenizer that takes words one by one; ``end`` is a piece that closes every sentence.

    Example:
        >>> from types import SimpleNamespace
        >>> word_by_word(lambda word: [ord(letter) for letter in word], end=0)(SimpleNamespace(words=("ab", "c")))
        Pieces(tokens=[97, 98, 99, 0], of_words=[[0, 1], [2]])
    """

    def tokenize(sentence: Sentence) -> Pieces:
        tokens: list[int] = []
        of_words: list[list[int]] = []
        for word in sentence.words:
            own = numbers(word)
            of_words.append(list(range(len(tokens), len(tokens) + len(own))))
            tokens += own
        return Pieces(tokens if end is None else [*tokens, end], of_words)

    return tokenize


def by_text(encode: Callable[[str], tuple[list[int], list[str]]], *, end: int | None = None) -> Tokenize:
    """A tokenizer of text as it was written: what stands between two spaces is encoded together.

    A word of a treebank may be part of what is written together (``don't`` is two words); its pieces are those that
    have a letter of it, so a piece may belong to two words. Where the pieces do not spell the text (an unknown letter,
    a normalised one), all pieces between the two spaces belong to all words there.

    Args:
        encode: from text without spaces to the numbers of its pieces and how they are spelt.

    Example:
        >>> from types import SimpleNamespace
        >>> spelt = {"don't": ["d", "on't"], "go": ["<unk>"]}
        >>> tokenize = by_text(lambda text: ([7] * len(spelt[text]), spelt[text]))
        >>> tokenize(SimpleNamespace(words=("do", "n't", "go"), text="don't go")).of_words
        [[0, 1], [1], [2]]
    """

    def tokenize(sentence: Sentence) -> Pieces:
        tokens: list[int] = []
        pieces_of_letter: list[list[int]] = []
        for written in sentence.text.split():
            numbers, spelling = encode(written)
            places = range(len(tokens), len(tokens) + len(numbers))
            if "".join(spelling) == written:
                pieces_of_letter += [[place] for place, piece in zip(places, spelling, strict=True) for _ in piece]
            else:
                pieces_of_letter += [list(places)] * len(written)
            tokens += numbers
        of_words: list[list[int]] = []
        start = 0
        for word in sentence.words:
            letters = len("".join(word.split()))
            of_words.append(sorted({place for each in pieces_of_letter[start : start + letters] for place in each}))
            start += letters
        assert start == len(pieces_of_letter), f"the text {sentence.text!r} is not made of its words"
        return Pieces(tokens if end is None else [*tokens, end], of_words)

    return tokenize
