"""The best tails of many questions from a faiss index (extra ``faiss``)."""

from __future__ import annotations

import torch
from torch import Tensor

from hybonet.extras import needed
from hybonet.tasks.knowledge_graph.models.tail_search import BestTails, all_points
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer


class FaissTailSearch:
    """Search in a flat inner-product index, exact but for float32 rounding.

    The score is linear in the tail's coordinates and its bias: with the bias as one more coordinate, the largest inner
    products are the best scores. The index returns these alone, so ``log_total`` (for probabilities) is None: to know
    it, one would have to score all entities a second time.

    It scores triples in one direction (``TripleModel.score_both_directions``).

    Made once: make a new one after a change of the scorer's weights.
    """

    def __init__(self, scorer: TripleScorer) -> None:
        faiss = needed("faiss", "a search by an index", "faiss")
        self.scorer = scorer
        vectors = torch.cat((all_points(scorer), scorer.tail_bias.detach()[:, None]), dim=1)
        self.index = faiss.IndexFlatIP(vectors.shape[1])
        self.index.add(vectors.float().cpu().numpy())

    @torch.no_grad()
    def best(
        self, heads: Tensor, relations: Tensor, top: int = 10, leave_out: tuple[Tensor, Tensor] | None = None
    ) -> BestTails:
        """As :meth:`hybonet.tasks.knowledge_graph.models.tail_search.TailSearch.best`, without ``log_total``."""
        if self.scorer.loop_bias is None:
            return self._best(heads, relations, top, leave_out)
        # The index knows no loops: find one answer more, and let the entity asked about enter with its own score.
        rows, entities = leave_out or (heads[:0], heads[:0])
        hidden = torch.zeros_like(heads, dtype=torch.bool)
        hidden[rows[entities == heads[rows]]] = True
        plain = self._best(heads, relations, top + 1, leave_out)
        scores = plain.scores.masked_fill(plain.entities == heads[:, None], -torch.inf)
        loop = self.scorer.one_direction(heads, relations, heads).masked_fill(hidden, -torch.inf)
        scores = torch.cat((scores, loop.to(scores)[:, None]), dim=1)
        best = scores.topk(min(top, self.scorer.num_entities))
        found = torch.cat((plain.entities, heads[:, None]), dim=1)
        return BestTails(found.gather(1, best.indices), best.values, None)

    def _best(self, heads: Tensor, relations: Tensor, top: int, leave_out: tuple[Tensor, Tensor] | None) -> BestTails:
        count = self.scorer.num_entities
        top = min(top, count)
        rows, entities = leave_out or (heads[:0], heads[:0])
        # The index cannot leave out: ask for as many more as may have to go.
        more = int(torch.bincount(rows).max()) if len(rows) else 0
        query, offset = self.scorer.queries(heads, relations)
        vectors = torch.cat((query, torch.ones_like(offset)[:, None]), dim=1)
        values, ids = self.index.search(vectors.float().cpu().numpy(), min(top + more, count))
        found, scores = torch.from_numpy(ids).to(heads.device), torch.from_numpy(values).to(offset)
        pair = count * torch.arange(len(heads), device=heads.device)
        scores.masked_fill_(torch.isin(found + pair[:, None], entities + pair[rows]), -torch.inf)
        best = scores.topk(top)
        return BestTails(found.gather(1, best.indices), best.values + offset[:, None], None)
