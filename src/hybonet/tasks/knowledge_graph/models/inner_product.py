"""Scorers of triples whose match is an inner product: matrix products score, and a fused kernel trains them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from hybonet.kernels.sampled_products import are_sampled
from hybonet.tasks.knowledge_graph.models.inner_softmax import Places, inner_softmax_loss
from hybonet.tasks.knowledge_graph.models.per_triple_scores import per_triple_scores
from hybonet.tasks.knowledge_graph.models.triple_model import TripleModel, inner

#: Candidates are read from the table in place if there is at least one for so many of its rows.
_SHARE = 4


class SoftAnswers(NamedTuple):
    """Answers that are to share the probability with the right tail.

    Args:
        entities: ``(B, k)``, each once in a row; where one is the right tail, it counts as that.
        target: ``(B, k)``: probability that each is to have. The right tail is to have what is left of 1.
    """

    entities: Tensor
    target: Tensor


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


@dataclass(frozen=True)
class Choice:
    """How a softmax loss over candidates is to be made.

    Args:
        weight: of each question in the sum.
        known: questions (rows) and entities that are no candidates to them, besides the right tail.
        smoothing: share of the target spread evenly over the other candidates.
        total: entities that a sample of candidates stands for; None if they are all there are.
        logit_scale: what each question's scores are multiplied with; 1 if None.
        soft: answers besides the right tail that are right in part.
    """

    weight: Tensor
    known: Places | None = None
    smoothing: float = 0.0
    total: int | None = None
    logit_scale: Tensor | None = None
    soft: SoftAnswers | None = None


class InnerProductModel(TripleModel):
    """A model whose scores are inner products of :meth:`question` and :meth:`candidates`, loops apart.

    ``forward`` with a :class:`Choice` gives the softmax loss of the tails against all entities, or against a pool of
    different ones in ascending order, without a matrix of scores.
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

    def forward(
        self,
        heads: Tensor,
        relations: Tensor,
        tails: Tensor | None = None,
        *,
        pool: Tensor | None = None,
        choice: Choice | None = None,
    ) -> Tensor:
        if choice is None:
            return super().forward(heads, relations, tails, pool=pool)
        if tails is None or tails.dim() != 1:
            raise ValueError("expected one right tail for each question with a choice")
        soft, own = choice.soft, tails[:, None]
        if soft is not None:
            own = torch.cat((own, soft.entities), dim=1)
        if pool is None:
            question, candidates = self.question(heads, relations), self.candidates(None)
            right = candidates[own]
        else:
            question, both = self.question_and_candidates(heads, relations, torch.cat((own.flatten(), pool)))
            right, candidates = both.split((own.numel(), len(pool)))
            right = right.view(*own.shape, -1)
        truth = self.adjust(self.match(question, relations, right), heads, relations, own)
        loop = self.loop_score(relations)
        if choice.logit_scale is not None:
            question, truth = question * choice.logit_scale[:, None], truth * choice.logit_scale[:, None]
            loop = loop * choice.logit_scale if loop is not None else None
        rows = torch.arange(len(heads), device=heads.device)
        no_candidates = _each_once(own, choice.known)
        left_out = _locate(no_candidates, pool, self.num_entities)
        extra = None
        if loop is not None:
            at = _locate(Places(rows, heads), pool, self.num_entities)
            extra = at, loop[at.rows]
        number = len(candidates) - torch.bincount(left_out.rows, minlength=len(heads))
        share = None
        if choice.total is not None:
            others_in_all = choice.total - torch.bincount(no_candidates.rows, minlength=len(heads))
            share = (others_in_all / number.clamp_min(1)).clamp_min(1).log().to(truth)
        wanted, among = truth[:, 0], truth[:, 0]
        if soft is not None:
            again = soft.entities == tails[:, None]
            wanted = (1 - soft.target.sum(1)) * wanted + (soft.target * truth[:, 1:]).sum(1)
            among = torch.cat((truth[:, :1], truth[:, 1:].masked_fill(again, -torch.inf)), dim=1).logsumexp(1)
        loss = inner_softmax_loss(
            question, candidates, among, weight=choice.weight, share=share, left_out=left_out, extra=extra
        )
        if soft is not None:
            loss = loss + (choice.weight * (among - wanted)).sum()
        if choice.smoothing:
            # The mean of all scores needs none of them: it is the product with the candidates' sum.
            others = question @ candidates.sum(0)
            if extra is not None:
                others = others.index_add(0, extra[0].rows, extra[1])
            others = others.index_add(
                0, left_out.rows, -(question[left_out.rows] * candidates[left_out.columns]).sum(1)
            )
            if loop is not None:
                hidden_loop = left_out.rows[_entities(left_out, pool) == heads[left_out.rows]]
                others = others.index_add(0, hidden_loop, -loop[hidden_loop])
            mean = others / number.clamp_min(1)
            loss = loss + choice.smoothing * (choice.weight * (wanted - torch.where(number > 0, mean, 0.0))).sum()
        return loss


# Biases ride along as coordinates, [q, 1, c] · [t, b_t, 1]: scores are written once, by one product, and a candidate's
# bias is gathered with its point.


def with_offset(query: Tensor, offset: Tensor) -> Tensor:
    """A question that adds a number of its own, and each candidate's, to its inner products; ``(B, k), (B,)``."""
    return torch.cat((query, torch.ones_like(offset)[:, None], offset[:, None]), dim=-1)


def with_bias(points: Tensor, bias: Tensor) -> Tensor:
    """Candidates for :func:`with_offset`; ``(..., k), (...) -> (..., k + 2)``."""
    return torch.cat((points, bias[..., None], torch.ones_like(bias)[..., None]), dim=-1)


def _each_once(own: Tensor, known: Places | None) -> Places:
    """Places of each row's own entities, ``(B, k)``, the first of which may stand among the others again, and more."""
    first = torch.cat((torch.ones_like(own[:, :1], dtype=torch.bool), own[:, 1:] != own[:, :1]), dim=1)
    places = Places(first.nonzero()[:, 0], own[first])
    if known is None:
        return places
    new = (own[known.rows] != known.columns[:, None]).all(1)
    return Places(torch.cat((places.rows, known.rows[new])), torch.cat((places.columns, known.columns[new])))


def _locate(entities: Places, pool: Tensor | None, count: int) -> Places:
    """Where rows have given entities, of ``count``, among the candidates, an ascending pool or all; others drop out."""
    if pool is None:
        return entities
    if len(entities.columns) < count // 4:
        place = torch.searchsorted(pool, entities.columns.contiguous()).clamp_max(len(pool) - 1)
        found = pool[place] == entities.columns
    else:  # a table of places is quicker for very many
        table = pool.new_full((count,), -1)
        table[pool] = torch.arange(len(pool), device=pool.device)
        place = table[entities.columns]
        found = place >= 0
    return Places(entities.rows[found], place[found])


def _entities(places: Places, pool: Tensor | None) -> Tensor:
    return places.columns if pool is None else pool[places.columns]
