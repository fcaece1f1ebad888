"""Filtered ranking metrics for knowledge-graph completion, vectorised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from hybonet.metrics.product_counts import Tiles, product_counts

Ties = Literal["realistic", "optimistic", "pessimistic"]


class KnownAnswers:
    """For each question (an entity and a relation), the entities known to answer it: what filtered ranking leaves out.

    Args:
        triples: ``(n, 3)`` integer tensor of head, relation, tail; the answers to (head, relation) are the tails. Add
            reciprocal triples to answer questions for heads as well.
    """

    def __init__(self, triples: Tensor, num_relations: int) -> None:
        self.num_relations = num_relations
        head, relation, answer = triples.long().unbind(1)
        # By question, then answer, each once: as one number, which sorts several times faster than pairs.
        width = int(answer.max()) + 1 if len(answer) else 1
        pair = np.sort(((head * num_relations + relation) * width + answer).numpy())
        pair = pair[np.diff(pair, prepend=-1) > 0]
        question, self._answers = (torch.from_numpy(part) for part in np.divmod(pair, width))
        self._questions, counts = torch.unique_consecutive(question, return_counts=True)
        self._starts = torch.cat((counts.new_zeros(1), counts.cumsum(0)))

    def of(self, heads: Tensor, relations: Tensor) -> tuple[Tensor, Tensor]:
        """Row numbers of the questions, and the known answers that belong to them, as two aligned lists.

        They are looked up on the processor, and go to where the questions are.
        """
        if not len(self._questions):
            none = heads.new_empty(0, dtype=torch.long)
            return none, none
        question = (heads * self.num_relations + relations).cpu()
        place = torch.searchsorted(self._questions, question).clamp_max(len(self._questions) - 1)
        begin = self._starts[place]
        count = torch.where(self._questions[place] == question, self._starts[place + 1] - begin, 0)
        rows = torch.repeat_interleave(torch.arange(len(question)), count)
        first = torch.cat((count.new_zeros(1), count.cumsum(0)))[:-1]
        within = torch.arange(len(rows)) - first[rows]
        return rows.to(heads.device), self._answers[begin[rows] + within].to(heads.device)


class KnownTriples:
    """Whether triples are among given ones, many at a time."""

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
        self._keys = self._keys.to(key.device)
        place = torch.searchsorted(self._keys, key).clamp_max(len(self._keys) - 1)
        return self._keys[place] == key


@dataclass(frozen=True)
class Ranks:
    """Ranks of the true answers (1 is best) and how many candidates each was ranked among."""

    rank: Tensor
    candidates: Tensor


class Ranking:
    """Ranks of true answers among the candidates that are not known to be true as well, from scores in blocks.

    All scores are compared and counted, and the counts corrected for the few entities that are left out: no score is
    moved.

    Args:
        known: rows and entities to leave out (:meth:`KnownAnswers.of`); the truth itself is kept.
        exclude: one more entity per question to leave out unless it is the truth (the head itself, in the protocol of
            the paper's code).
    """

    def __init__(
        self,
        truth: Tensor,
        entities: int,
        known: tuple[Tensor, Tensor] | None = None,
        *,
        exclude: Tensor | None = None,
    ) -> None:
        self.truth, self.entities = truth, entities
        rows, columns = known if known is not None else (truth[:0], truth[:0])
        if exclude is not None:
            rows = torch.cat((rows, torch.arange(len(exclude), device=exclude.device)))
            columns = torch.cat((columns, exclude))
        pairs = (rows * entities + columns)[columns != truth[rows]]
        if not bool((pairs[1:] > pairs[:-1]).all()):  # by row, each once; known answers mostly are
            pairs = pairs.unique()
        self._rows, self._columns = pairs.div(entities, rounding_mode="floor"), pairs % entities
        self._next = 0
        self._own, self._left_out, self._better, self._at_least = ([truth.new_empty(0)] for _ in range(4))

    def add(self, scores: Tensor) -> None:
        """The next questions' scores, ``(questions, entities)``, larger is better."""
        start, self._next = self._next, self._next + len(scores)
        own = scores.gather(1, self.truth[start : self._next, None])
        first, last = self._places_of(start)
        self._own.append(own[:, 0])
        self._left_out.append(scores[self._rows[first:last] - start, self._columns[first:last]])
        for counted, values in zip((self._better, self._at_least), _counts(scores, own), strict=True):
            counted.append(values)

    def add_product(self, left: Tensor, tiles: Tiles, extra: tuple[Tensor, Tensor] | None = None) -> None:
        """The next questions' scores as a product, where :func:`~hybonet.metrics.product_counts.product_counts` works.

        Args:
            left: ``(questions, k)``, times the tiles' right side, ``(entities, k)``.
            extra: an entity of each question, and a number that its score has on top.
        """
        start, self._next = self._next, self._next + len(left)
        first, last = self._places_of(start)
        places = self._rows[first:last] - start, self._columns[first:last]
        counts = product_counts(left, tiles, self.truth[start : self._next], places, extra)
        for kept, values in zip((self._own, self._left_out, self._better, self._at_least), counts, strict=True):
            kept.append(values)

    def _places_of(self, start: int) -> list[int]:
        """Where the places of the questions from ``start`` on that were just added begin, and where they end."""
        return torch.searchsorted(self._rows, self._rows.new_tensor((start, self._next))).tolist()

    def ranks(self, ties: Ties = "realistic") -> Ranks:
        """Ranks of all questions, in order.

        Args:
            ties: place of the truth among equal scores: in the middle, first, or last.
        """
        own, left_out = torch.cat(self._own), torch.cat(self._left_out)
        if not bool(own.isfinite().all()):
            raise ValueError(
                "expected finite scores for the true answers, got NaN or infinity; has the training diverged?"
            )
        rows, limits = self._rows, own[self._rows]

        def count(rows: Tensor) -> Tensor:
            return torch.bincount(rows, minlength=len(self.truth))

        better = torch.cat(self._better) - count(rows[left_out > limits])
        at_least = torch.cat(self._at_least) - count(rows[left_out >= limits])
        offset = {"optimistic": 0.0, "realistic": 0.5, "pessimistic": 1.0}[ties]
        # The truth is at least itself.
        return Ranks(1.0 + better + offset * (at_least - better - 1), self.entities - count(rows))


def _counts(scores: Tensor, limit: Tensor) -> tuple[Tensor, Tensor]:
    """How many scores of each row are larger than a number of its own, and how many at least as large."""
    if scores.device.type != "cpu":
        return (scores > limit).sum(1), (scores >= limit).sum(1)
    # A row's flags stay in the cache until they are counted: several times faster than tables of them.
    rows = (scores.float() if scores.dtype.itemsize < 4 else scores).detach().numpy()
    flags = np.empty(rows.shape[1], dtype=bool)
    counts = np.empty((2, len(rows)), dtype=np.int64)
    for number, (row, own) in enumerate(zip(rows, limit.tolist(), strict=True)):
        counts[0, number] = np.count_nonzero(np.greater(row, own[0], out=flags))
        counts[1, number] = np.count_nonzero(np.greater_equal(row, own[0], out=flags))
    better, at_least = torch.from_numpy(counts)
    return better, at_least


def filtered_ranks(
    scores: Tensor,
    truth: Tensor,
    known: tuple[Tensor, Tensor] | None = None,
    *,
    ties: Ties = "realistic",
    exclude: Tensor | None = None,
) -> Ranks:
    """The :class:`Ranking` of scores that are all there, ``(questions, entities)``.

    Example:
        >>> import torch
        >>> scores = torch.tensor([[0.9, 0.8, 0.7, 0.7]])
        >>> known = (torch.tensor([0, 0]), torch.tensor([0, 2]))
        >>> filtered_ranks(scores, torch.tensor([2]), known)
        Ranks(rank=tensor([2.5000]), candidates=tensor([3]))
    """
    ranking = Ranking(truth, scores.shape[1], known, exclude=exclude)
    ranking.add(scores)
    return ranking.ranks(ties)


def ranking_metrics(ranks: Ranks) -> dict[str, float]:
    """Mean reciprocal rank, hits at 1, 3 and 10, mean rank, and the mean rank relative to that of a random order.

    ``adjusted_mean_rank`` is 1 for random and small for good models; ``adjusted_mean_rank_index`` is 0 for random and 1
    for perfect ones. PyKEEN has the same figures as ``inverse_harmonic_mean_rank``, ``hits_at_k``,
    ``arithmetic_mean_rank``, ``adjusted_arithmetic_mean_rank`` and ``adjusted_arithmetic_mean_rank_index``.
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
