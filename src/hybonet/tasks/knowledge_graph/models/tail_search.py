"""The best tails of many questions among very many entities, without all scores in memory."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from hybonet.tasks.knowledge_graph.models.triple_model import TripleModel
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer

#: Questions at a time, and scores at a time: few enough that the scores of a step stay in the processor's cache.
_QUESTIONS, _SCORES = 128, 1 << 18
#: Entities are first compared by the best of so many.
_BLOCK = 64
#: Candidates that are scored once more at a time, all questions together.
_CANDIDATES = 1 << 17


@dataclass(frozen=True)
class BestTails:
    """Answers to B questions, best first.

    Attributes:
        entities: ``(B, top)`` ids.
        scores: ``(B, top)``; minus infinity where a question has fewer candidates.
        log_total: ``(B,)`` log of the sum of exp(score) over all entities, so that exp(score - log_total) is the
            softmax; None from a search that does not see all scores.
    """

    entities: Tensor
    scores: Tensor
    log_total: Tensor | None


def all_points(scorer: TripleScorer) -> Tensor:
    """The points of all entities as the scorer sees them, ``(num_entities, dim)``, made a part at a time."""
    weight = scorer.entities.weight
    points = torch.empty_like(weight, requires_grad=False)
    with torch.no_grad():
        for ids in torch.arange(len(weight), device=weight.device).split(1 << 16):
            points[ids[0] : ids[-1] + 1] = scorer.entities(ids)
    return points


class TailSearch:
    """Exact search by matrix products over a few thousand entities at a time.

    Of every block of 64 entities only the best score is kept: the ``top`` best tails lie in the ``top`` best blocks,
    and are looked for there. In memory are the scores of one step and the best of each block, of 128 questions at most.

    It scores triples in one direction; for both there is :class:`ScoreSearch`.

    The points are prepared once: make a new search after a change of the scorer's weights.
    """

    def __init__(self, scorer: TripleScorer) -> None:
        self.scorer = scorer
        missing = -scorer.num_entities % _BLOCK
        # Whole blocks: what is added has no chance of being an answer and no share in the softmax.
        self._points = torch.nn.functional.pad(all_points(scorer), (0, 0, 0, missing))
        self._bias = torch.nn.functional.pad(scorer.tail_bias.detach(), (0, missing), value=-torch.inf)

    @torch.no_grad()
    def best(
        self, heads: Tensor, relations: Tensor, top: int = 10, leave_out: tuple[Tensor, Tensor] | None = None
    ) -> BestTails:
        """The ``top`` best tails of every (head, relation).

        Args:
            heads, relations: ``(B,)``, reciprocal relations included.
            leave_out: rows and entities that are no answers (:meth:`hybonet.metrics.ranking.KnownAnswers.of`). They
                keep their share in ``log_total``.
        """
        top = min(top, self.scorer.num_entities)
        rows, entities = leave_out or (heads[:0], heads[:0])
        parts = []
        for start in range(0, len(heads), _QUESTIONS):
            chosen = slice(start, start + _QUESTIONS)
            here = (rows >= start) & (rows < start + _QUESTIONS)
            query, offset = self.scorer.queries(heads[chosen], relations[chosen])
            extra = self.scorer.loop_score(relations[chosen])  # what the entities asked about have on top
            loops = heads[chosen], self._bias.new_zeros(len(query)) if extra is None else extra
            found, scores, log_total = self._search(query, top, rows[here] - start, entities[here], loops)
            parts.append((found, scores + offset[:, None], log_total + offset))
        if not parts:
            nothing = heads.new_zeros(0, top)
            return BestTails(nothing, nothing.to(self._bias.dtype), self._bias.new_zeros(0))
        return BestTails(*(torch.cat(column) for column in zip(*parts, strict=True)))

    def _search(
        self, query: Tensor, top: int, rows: Tensor, entities: Tensor, loops: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, Tensor, Tensor]:
        maxima, log_total = self._scan(query, rows, entities, loops)
        blocks = maxima.topk(min(top, maxima.shape[1])).indices
        candidates = (blocks[..., None] * _BLOCK + torch.arange(_BLOCK, device=query.device)).flatten(1)
        pair = len(self._bias) * torch.arange(len(query), device=query.device)  # plus the entity: one number per pair
        left_out = torch.isin(candidates + pair[:, None], entities + pair[rows])
        scores = torch.empty_like(candidates, dtype=query.dtype)
        for part in torch.arange(len(query)).split(max(1, _CANDIDATES // (top * _BLOCK))):
            inner = torch.bmm(self._points[candidates[part]], query[part].unsqueeze(-1)).squeeze(-1)
            scores[part] = inner + self._bias[candidates[part]]
        scores += torch.where(candidates == loops[0][:, None], loops[1][:, None], 0.0)
        best = scores.masked_fill_(left_out, -torch.inf).topk(top)
        return candidates.gather(1, best.indices), best.values, log_total

    def _scan(
        self, query: Tensor, rows: Tensor, entities: Tensor, loops: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, Tensor]:
        """The best score of every block, without those left out, and the log of the sum of exp of all scores."""
        step = max(_BLOCK, _SCORES // len(query) // _BLOCK * _BLOCK)
        starts = torch.arange(0, len(self._bias), step)
        order = entities.argsort()
        rows, entities = rows[order], entities[order]
        first = [*torch.searchsorted(entities, starts.to(entities.device)).tolist(), len(entities)]
        maxima = query.new_empty(len(query), len(self._bias) // _BLOCK)
        log_total = query.new_full((len(query),), -torch.inf, dtype=torch.float64)
        for number, start in enumerate(starts.tolist()):
            points, bias = self._points[start : start + step], self._bias[start : start + step]
            scores = torch.addmm(bias, query, points.T)
            asked = ((loops[0] >= start) & (loops[0] < start + step)).nonzero().flatten()
            scores[asked, loops[0][asked] - start] += loops[1][asked]
            blocks = scores.unflatten(1, (-1, _BLOCK)).amax(-1)
            peak = blocks.amax(1, keepdim=True)
            hidden = slice(first[number], first[number + 1])
            if first[number] < first[number + 1]:
                place = (rows[hidden], entities[hidden] - start)
                values = scores[place]
                scores[place] = -torch.inf
                blocks = scores.unflatten(1, (-1, _BLOCK)).amax(-1)
                scores[place] = values
            maxima[:, start // _BLOCK : start // _BLOCK + blocks.shape[1]] = blocks
            part = scores.sub_(peak).exp_().sum(1).log_() + peak.squeeze(1)
            log_total = torch.logaddexp(log_total, part.double())
        return maxima, log_total


class ScoreSearch:
    """Search by all scores, a few questions at a time: for scores that are no inner products, or of both directions."""

    def __init__(self, scorer: TripleModel) -> None:
        self.scorer = scorer

    @torch.no_grad()
    def best(
        self, heads: Tensor, relations: Tensor, top: int = 10, leave_out: tuple[Tensor, Tensor] | None = None
    ) -> BestTails:
        """As :meth:`TailSearch.best`."""
        top = min(top, self.scorer.num_entities)
        order = relations.argsort(stable=True)  # what questions of a relation share is made once
        place = order.argsort()
        rows, entities = leave_out or (heads[:0], heads[:0])
        rows = place[rows]
        parts, start = [(heads.new_zeros(0, top), torch.zeros(0, top), torch.zeros(0))], 0
        for scores in self.scorer.all_scores(heads[order], relations[order]):
            here = (rows >= start) & (rows < start + len(scores))
            log_total = torch.logsumexp(scores, dim=1)
            scores[rows[here] - start, entities[here]] = -torch.inf
            best = scores.topk(top)
            parts.append((best.indices, best.values, log_total))
            start += len(scores)
        return BestTails(*(torch.cat(column)[place] for column in zip(*parts, strict=True)))


Search = TailSearch | ScoreSearch


def search_for(scorer: TripleModel) -> Search:
    """The search that knows how a model scores triples."""
    plain = isinstance(scorer, TripleScorer) and not scorer.scores_both_directions
    return TailSearch(scorer) if plain else ScoreSearch(scorer)  # type: ignore[arg-type]
