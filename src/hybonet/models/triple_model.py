"""What every scorer of triples has in common: a question made of head and relation, matched with candidate tails."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from hybonet.nn import LorentzEmbedding

#: Scores of all entities are made so many at a time, from the questions of so many triples.
_SCORES, _QUESTIONS = 1 << 20, 256


class TripleModel(nn.Module, ABC):
    """Scores of triples; larger is more plausible.

    A model turns head and relation into a question (:meth:`question`), and compares it with the points of candidate
    tails (:meth:`match`). Everything else follows: scores of single triples, of candidates of their own for every
    question, of one pool of candidates for all questions, and of all entities. Questions for heads are asked through
    reciprocal relations: relation ``r + num_relations`` means r read backwards.

    Shapes: ``heads (B,)``, ``relations (B,)``, ``tails (B,)`` or ``(B, N)`` ``->`` scores shaped as ``tails``; with
    ``pool (P,)`` instead, ``(B, P)``; with ``tails (B, N)`` and ``pool (P,)``, ``(B, N + P)``; with neither, of all
    entities, ``(B, num_entities)``.
    """

    num_entities: int
    num_relations: int
    entities: nn.Embedding | LorentzEmbedding  #: the table of entities

    @abstractmethod
    def points(self, entities: Tensor | None = None) -> Tensor:
        """Points of entities as candidates, ``(…,) -> (…, width)``; of all of them by default."""

    def penalised(self, entities: Tensor) -> Tensor:
        """What a penalty on entities applies to, ``(B,) -> (B, k)``; their points by default."""
        return self.points(entities)

    @abstractmethod
    def question(self, heads: Tensor, relations: Tensor) -> Tensor:
        """What is compared with candidates, ``(B,), (B,) -> (B, width)``."""

    @abstractmethod
    def match(self, question: Tensor, relations: Tensor, candidates: Tensor) -> Tensor:
        """Scores without biases, ``(B, q), (B,), (C, width) or (B, C, width) -> (B, C)``."""

    def candidates(self, entities: Tensor | None) -> Tensor:
        """What :meth:`match` compares a question with; the entities' points by default."""
        return self.points(entities)

    def compare(self, question: Tensor, relations: Tensor, entities: Tensor | None) -> Tensor:
        """Scores of entities without adjustments: all, a pool ``(P,)``, or each question's own ``(B, N)``."""
        return self.match(question, relations, self.candidates(entities))

    def adjust(self, scores: Tensor, heads: Tensor, relations: Tensor, entities: Tensor | None) -> Tensor:
        """Scores of a question's candidates with what depends on more than the match; as they are by default."""
        return scores

    def forward(
        self, heads: Tensor, relations: Tensor, tails: Tensor | None = None, *, pool: Tensor | None = None
    ) -> Tensor:
        question = self.question(heads, relations)
        single = tails is not None and tails.dim() == 1
        own = tails[:, None] if tails is not None and single else tails
        asked = [own, pool] if own is not None and pool is not None else [pool if own is None else own]
        parts = [self.adjust(self.compare(question, relations, chosen), heads, relations, chosen) for chosen in asked]
        scores = torch.cat(parts, dim=1) if len(parts) > 1 else parts[0]
        return scores[:, 0] if single and pool is None else scores

    def biases(self, table: Tensor, entities: Tensor | None) -> Tensor:
        """Numbers of entities, ``(N,), (...) -> (...)``, of all by default; with sparse gradients if the rows have."""
        if entities is None:
            return table
        return torch.gather(table, 0, entities.flatten(), sparse_grad=self.entities.sparse).view(entities.shape)

    @torch.no_grad()
    def all_scores(self, heads: Tensor, relations: Tensor) -> Iterator[Tensor]:
        """Scores of all entities, some questions at a time, ``(b, num_entities)``: as many as stay in the cache.

        What is the same for all questions is made once. Use a block up before you ask for the next; no gradients.
        """
        candidates = self.candidates(None)
        for question, h, r in self.questions(heads, relations):
            yield self.adjust(self.match(question, r, candidates), h, r, None)

    def questions(self, heads: Tensor, relations: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Questions with their heads and relations, as many at a time as :meth:`all_scores` scores together."""
        height = max(1, _SCORES // self.num_entities)
        for h, r in zip(*(t.split(max(_QUESTIONS, height)) for t in (heads, relations)), strict=True):
            yield from zip(*(t.split(height) for t in (self.question(h, r), h, r)), strict=True)


class VectorModel(TripleModel):
    """A model whose entities are plain vectors, and candidates what they are."""

    entities: nn.Embedding

    def __init__(self, num_entities: int, num_relations: int, dim: int) -> None:
        super().__init__()
        self.num_entities, self.num_relations = num_entities, num_relations
        self.entities = nn.Embedding(num_entities, dim)

    def points(self, entities: Tensor | None = None) -> Tensor:
        return self.entities.weight if entities is None else self.entities(entities)


class BiasedVectorModel(VectorModel):
    """With a number for every entity as head and as tail: how often it is the answer at all."""

    def __init__(self, num_entities: int, num_relations: int, dim: int) -> None:
        super().__init__(num_entities, num_relations, dim)
        self.head_bias = nn.Parameter(torch.zeros(num_entities))
        self.tail_bias = nn.Parameter(torch.zeros(num_entities))

    def adjust(self, scores: Tensor, heads: Tensor, relations: Tensor, entities: Tensor | None) -> Tensor:
        return scores + self.biases(self.head_bias, heads)[:, None] + self.biases(self.tail_bias, entities)


def inner(question: Tensor, candidates: Tensor) -> Tensor:
    """Inner products: one matrix product for shared candidates, a batched one for candidates of each question's own.

    Example:
        >>> import torch
        >>> inner(torch.ones(2, 3), torch.ones(5, 3)).shape, inner(torch.ones(2, 3), torch.ones(2, 4, 3)).shape
        (torch.Size([2, 5]), torch.Size([2, 4]))
    """
    if candidates.dim() == 2:
        return question @ candidates.T
    return torch.bmm(candidates, question.unsqueeze(-1)).squeeze(-1)


def squared_norms(candidates: Tensor) -> Tensor:
    """Squared lengths, ``(C, k) -> (C,)`` or ``(B, C, k) -> (B, C)``: ready to be added to inner products."""
    return candidates.square().sum(-1)
