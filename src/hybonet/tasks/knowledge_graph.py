"""Knowledge-graph completion: train a triple scorer, and measure it by filtered ranking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from hybonet.data.triples import SplitName, TripleData
from hybonet.geometry import Lorentz
from hybonet.metrics.ranking import KnownAnswers, Ranks, Ties, filtered_ranks, ranking_metrics, relation_categories
from hybonet.models import TripleScorer
from hybonet.optim import RiemannianAdam
from hybonet.training import LoopSettings, generator_for

Protocol = Literal["standard", "released"]


class KnowledgeGraphSettings(LoopSettings):
    """Everything a training of :class:`~hybonet.models.TripleScorer` depends on, the data apart.

    Example:
        >>> KnowledgeGraphSettings(dim=16).loss
        'softmax'
    """

    dim: int = Field(32, ge=2, description="coordinates of an entity, time included: dim - 1 hyperbolic dimensions")
    batch_size: int = Field(500, ge=1, description="triples a batch; each triple is there twice, read both ways")
    loss: Literal["bce", "softmax"] = Field(
        "softmax",
        description="softmax: the right tail against all entities at once; bce (the paper): right or wrong, binary "
        "cross-entropy against random tails",
    )
    negatives: int = Field(50, ge=1, description="bce: random tails, taken as wrong, for each triple")
    label_smoothing: float = Field(
        0.0, ge=0, lt=1, description="softmax: share of the target spread over all entities, against overconfidence"
    )
    optimizer: Literal["riemannian", "chart"] = Field(
        "chart",
        description="how entities are moved. chart: Adam on the space coordinates (the chart), from which time "
        "follows; riemannian (the paper): along geodesics",
    )
    lr: float = Field(0.005, gt=0, description="learning rate: the size of a step")
    margin: float = Field(
        8.0, description="added to every score; bce: the squared distance below which a triple counts as right"
    )
    max_norm: float | None = Field(
        1.5, gt=0, description="longest space part an entity may have, so that none runs far out; none: no bound"
    )
    scale: float = Field(
        2.5, gt=0, description="lambda of the relations' maps: how far out (in time) a relation can take an entity"
    )
    dropout: float = Field(0.0, ge=0, lt=1, description="share of a head's coordinates set to 0 at random in training")
    K: float = Field(-1.0, lt=0, description="curvature of the space, below 0")
    learn_curvature: bool = Field(False, description="train the curvature too, from K on")


@dataclass(frozen=True)
class Batch:
    """Triples with their negatives (none for losses against all entities)."""

    heads: Tensor
    relations: Tensor
    tails: Tensor
    negatives: Tensor | None


class KnowledgeGraphTask:
    """Fills in :class:`~hybonet.training.Task` for a knowledge graph."""

    name = "kg"
    monitor = "mrr"
    higher_is_better = True

    def __init__(self, settings: KnowledgeGraphSettings, data: TripleData) -> None:
        if not len(data.valid):
            raise ValueError(
                f"expected validation triples to choose the best model by, but {data.source} has none; "
                "give a valid file, or one file to split"
            )
        self.settings, self.data = settings, data
        self.triples = data.with_reciprocals("train")

    def build_model(self) -> TripleScorer:
        s = self.settings
        return TripleScorer(
            self.data.num_entities,
            self.data.num_relations,
            s.dim,
            max_norm=s.max_norm,
            scale=s.scale,
            margin=s.margin,
            dropout=s.dropout,
            manifold=Lorentz(s.K, learnable=s.learn_curvature),
        )

    def build_optimizer(self, model: nn.Module) -> RiemannianAdam:
        update: Literal["exact", "chart"] = "exact" if self.settings.optimizer == "riemannian" else "chart"
        # Plain Adam in the chart: its own scaling by coordinate makes the metric's superfluous here.
        return RiemannianAdam(model, lr=self.settings.lr, update=update, precondition=False)

    def batches_per_epoch(self) -> int:
        return -(-len(self.triples) // self.settings.batch_size)

    def batches(self, epoch: int, start: int, rank: int = 0, world: int = 1) -> Iterator[Batch]:
        seed, size = self.settings.seed, self.settings.batch_size
        order = torch.randperm(len(self.triples), generator=generator_for(seed, epoch, 0))
        for number in range(start, self.batches_per_epoch()):
            chosen = self.triples[order[number * size : (number + 1) * size]]
            negatives = None
            if self.settings.loss == "bce":
                generator = generator_for(seed, epoch, number + 1)
                shape = (len(chosen), self.settings.negatives)
                negatives = torch.randint(self.data.num_entities, shape, generator=generator)[rank::world]
            heads, relations, tails = chosen[rank::world].unbind(1)
            yield Batch(heads, relations, tails, negatives)

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        if batch.negatives is None:
            scores = model(batch.heads, batch.relations)
            return F.cross_entropy(scores, batch.tails, label_smoothing=self.settings.label_smoothing)
        candidates = torch.cat((batch.tails[:, None], batch.negatives), dim=1)
        scores = model(batch.heads, batch.relations, candidates)
        target = torch.zeros_like(scores)
        target[:, 0] = 1.0
        return F.binary_cross_entropy_with_logits(scores, target)

    def validate(self, model: nn.Module) -> dict[str, float]:
        return ranking_metrics(rank_split(model, self.data, "valid").both)

    def describe(self) -> dict[str, Any]:
        data = self.data
        return {
            "task": self.name,
            "protocol": "filtered ranking of tails and heads, ties realistic",
            "data": {"source": data.source, "sha256": dict(data.sha256), **data.statistics()},
        }


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
