"""Filtered ranking of a graph's held-out triples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from hybonet import kernels
from hybonet.data.hierarchies.hierarchy import Hierarchy
from hybonet.data.triples.hierarchical import hierarchical_relations
from hybonet.data.triples.triple_data import SplitName, TripleData
from hybonet.metrics.bootstrap import Interval, mean_intervals
from hybonet.metrics.probing import spearman
from hybonet.metrics.product_counts import ROWS, Tiles
from hybonet.metrics.ranking import KnownAnswers, Ranking, Ranks, Ties, ranking_metrics
from hybonet.metrics.relations import relation_categories
from hybonet.tasks.knowledge_graph.models.inner_product import InnerProductModel
from hybonet.tasks.knowledge_graph.models.tail_search import all_points
from hybonet.tasks.knowledge_graph.models.triple_model import TripleModel
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer

Protocol = Literal["standard", "paper_code"]
#: Of a model that is any function of heads and relations, scores of so many questions are asked for at a time.
_QUESTIONS = 64


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
        parts = self.of(keep)
        return Ranks(torch.cat([part.rank for part in parts]), torch.cat([part.candidates for part in parts]))

    def of(self, keep: Tensor) -> tuple[Ranks, Ranks]:
        """The questions about tails and about heads of some of the triples."""
        tails, heads = (Ranks(each.rank[keep], each.candidates[keep]) for each in (self.tails, self.heads))
        return tails, heads


def rank_split(
    model: nn.Module,
    data: TripleData,
    split: SplitName,
    *,
    protocol: Protocol = "standard",
    ties: Ties = "realistic",
) -> SplitRanks:
    """Filtered ranks of a split, both ways: every triple of the graph other than the question's own is left out.

    ``protocol="paper_code"`` leaves out the question's own entity too, as the paper's released code does; it is easier.
    """
    known = KnownAnswers(data.with_reciprocals("all"), 2 * data.num_relations)
    return rank_triples(model, data.triples(split), data, known, protocol=protocol, ties=ties)


@torch.no_grad()
def rank_triples(
    model: nn.Module,
    triples: Tensor,
    data: TripleData,
    known: KnownAnswers,
    *,
    protocol: Protocol = "standard",
    ties: Ties = "realistic",
) -> SplitRanks:
    """Ranks of any triples of a graph, both ways, among candidates that are not ``known`` to be true themselves."""
    device = next((parameter.device for parameter in model.parameters()), triples.device)
    sides = []
    for question, relation, truth in (
        (triples[:, 0], triples[:, 1], triples[:, 2]),
        (triples[:, 2], triples[:, 1] + data.num_relations, triples[:, 0]),
    ):
        order = relation.argsort(stable=True)  # what questions of a relation share is made once
        question, relation, truth = (each[order].to(device) for each in (question, relation, truth))
        exclude = question if protocol == "paper_code" else None
        ranking = Ranking(truth, data.num_entities, known.of(question, relation), exclude=exclude)
        _rank(ranking, model, question, relation)
        ranks, place = ranking.ranks(ties), order.argsort()
        sides.append(Ranks(ranks.rank.cpu()[place], ranks.candidates.cpu()[place]))
    return SplitRanks(triples[:, 1], *sides)


def _rank(ranking: Ranking, model: nn.Module, heads: Tensor, relations: Tensor) -> None:
    if not isinstance(model, InnerProductModel) or not kernels.run_on(model.entities.weight):
        for scores in _all_scores(model, heads, relations):
            ranking.add(scores)
        return
    tiles = None
    for left, right, own, loop in model.products(heads, relations, ROWS):
        if tiles is None or tiles.right is not right:
            tiles = Tiles(right)
        ranking.add_product(left, tiles, None if loop is None else (own, loop))


def _all_scores(model: nn.Module, heads: Tensor, relations: Tensor) -> Iterator[Tensor]:
    if isinstance(model, TripleModel):
        return model.all_scores(heads, relations)
    return (model(h, r) for h, r in zip(heads.split(_QUESTIONS), relations.split(_QUESTIONS), strict=True))


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
        own = ranks.relations == relation
        metrics = {**ranking_metrics(ranks.where(own)), "interval": _intervals(*ranks.of(own))}
        by_relation[label] = {"category": categories[relation], **metrics}
    for category in sorted({categories[r] for r in ranks.relations.tolist()}):
        member = torch.tensor([c == category for c in categories])
        own = member[ranks.relations]
        by_category[category] = {**ranking_metrics(ranks.where(own)), "interval": _intervals(*ranks.of(own))}
    return {
        "split": split,
        "protocol": protocol,
        "ties": ties,
        "both": {**ranking_metrics(ranks.both), "interval": _intervals(ranks.tails, ranks.heads)},
        "tails": {**ranking_metrics(ranks.tails), "interval": _intervals(ranks.tails)},
        "heads": {**ranking_metrics(ranks.heads), "interval": _intervals(ranks.heads)},
        "by_relation": by_relation,
        "by_category": by_category,
    }


def _intervals(*sides: Ranks) -> dict[str, Interval]:
    """Intervals of the measures between 0 and 1; both questions about a triple are one case."""
    ranks = torch.stack([each.rank.double() for each in sides])
    values = {"mrr": (1.0 / ranks).mean(0)}
    values |= {f"hits@{k}": (ranks <= k).double().mean(0) for k in (1, 3, 10)}
    return mean_intervals(values)


@torch.no_grad()
def radius_and_depth(model: nn.Module, data: TripleData) -> dict[str, float] | None:
    """Whether the radius of an entity says how general it is, by the validation triples of the hierarchical relation.

    ``spearman`` is the rank correlation of radius and depth in the training triples, over the entities of these
    triples; ``farther_out`` the share of them whose head (child) lies farther out than its tail. None of models without
    radii, and of graphs without a hierarchy.
    """
    names = hierarchical_relations(data) if isinstance(model, TripleScorer) else []
    if not names or not isinstance(model, TripleScorer):
        return None
    of = [data.relations.find(name) for name in names]
    links, held = (part[torch.isin(part[:, 1], torch.tensor(of))][:, [0, 2]].cpu() for part in (data.train, data.valid))
    hierarchy = Hierarchy.from_edges((str(child), str(parent)) for child, parent in links.tolist())
    depth = torch.full((data.num_entities,), -1)
    depth[torch.tensor([int(name) for name in hierarchy.names])] = hierarchy.depths
    entities = held.unique()
    entities = entities[depth[entities] >= 0]
    if len(entities) < 2:
        return None
    radius = model.manifold.dist0(all_points(model)).cpu()
    return {
        "spearman": float(spearman(radius[entities], depth[entities].double())),
        "farther_out": float((radius[held[:, 0]] > radius[held[:, 1]]).double().mean()),
        "entities": float(len(entities)),
    }
