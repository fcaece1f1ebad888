"""Filtered ranking of a graph's held-out triples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from hybonet.data.triples import SplitName, TripleData
from hybonet.metrics.ranking import KnownAnswers, Ranks, Ties, filtered_ranks, ranking_metrics, relation_categories

Protocol = Literal["standard", "released"]


@dataclass(frozen=True)
class SplitRanks:
    """Ranks of a split's triples, for questions about tails and about heads."""

    relations: Tensor
    tails: Ranks
    heads: Ranks

    @property
    def both(self) -> Ranks:
        """All questions together."""
        return Ranks(
            torch.cat((self.tails.rank, self.heads.rank)), torch.cat((self.tails.candidates, self.heads.candidates))
        )

    def where(self, keep: Tensor) -> Ranks:
        """Both questions about some of the triples."""
        parts = [(r.rank[keep], r.candidates[keep]) for r in (self.tails, self.heads)]
        return Ranks(torch.cat([p[0] for p in parts]), torch.cat([p[1] for p in parts]))


@torch.no_grad()
def rank_split(
    model: nn.Module,
    data: TripleData,
    split: SplitName,
    *,
    protocol: Protocol = "standard",
    ties: Ties = "realistic",
    scores_at_once: int = 1 << 24,
) -> SplitRanks:
    """Filtered ranks of a split, both ways: every triple of the graph other than the question's own is left out.

    ``protocol="released"`` leaves out the question's own entity too, as the paper's released code does; it is easier.
    """
    triples = data.triples(split)
    known = KnownAnswers(data.with_reciprocals("all"), 2 * data.num_relations)
    sides = []
    for question, relation, truth in (
        (triples[:, 0], triples[:, 1], triples[:, 2]),
        (triples[:, 2], triples[:, 1] + data.num_relations, triples[:, 0]),
    ):
        ranks = []
        for rows in torch.arange(len(triples)).split(max(1, scores_at_once // data.num_entities)):
            heads, relations, tails = question[rows], relation[rows], truth[rows]
            scores = model(heads, relations)
            exclude = heads if protocol == "released" else None
            ranks.append(filtered_ranks(scores, tails, known.of(heads, relations), ties=ties, exclude=exclude))
        sides.append(Ranks(torch.cat([r.rank for r in ranks]), torch.cat([r.candidates for r in ranks])))
    return SplitRanks(triples[:, 1], *sides)


def evaluate(
    model: nn.Module,
    data: TripleData,
    split: SplitName = "test",
    *,
    protocol: Protocol = "standard",
    ties: Ties = "realistic",
) -> dict[str, Any]:
    """All metrics of a split: overall, by direction, by relation and by the relations' category."""
    ranks = rank_split(model, data, split, protocol=protocol, ties=ties)
    categories = relation_categories(data.train, data.num_relations)
    by_relation, by_category = {}, {}
    for relation in ranks.relations.unique().tolist():
        label = data.relations[relation]
        metrics = ranking_metrics(ranks.where(ranks.relations == relation))
        by_relation[label] = {"category": categories[relation], **metrics}
    for category in sorted({categories[r] for r in ranks.relations.tolist()}):
        member = torch.tensor([c == category for c in categories])
        by_category[category] = ranking_metrics(ranks.where(member[ranks.relations]))
    return {
        "split": split,
        "protocol": protocol,
        "ties": ties,
        "both": ranking_metrics(ranks.both),
        "tails": ranking_metrics(ranks.tails),
        "heads": ranking_metrics(ranks.heads),
        "by_relation": by_relation,
        "by_category": by_category,
    }
