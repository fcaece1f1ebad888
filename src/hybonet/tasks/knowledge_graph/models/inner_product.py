"""Scorers of triples whose match is an inner product: matrix products score them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from hybonet.kernels.sparse_product import are_sampled
from hybonet.tasks.knowledge_graph.models.per_triple_scores import per_triple_scores
from hybonet.tasks.knowledge_graph.models.triple_model import TripleModel, inner

#: Candidates are read from the table in place if there is at least one for so many of its rows.
_SHARE = 4


class Product(NamedTuple):
    """Scores of questions as a matrix product, ``left @ right.T``; the heads' have ``loop`` on top, if there is one.

    Args:
        left, right: ``(B, k)`` and ``(num_entities, k)``; the right side is the same object where it is the same.
        heads, loop: ``(B,)``.
    """

    left: Tensor
    right: Tensor
    heads: Tensor
    loop: Tensor | None


class InnerProductModel(TripleModel):
    """A model whose scores are inner products of :meth:`question` and :meth:`candidates`, loops apart.

    :func:`~hybonet.tasks.knowledge_graph.inner_product_loss.inner_product_loss` trains one without a matrix of scores.
    """

    def loop_score(self, relations: Tensor) -> Tensor | None:
        """What a head has on top of its score as its own tail, ``(B,) -> (B,)``; nothing by default."""
        return None

    def question_and_candidates(self, heads: Tensor, relations: Tensor, entities: Tensor) -> tuple[Tensor, Tensor]:
        """Both for a training step; where one look-up gives both, one gradient goes back to a large table."""
        return self.question(heads, relations), self.candidates(entities)

    def match(self, question: Tensor, relations: Tensor, candidates: Tensor) -> Tensor:
        return inner(question, candidates)

    @torch.no_grad()
    def all_in_one_direction(self, heads: Tensor, relations: Tensor) -> Iterator[Tensor]:
        # Kernels for narrow matrices like the long side to be contiguous; fresh memory would cost like the scores.
        across, buffer = self.candidates(None).T.contiguous(), None
        for question, h, r in self.questions(heads, relations):
            if buffer is None:
                buffer = question.new_empty(len(question), across.shape[1])
            yield self.adjust(torch.mm(question, across, out=buffer[: len(question)]), h, r, None)

    @torch.no_grad()
    def products(self, heads: Tensor, relations: Tensor, rows: int) -> Iterator[Product]:
        """Scores of all entities as :meth:`all_scores` has them, as products of at most so many rows."""
        if not self.scores_both_directions:
            right = self.candidates(None)
            for h, r in zip(heads.split(rows), relations.split(rows), strict=True):
                yield Product(self.question(h, r), right, h, self.loop_score(r))
            return
        own = self.candidates(None)
        found, lengths = relations.unique_consecutive(return_counts=True)
        for relation, of_relation in zip(found, heads.split(lengths.tolist()), strict=True):
            asked, share = self.reciprocal(relation), float(self._shares_of(relation))
            right = torch.cat((own, self._all_asked(None, asked)), dim=1)
            for h in of_relation.split(rows):
                r = relation.expand(len(h))
                left = torch.cat((share * self.question(h, r), (1 - share) * self.candidates(h)), dim=1)
                loop, back = self.loop_score(r), self.loop_score(asked.expand(len(h)))
                mixed = None if loop is None or back is None else share * loop + (1 - share) * back
                yield Product(left, right, h, mixed)

    def score_inverse(self, questions: Tensor, heads: Tensor, relation: Tensor, pool: Tensor | None) -> Tensor:
        scores = inner(self.candidates(heads), questions)
        return self.adjust(scores, heads, relation.expand(len(heads)), pool)  # a loop is one in either direction

    def mix_inverse_(self, scores: Tensor, share: float, questions: Tensor, heads: Tensor, relation: Tensor) -> None:
        scores.addmm_(self.candidates(heads), questions.T, beta=share, alpha=1 - share)  # one pass over the scores
        loop = self.loop_score(relation.expand(len(heads)))
        if loop is not None:
            scores.scatter_add_(1, heads[:, None], ((1 - share) * loop)[:, None].to(scores.dtype))

    def compare(self, question: Tensor, relations: Tensor, entities: Tensor | None) -> Tensor:
        if entities is not None and entities.dim() == 2 and self.are_read_in_place(entities):
            return per_triple_scores(question, self.candidates(None), entities)
        return super().compare(question, relations, entities)

    def are_read_in_place(self, entities: Tensor) -> bool:
        """Whether :func:`per_triple_scores` is to read each question's own candidates, ``(B, N)``.

        It takes passes over the whole table, which cost little beside many candidates.
        """
        few = _SHARE * entities.numel() < self.num_entities
        return not few and not self.entities.sparse and are_sampled(self.entities.weight)

    def adjust(self, scores: Tensor, heads: Tensor, relations: Tensor, entities: Tensor | None) -> Tensor:
        extra = self.loop_score(relations)
        if extra is None:
            return scores
        if entities is None:
            return scores.scatter_add_(1, heads[:, None], extra[:, None].to(scores.dtype))  # they are nobody else's
        return scores + torch.where(entities == heads[:, None], extra[:, None], 0.0)


# Biases ride along as coordinates, [q, 1, c] · [t, b_t, 1]: scores are written once, by one product, and a candidate's
# bias is gathered with its point.


def with_offset(query: Tensor, offset: Tensor) -> Tensor:
    """A question that adds a number of its own, and each candidate's, to its inner products; ``(B, k), (B,)``."""
    return torch.cat((query, torch.ones_like(offset)[:, None], offset[:, None]), dim=-1)


def with_bias(points: Tensor, bias: Tensor) -> Tensor:
    """Candidates for :func:`with_offset`; ``(..., k), (...) -> (..., k + 2)``."""
    return torch.cat((points, bias[..., None], torch.ones_like(bias)[..., None]), dim=-1)
