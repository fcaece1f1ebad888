"""What every scorer of triples has in common: a question made of head and relation, matched with candidate tails."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import torch
from torch import Tensor, nn

from hybonet.nn import LorentzEmbedding
from hybonet.nn.dropout import Dropout

#: Scores of all entities are made so many at a time, from the questions of so many triples.
_SCORES, _QUESTIONS = 1 << 21, 256
#: Questions of candidates by the inverse relation are made so many at a time.
_BACK = 1024


class TripleModel(nn.Module, ABC):
    """Scores of triples; larger is more plausible.

    A model turns head and relation into a question (:meth:`question`), and compares it with the points of candidate
    tails (:meth:`match`). Everything else follows: scores of single triples, of candidates of their own for every
    question, of one pool of candidates for all questions, and of all entities. Questions for heads are asked through
    reciprocal relations: relation ``r + num_relations`` is the inverse of r.

    A triple can therefore be scored in two directions, from head to tail and back, which are learned one by one.
    Outside of training :meth:`score_both_directions` makes its score a mean of both.

    Shapes: ``heads (B,)``, ``relations (B,)``, ``tails (B,)`` or ``(B, N)`` ``->`` scores shaped as ``tails``; with
    ``pool (P,)`` instead, ``(B, P)``; with ``tails (B, N)`` and ``pool (P,)``, ``(B, N + P)``; with neither, of all
    entities, ``(B, num_entities)``.
    """

    num_entities: int
    num_relations: int
    entities: nn.Embedding | LorentzEmbedding  #: the table of entities
    shares: Tensor | None = None  #: of a relation in the score, where its inverse has the rest

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

    def score_both_directions(self, shares: Tensor | None) -> None:
        r"""Score triples in both directions, but in training: :math:`a_r s(h, r, t) + (1 - a_r) s(t, r^{-1}, h)`.

        Args:
            shares: a, ``(2 * num_relations,)``, reciprocal relations included; None: in one direction.
        """
        if shares is not None and shares.shape != (2 * self.num_relations,):
            raise ValueError(
                f"expected a share for each of {self.num_relations} relations and their reciprocals, "
                f"{2 * self.num_relations} in all, got shape {tuple(shares.shape)}"
            )
        if shares is not None and not bool(((shares >= 0) & (shares <= 1)).all()):
            raise ValueError(f"expected shares from 0 to 1, got {shares.min().item():g} to {shares.max().item():g}")
        self.shares = shares

    @property
    def scores_both_directions(self) -> bool:
        """Whether scores are those of :meth:`score_both_directions` now: not in training."""
        return self.shares is not None and not self.training

    def forward(
        self, heads: Tensor, relations: Tensor, tails: Tensor | None = None, *, pool: Tensor | None = None
    ) -> Tensor:
        scores = self.one_direction(heads, relations, tails, pool=pool)
        if not self.scores_both_directions:
            return scores
        back = []
        if tails is not None:
            number = tails[0].numel() if len(tails) else 1
            asked, answer = (each.repeat_interleave(number) for each in (self.reciprocal(relations), heads))
            back.append(self.one_direction(tails.flatten(), asked, answer).view(len(tails), number))
        if tails is None or pool is not None:
            back.append(self._inverse_scores(pool, heads, relations))
        other = torch.cat(back, dim=1).view(scores.shape)
        share = self._shares_of(relations).view(-1, *[1] * (scores.dim() - 1))
        return share * scores + (1 - share) * other

    def one_direction(
        self, heads: Tensor, relations: Tensor, tails: Tensor | None = None, *, pool: Tensor | None = None
    ) -> Tensor:
        """Scores in the direction that is asked for alone; arguments and shapes of ``forward``."""
        question = self.question(heads, relations)
        single = tails is not None and tails.dim() == 1
        own = tails[:, None] if tails is not None and single else tails
        asked = [own, pool] if own is not None and pool is not None else [pool if own is None else own]
        parts = [self.adjust(self.compare(question, relations, chosen), heads, relations, chosen) for chosen in asked]
        scores = torch.cat(parts, dim=1) if len(parts) > 1 else parts[0]
        return scores[:, 0] if single and pool is None else scores

    def reciprocal(self, relations: Tensor) -> Tensor:
        return (relations + self.num_relations) % (2 * self.num_relations)

    def _shares_of(self, relations: Tensor) -> Tensor:
        assert self.shares is not None
        return self.shares.to(relations.device)[relations]

    def _inverse_scores(self, pool: Tensor | None, heads: Tensor, relations: Tensor) -> Tensor:
        """Scores of the heads as answers to what is asked of a pool, or of all entities, ``(B, P)``."""
        order = relations.argsort(stable=True)
        found, lengths = relations[order].unique_consecutive(return_counts=True)
        back = [self.entities.weight.new_empty(0, self.num_entities if pool is None else len(pool))]
        for relation, rows in zip(found, order.split(lengths.tolist()), strict=True):
            asked = self.reciprocal(relation)
            back.append(self.score_inverse(self._all_asked(pool, asked), heads[rows], asked, pool))
        return torch.cat(back)[order.argsort()]

    def _with_inverse(self, blocks: Iterator[Tensor], heads: Tensor, relations: Tensor) -> Iterator[Tensor]:
        questions, held, start = None, None, 0
        for scores in blocks:
            found, lengths = relations[start : start + len(scores)].unique_consecutive(return_counts=True)
            for relation, part in zip(found, scores.split(lengths.tolist()), strict=True):
                asked, share = self.reciprocal(relation), float(self._shares_of(relation))
                if questions is None or relation != held:
                    questions, held = self._all_asked(None, asked), relation
                self.mix_inverse_(part, share, questions, heads[start : start + len(part)], asked)
                start += len(part)
            yield scores

    def _all_asked(self, pool: Tensor | None, relation: Tensor) -> Tensor:
        """The questions of a pool, or of all entities, by one relation, ``(P, width)``."""
        entities = torch.arange(self.num_entities, device=relation.device) if pool is None else pool
        return torch.cat([self.question(part, relation.expand(len(part))) for part in entities.split(_BACK)])

    def score_inverse(self, questions: Tensor, heads: Tensor, relation: Tensor, pool: Tensor | None) -> Tensor:
        """Scores of entities as answers to questions that a pool, or all, are asked by one relation, ``(B, P)``."""
        entities = torch.arange(self.num_entities, device=heads.device) if pool is None else pool
        asked = relation.expand(len(entities))
        return self.adjust(self.match(questions, asked, self.candidates(heads)), entities, asked, heads).T

    def mix_inverse_(self, scores: Tensor, share: float, questions: Tensor, heads: Tensor, relation: Tensor) -> None:
        """Leave scores of all entities their share, and add the rest of :meth:`score_inverse`, in place."""
        scores.mul_(share).add_(self.score_inverse(questions, heads, relation, None), alpha=1 - share)

    def biases(self, table: Tensor, entities: Tensor | None) -> Tensor:
        """Numbers of entities, ``(N,), (...) -> (...)``, of all by default; with sparse gradients if the rows have."""
        if entities is None:
            return table
        return torch.gather(table, 0, entities.flatten(), sparse_grad=self.entities.sparse).view(entities.shape)

    @torch.no_grad()
    def all_scores(self, heads: Tensor, relations: Tensor) -> Iterator[Tensor]:
        """Scores of all entities, some questions at a time, ``(b, num_entities)``: as many as stay in the cache.

        What is the same for all questions is made once; what is the same for those of a relation, once for
        each stretch of them. Use a block up before you ask for the next; no gradients.
        """
        blocks = self.all_in_one_direction(heads, relations)
        yield from self._with_inverse(blocks, heads, relations) if self.scores_both_directions else blocks

    @torch.no_grad()
    def all_in_one_direction(self, heads: Tensor, relations: Tensor) -> Iterator[Tensor]:
        """As :meth:`all_scores`, in the direction that is asked for alone."""
        candidates = self.candidates(None)
        for question, h, r in self.questions(heads, relations):
            yield self.adjust(self.match(question, r, candidates), h, r, None)

    def questions(self, heads: Tensor, relations: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Questions with their heads and relations, as many at a time as :meth:`all_scores` scores together."""
        height = max(1, _SCORES // self.num_entities)
        for h, r in zip(*(t.split(max(_QUESTIONS, height)) for t in (heads, relations)), strict=True):
            yield from zip(*(t.split(height) for t in (self.question(h, r), h, r)), strict=True)


class VectorModel(TripleModel):
    """A model whose entities are plain vectors, and candidates what they are.

    Args:
        num_entities, num_relations: without reciprocals.
        dim: real dimensions per entity.
        dropout: on the question, and on what else a model says.
    """

    entities: nn.Embedding
    two_make: ClassVar[str] = ""  #: what two coordinates are, in models that need an even number of them

    def __init__(self, num_entities: int, num_relations: int, dim: int, *, dropout: float = 0.0) -> None:
        if self.two_make and dim % 2:
            raise ValueError(f"expected an even dim, two numbers for each {self.two_make}, got {dim}; use {dim + 1}")
        super().__init__()
        self.num_entities, self.num_relations = num_entities, num_relations
        self.entities = nn.Embedding(num_entities, dim)
        self.dropout = Dropout(dropout)

    def points(self, entities: Tensor | None = None) -> Tensor:
        return self.entities.weight if entities is None else self.entities(entities)


class BiasedVectorModel(VectorModel):
    """With a number for every entity as head and as tail: how often it is the answer at all."""

    def __init__(self, num_entities: int, num_relations: int, dim: int, *, dropout: float = 0.0) -> None:
        super().__init__(num_entities, num_relations, dim, dropout=dropout)
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
