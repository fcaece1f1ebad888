"""Filtered ranking metrics for knowledge-graph completion, vectorised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

Ties = Literal["realistic", "optimistic", "pessimistic"]


class KnownAnswers:
    """For each question (an entity and a relation), the entities known to answer it: what filtered ranking leaves out.

    Args:
        triples: ``(n, 3)`` integer tensor of head, relation, tail; the answers to (head, relation) are the tails. Add
            reciprocal triples to answer questions for heads as well.
        num_relations: relations in all, reciprocal ones included.

    Example:
        >>> import torch
        >>> known = KnownAnswers(torch.tensor([[0, 0, 1], [0, 0, 2], [3, 0, 1]]), num_relations=1)
        >>> known.of(torch.tensor([3, 0]), torch.tensor([0, 0]))
        (tensor([0, 1, 1]), tensor([1, 1, 2]))
    """

    def __init__(self, triples: Tensor, num_relations: int) -> None:
        self.num_relations = num_relations
        head, relation, answer = triples.long().unbind(1)
        question = head * num_relations + relation
        # By question, then answer, each once. (torch.unique of rows does the same, several times slower.)
        order = answer.argsort()
        order = order[question[order].argsort(stable=True)]
        question, answer = question[order], answer[order]
        again = torch.zeros_like(question, dtype=torch.bool)
        again[1:] = (question[1:] == question[:-1]) & (answer[1:] == answer[:-1])
        question, self._answers = question[~again], answer[~again]
        self._questions, counts = torch.unique_consecutive(question, return_counts=True)
        self._starts = torch.cat((counts.new_zeros(1), counts.cumsum(0)))

    def of(self, heads: Tensor, relations: Tensor) -> tuple[Tensor, Tensor]:
        """Row numbers of the questions, and the known answers that belong to them, as two aligned lists."""
        question = heads * self.num_relations + relations
        place = torch.searchsorted(self._questions, question).clamp_max(max(0, len(self._questions) - 1))
        found = (
            self._questions[place] == question if len(self._questions) else torch.zeros_like(question, dtype=torch.bool)
        )
        begin = self._starts[place]
        count = (
            torch.where(found, self._starts[place + 1] - begin, 0)
            if len(self._questions)
            else torch.zeros_like(question)
        )
        rows = torch.repeat_interleave(torch.arange(len(question)), count)
        first = torch.cat((count.new_zeros(1), count.cumsum(0)))[:-1]
        within = torch.arange(len(rows)) - first[rows]
        return rows, self._answers[begin[rows] + within]


class KnownTriples:
    """Whether triples are among given ones, many at a time.

    Example:
        >>> import torch
        >>> known = KnownTriples(torch.tensor([[0, 0, 1], [3, 0, 1]]), num_entities=4, num_relations=1)
        >>> known.contain(torch.tensor([[0], [3]]), torch.tensor([[0], [0]]), torch.tensor([[0, 1], [1, 2]]))
        tensor([[False,  True],
                [ True, False]])
    """

    def __init__(self, triples: Tensor, num_entities: int, num_relations: int) -> None:
        self.num_entities, self.num_relations = num_entities, num_relations
        self._keys = self._key(*triples.long().unbind(1)).unique()

    def _key(self, heads: Tensor, relations: Tensor, tails: Tensor) -> Tensor:
        return (heads * self.num_relations + relations) * self.num_entities + tails

    def contain(self, heads: Tensor, relations: Tensor, tails: Tensor) -> Tensor:
        """Element by element, shapes broadcast."""
        key = self._key(heads, relations, tails)
        if not len(self._keys):
            return torch.zeros_like(key, dtype=torch.bool)
        place = torch.searchsorted(self._keys, key).clamp_max(len(self._keys) - 1)
        return self._keys[place] == key


@dataclass(frozen=True)
class Ranks:
    """Ranks of the true answers (1 is best) and how many candidates each was ranked among."""

    rank: Tensor
    candidates: Tensor


def filtered_ranks(
    scores: Tensor,
    truth: Tensor,
    known: tuple[Tensor, Tensor] | None = None,
    *,
    ties: Ties = "realistic",
    exclude: Tensor | None = None,
) -> Ranks:
    """Rank each true answer among the candidates that are not known to be true as well.

    Args:
        scores: ``(questions, entities)``, larger is better; changed in place.
        truth: the entity that answers each question.
        known: rows and entities to leave out (:meth:`KnownAnswers.of`); the truth itself is kept.
        ties: place of the truth among equal scores: in the middle, first, or last.
        exclude: one more entity a question to leave out unless it is the truth (the head itself, in the protocol of the
            paper's released code).

    Example:
        >>> import torch
        >>> scores = torch.tensor([[0.9, 0.8, 0.7, 0.7]])
        >>> known = (torch.tensor([0, 0]), torch.tensor([0, 2]))
        >>> filtered_ranks(scores, torch.tensor([2]), known)
        Ranks(rank=tensor([2.5000]), candidates=tensor([3]))
    """
    index = truth[:, None]
    own = scores.gather(1, index)
    if not bool(own.isfinite().all()):
        raise ValueError("expected finite scores for the true answers, got NaN or infinity; has the training diverged?")
    if known is not None:
        scores[known] = -torch.inf
    if exclude is not None:
        scores.scatter_(1, exclude[:, None], -torch.inf)
    scores.scatter_(1, index, own)
    out = (scores == -torch.inf).sum(1)
    better = (scores > own).sum(1)
    equal = (scores == own).sum(1) - 1
    offset = {"optimistic": 0.0, "realistic": 0.5, "pessimistic": 1.0}[ties]
    return Ranks(1.0 + better + offset * equal, scores.shape[1] - out)


def ranking_metrics(ranks: Ranks) -> dict[str, float]:
    """Mean reciprocal rank, hits at 1, 3 and 10, mean rank, and the mean rank relative to that of a random order.

    ``adjusted_mean_rank`` is 1 for random and small for good models; ``adjusted_mean_rank_index`` is 0 for random and 1
    for perfect ones. PyKEEN has the same figures as ``inverse_harmonic_mean_rank``, ``hits_at_k``,
    ``arithmetic_mean_rank``, ``adjusted_arithmetic_mean_rank`` and ``adjusted_arithmetic_mean_rank_index``.

    Example:
        >>> import torch
        >>> metrics = ranking_metrics(Ranks(torch.tensor([1.0, 4.0]), torch.tensor([10, 10])))
        >>> metrics["mrr"], metrics["hits@3"]
        (0.625, 0.5)
    """
    rank = ranks.rank.double()
    expected = (ranks.candidates.double() + 1.0) / 2.0
    mean = rank.mean().item()
    chance = expected.mean().item()
    metrics = {"mrr": (1.0 / rank).mean().item()}
    metrics |= {f"hits@{n}": (rank <= n).double().mean().item() for n in (1, 3, 10)}
    metrics |= {
        "mean_rank": mean,
        "adjusted_mean_rank": mean / chance,
        "adjusted_mean_rank_index": 1.0 - (mean - 1.0) / (chance - 1.0) if chance > 1.0 else 1.0,
        "count": float(len(rank)),
    }
    return metrics


def relation_categories(triples: Tensor, num_relations: int, threshold: float = 1.5) -> list[str]:
    """Each relation's kind, 1-1, 1-N, N-1 or N-N: N where a head (tail) has more than ``threshold`` tails (heads).

    Example:
        >>> import torch
        >>> relation_categories(torch.tensor([[0, 0, 1], [0, 0, 2], [0, 0, 3]]), 1)
        ['1-N']
    """
    unique = torch.unique(triples.long(), dim=0)
    count = torch.bincount(unique[:, 1], minlength=num_relations).double()

    def distinct(column: int) -> Tensor:
        pairs = torch.unique(unique[:, [1, column]], dim=0)
        return torch.bincount(pairs[:, 0], minlength=num_relations).double().clamp_min(1.0)

    tails_per_head, heads_per_tail = count / distinct(0), count / distinct(2)
    sides = zip(heads_per_tail.tolist(), tails_per_head.tolist(), strict=True)
    return [f"{'N' if left > threshold else '1'}-{'N' if right > threshold else '1'}" for left, right in sides]


def symmetric_share(triples: Tensor, num_entities: int, num_relations: int) -> Tensor:
    """For each relation, the share of its triples that are there the other way round too; 0 for one without triples.

    Example:
        >>> import torch
        >>> symmetric_share(torch.tensor([[0, 0, 1], [1, 0, 0], [0, 1, 1]]), 2, 2)
        tensor([1., 0.])
    """
    heads, relations, tails = triples.long().unbind(1)
    both_ways = KnownTriples(triples, num_entities, num_relations).contain(tails, relations, heads)
    found = torch.bincount(relations, both_ways.float(), minlength=num_relations)
    return found / torch.bincount(relations, minlength=num_relations).clamp_min(1)
