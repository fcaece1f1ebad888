"""The softmax loss of models whose scores are inner products, without a matrix of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from hybonet.kernels.inner_softmax import Places, inner_softmax_loss
from hybonet.tasks.knowledge_graph.models.inner_product import InnerProductModel


class SoftAnswers(NamedTuple):
    """Answers that are to share the probability with the right tail.

    Args:
        entities: ``(B, k)``, each once in a row; where one is the right tail, it counts as that.
        target: ``(B, k)``: probability that each is to have. The right tail is to have what is left of 1.
    """

    entities: Tensor
    target: Tensor


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


def inner_product_loss(
    model: InnerProductModel,
    heads: Tensor,
    relations: Tensor,
    tails: Tensor,
    choice: Choice,
    *,
    pool: Tensor | None = None,
) -> Tensor:
    """Softmax loss of the right tails ``(B,)`` against all entities, without a matrix of scores.

    ``pool (P,)``: against these instead, each once and in ascending order.
    """
    if tails.dim() != 1:
        raise ValueError("expected one right tail for each question with a choice")
    soft, own = choice.soft, tails[:, None]
    if soft is not None:
        own = torch.cat((own, soft.entities), dim=1)
    if pool is None:
        question, candidates = model.question(heads, relations), model.candidates(None)
        right = candidates[own]
    else:
        question, both = model.question_and_candidates(heads, relations, torch.cat((own.flatten(), pool)))
        right, candidates = both.split((own.numel(), len(pool)))
        right = right.view(*own.shape, -1)
    truth = model.adjust(model.match(question, relations, right), heads, relations, own)
    loop = model.loop_score(relations)
    if choice.logit_scale is not None:
        question, truth = question * choice.logit_scale[:, None], truth * choice.logit_scale[:, None]
        loop = loop * choice.logit_scale if loop is not None else None
    rows = torch.arange(len(heads), device=heads.device)
    no_candidates = _each_once(own, choice.known)
    left_out = _locate(no_candidates, pool, model.num_entities)
    extra = None
    if loop is not None:
        at = _locate(Places(rows, heads), pool, model.num_entities)
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
        others = others.index_add(0, left_out.rows, -(question[left_out.rows] * candidates[left_out.columns]).sum(1))
        if loop is not None:
            hidden_loop = left_out.rows[_entities(left_out, pool) == heads[left_out.rows]]
            others = others.index_add(0, hidden_loop, -loop[hidden_loop])
        mean = others / number.clamp_min(1)
        loss = loss + choice.smoothing * (choice.weight * (wanted - torch.where(number > 0, mean, 0.0))).sum()
    return loss


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
