"""Knowledge-graph completion as a task of the training loop."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from hybonet.data.triples.hierarchical import hierarchical_relations
from hybonet.data.triples.triple_data import TripleData
from hybonet.geometry import Lorentz
from hybonet.kernels.inner_softmax import Places
from hybonet.metrics.ranking import KnownAnswers, KnownTriples, ranking_metrics
from hybonet.metrics.relations import direction_shares, symmetric_share
from hybonet.optim import RiemannianAdam
from hybonet.tasks.knowledge_graph import models as baselines
from hybonet.tasks.knowledge_graph.distillation import TeacherAnswers
from hybonet.tasks.knowledge_graph.evaluation import evaluate, rank_split
from hybonet.tasks.knowledge_graph.inner_product_loss import Choice, SoftAnswers, inner_product_loss
from hybonet.tasks.knowledge_graph.losses import all_entities_loss, binary_loss_against, regularisation, triple_loss
from hybonet.tasks.knowledge_graph.models.inner_product import InnerProductModel
from hybonet.tasks.knowledge_graph.models.triple_model import TripleModel
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
from hybonet.tasks.knowledge_graph.settings import (
    HyboNetSettings,
    KnowledgeGraphSettings,
    LorentzSettings,
    TranslationalSettings,
)
from hybonet.training import generator_for

__all__ = ["Batch", "KnowledgeGraphSettings", "KnowledgeGraphTask", "evaluate", "rank_split"]

#: How much nearer to the origin than its child a parent is to be, in units of the space.
_RADIUS_STEP = 0.1


@dataclass(frozen=True)
class Batch:
    """Triples with the candidates that their tails are compared with: own ones ``(B, n)``, a pool ``(P,)``, or all.

    ``weight`` is that of a triple in the mean over the batch; where several processes share one, so that the mean of
    their losses is the mean over all its triples. ``soft`` are answers that teachers give besides.
    """

    heads: Tensor
    relations: Tensor
    tails: Tensor
    candidates: Tensor | None
    weight: float
    soft: SoftAnswers | None = None

    def to(self, device: str) -> Batch:
        """The same on a device."""
        candidates = None if self.candidates is None else self.candidates.to(device)
        soft = None if self.soft is None else SoftAnswers(*(part.to(device) for part in self.soft))
        heads, relations, tails = (each.to(device) for each in (self.heads, self.relations, self.tails))
        return Batch(heads, relations, tails, candidates, self.weight, soft)


class KnowledgeGraphTask:
    """Fills in :class:`~hybonet.training.Task` for a knowledge graph.

    Args:
        teacher: answers of trained models to learn from, besides the triples.
    """

    name = "kg"
    monitor, monitor_label, unit = "mrr", "validation MRR", "triples/s"
    higher_is_better = True

    def __init__(
        self, settings: KnowledgeGraphSettings, data: TripleData, teacher: TeacherAnswers | None = None
    ) -> None:
        if not len(data.valid):
            raise ValueError(
                f"expected validation triples to choose the best model by, but {data.source} has none; "
                "give a valid file, or one file to split"
            )
        if teacher is not None:
            check_teachable(settings)
        if not isinstance(settings, LorentzSettings):
            getattr(baselines, settings.model)(1, 1, settings.dim)  # a size that it cannot have is refused at once
        self.settings, self.data, self.teacher = settings, data, teacher
        #: What the record says of the models that were asked.
        self.teachers: list[dict[str, Any]] = []
        both = 2 * data.num_relations
        if settings.filter_negatives:
            self.known_answers = KnownAnswers(data.with_reciprocals("train"), both)
            self.known_triples = KnownTriples(data.with_reciprocals("train"), data.num_entities, both)
        self.symmetric = torch.zeros(data.num_relations, dtype=torch.bool)
        tied = isinstance(settings, LorentzSettings) and settings.tie_symmetric
        if tied or settings.symmetric_logit_scale is not None:
            self.symmetric = symmetric_share(data.train, data.num_entities, data.num_relations) > 0.5
        self.logit_scale = torch.full((data.num_relations,), settings.logit_scale)
        if settings.symmetric_logit_scale is not None:
            self.logit_scale[self.symmetric] = settings.symmetric_logit_scale
        self.scales_logits = bool((self.logit_scale != 1).any())
        self.hierarchical: Tensor | None = None
        if isinstance(settings, LorentzSettings) and settings.radius_order:
            self.hierarchical = _hierarchical(data)
        weighed = settings.bernoulli
        # A random tail is rarely right where a head has few tails, so that direction weighs more; 1 on average.
        self.relation_weights = 2 * direction_shares(data.train, data.num_relations) if weighed else None

    def build_model(self) -> TripleModel:
        model = self._build_model()
        model.entities.sparse = self.settings.sparse_updates
        score_with_inverse(model, self.data, self.settings.inverse_weight, self.settings.inverse_power)
        if self.settings.loss == "softmax" and hasattr(model, "head_bias"):
            # It is added to all answers of a question alike, which softmax does not see: it would follow rounding.
            model.head_bias.requires_grad_(False)
        return model

    def _build_model(self) -> TripleModel:
        s, counts = self.settings, (self.data.num_entities, self.data.num_relations)
        if not isinstance(s, LorentzSettings):
            margin = {"margin": s.margin} if isinstance(s, TranslationalSettings) else {}
            return getattr(baselines, s.model)(*counts, s.dim, dropout=s.dropout, **margin)
        return TripleScorer(
            *counts,
            s.dim,
            max_norm=s.max_norm,
            margin=s.margin,
            dropout=s.dropout,
            init_std=s.init_std,
            loop_bias=s.loop_bias,
            symmetric=self.symmetric.nonzero().flatten().tolist() if s.tie_symmetric else (),
            **({"scale": s.scale} if isinstance(s, HyboNetSettings) else {"transform": "tangent"}),
            manifold=Lorentz(s.K, learnable=s.learn_curvature),
        )

    def build_optimizer(self, model: nn.Module) -> RiemannianAdam:
        s = self.settings
        update: Literal["exact", "chart"] = "chart"
        if isinstance(s, LorentzSettings) and s.optimizer == "riemannian":
            update = "exact"
        # Plain Adam in the chart: its own scaling by coordinate makes the metric's superfluous here.
        return RiemannianAdam(model, lr=s.lr, update=update, precondition=False)

    def batches_per_epoch(self) -> int:
        return -(-2 * len(self.data.train) // self.settings.batch_size)

    def batches(self, epoch: int, start: int, rank: int = 0, world: int = 1) -> Iterator[Batch]:
        s = self.settings
        if s.sparse_updates and world > 1:
            raise ValueError("expected sparse_updates=false with several processes, which exchange whole gradients")
        order = torch.randperm(2 * len(self.data.train), generator=generator_for(s.seed, epoch, 0))
        for number in range(start, self.batches_per_epoch()):
            chosen = order[number * s.batch_size : (number + 1) * s.batch_size]
            mine, weight = slice(rank, None, world), world / len(chosen)
            if rank >= len(chosen):  # a triple for company: every process takes part in every exchange of gradients
                mine, weight = slice(1), 0.0
            candidates = None
            if s.negative_sampling != "all":
                shape = (len(chosen), s.negatives) if s.negative_sampling == "per_triple" else (s.negatives,)
                generator = generator_for(s.seed, epoch, number + 1)
                candidates = torch.randint(self.data.num_entities, shape, generator=generator)
                # A pool has each entity once, in order: which of them a question knows is then quickly found.
                candidates = candidates[mine] if s.negative_sampling == "per_triple" else candidates.unique()
            heads, relations, tails = self._triples(chosen[mine])
            yield Batch(heads, relations, tails, candidates, weight, self._soft_answers(heads, relations))

    def _triples(self, numbers: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Heads, relations and tails of the training triples followed by their reciprocals, by number.

        Reciprocals are made here: as a whole they would take twice the memory of the graph.
        """
        train = self.data.train
        head, relation, tail = train.index_select(0, numbers % len(train)).unbind(1)
        backwards = numbers >= len(train)
        relation = torch.add(relation, backwards, alpha=self.data.num_relations)
        return torch.where(backwards, tail, head), relation, torch.where(backwards, head, tail)

    def _soft_answers(self, heads: Tensor, relations: Tensor) -> SoftAnswers | None:
        """What the teachers answer to the questions of a batch."""
        if self.teacher is None:
            return None
        entities, probability = self.teacher.of(heads, relations)
        return SoftAnswers(entities, self.settings.distillation_weight * probability)

    def loss(self, model: TripleModel, batch: Batch) -> Tensor:
        s = self.settings
        batch = batch.to(s.device)
        weight = torch.full((len(batch.heads),), batch.weight, device=s.device)
        if self.relation_weights is not None:
            weight = weight * self.relation_weights.to(s.device)[batch.relations]
        if s.loss == "softmax" and s.negative_sampling != "per_triple" and isinstance(model, InnerProductModel):
            loss = self._softmax_loss(model, batch, weight)
        elif batch.candidates is None:
            loss = (weight * self._loss_against_all(model, batch)).sum()
        else:
            loss = (weight * self._loss_against_candidates(model, batch)).sum()
        if s.regularizer != "none":
            touched = [model.penalised(batch.heads), model.penalised(batch.tails)]
            share = s.regularization * batch.weight * len(batch.heads)
            loss = loss + share * regularisation(touched, 2 if s.regularizer == "l2" else 3)
        if self.hierarchical is not None and isinstance(model, TripleScorer):
            loss = loss + s.radius_order * batch.weight * self._radii_in_order(model, batch)  # type: ignore[attr-defined]
        return loss

    def _radii_in_order(self, model: TripleScorer, batch: Batch) -> Tensor:
        """How far the parents of the batch are from lying a step nearer to the origin than their children."""
        assert self.hierarchical is not None
        of = self.hierarchical.to(batch.relations.device)
        total, back = torch.zeros((), device=batch.relations.device), batch.relations >= self.data.num_relations
        for chosen, child, parent in ((~back, batch.heads, batch.tails), (back, batch.tails, batch.heads)):
            chosen = chosen & of[batch.relations % self.data.num_relations]
            outer = model.manifold.dist0(model.points(child[chosen]))
            # As it is stored: where max_norm clips it, only so can it come nearer.
            inner = model.manifold.dist0(model.manifold.lift(model.penalised(parent[chosen])))
            total = total + torch.relu(_RADIUS_STEP + inner - outer).sum()
        return total

    def _softmax_loss(self, model: InnerProductModel, batch: Batch, weight: Tensor) -> Tensor:
        """The fused loss of models whose scores are inner products."""
        s = self.settings
        known = Places(*self.known_answers.of(batch.heads, batch.relations)) if s.filter_negatives else None
        total = self.data.num_entities if s.negative_sampling == "shared" else None
        logit_scale = self._logit_scale_of(batch)
        choice = Choice(weight, known, s.label_smoothing, total, logit_scale, batch.soft)
        return inner_product_loss(model, batch.heads, batch.relations, batch.tails, choice, pool=batch.candidates)

    def _loss_against_all(self, model: TripleModel, batch: Batch) -> Tensor:
        s = self.settings
        scores = self._scaled(model(batch.heads, batch.relations), batch)
        if s.filter_negatives:
            scores = self._without_known(scores, batch)
        return all_entities_loss(
            s.loss,
            scores,
            batch.tails,
            smoothing=s.label_smoothing,
            temperature=s.adversarial_temperature,
            masked=s.filter_negatives,
        )

    def _loss_against_candidates(self, model: TripleModel, batch: Batch) -> Tensor:
        s, candidates = self.settings, batch.candidates
        assert candidates is not None
        if s.negative_sampling == "per_triple":
            every = torch.cat((batch.tails[:, None], candidates), dim=1)
            scores = model(batch.heads, batch.relations, every)
        else:
            scores = model(batch.heads, batch.relations, batch.tails[:, None], pool=candidates)
        scores = self._scaled(scores, batch)
        wrong = candidates != batch.tails[:, None]  # the right tail is no candidate against itself
        if s.filter_negatives:
            wrong &= ~self.known_triples.contain(batch.heads[:, None], batch.relations[:, None], candidates)
        if s.loss == "bce" and not s.label_smoothing:
            return binary_loss_against(scores, wrong)
        others_in_all = torch.full_like(batch.tails, self.data.num_entities - 1)
        if s.filter_negatives:
            rows, answers = self.known_answers.of(batch.heads, batch.relations)
            others_in_all -= torch.bincount(rows[answers != batch.tails[rows]], minlength=len(batch.tails))
        return triple_loss(
            s.loss,
            scores[:, 0],
            scores[:, 1:].masked_fill(~wrong, -torch.inf),
            smoothing=s.label_smoothing,
            temperature=s.adversarial_temperature,
            total=others_in_all,
        )

    def _scaled(self, scores: Tensor, batch: Batch) -> Tensor:
        return scores * self._logit_scale_of(batch)[:, None] if self.scales_logits else scores

    def _logit_scale_of(self, batch: Batch) -> Tensor:
        return self.logit_scale.to(batch.relations.device)[batch.relations % self.data.num_relations]

    def _without_known(self, scores: Tensor, batch: Batch) -> Tensor:
        """Scores with the training triples' other right answers out of the way."""
        rows, answers = self.known_answers.of(batch.heads, batch.relations)
        other = answers != batch.tails[rows]
        hidden = torch.zeros_like(scores, dtype=torch.bool)
        hidden[rows[other], answers[other]] = True
        return scores.masked_fill(hidden, -torch.inf)

    @property
    def validation_cases(self) -> int:
        """Questions that a validation asks."""
        return 2 * len(self.data.valid)

    def validate(self, model: nn.Module) -> dict[str, float]:
        return ranking_metrics(rank_split(model, self.data, "valid").both)

    def describe(self) -> dict[str, Any]:
        data = self.data
        return {
            "task": self.name,
            "protocol": "filtered ranking of tails and heads, ties realistic",
            "data": {"source": data.source, "sha256": dict(data.sha256), **data.statistics()},
        }


def _hierarchical(data: TripleData) -> Tensor:
    """Which relations lead from child to parent, ``(relations,)``."""
    names = hierarchical_relations(data)
    if not names:
        raise ValueError(
            f"expected a relation of {data.source} that makes a hierarchy with radius_order, got none without circles, "
            "of three levels or more, and with many heads to a tail; leave it out"
        )
    member = torch.zeros(data.num_relations, dtype=torch.bool)
    member[[data.relations.find(name) for name in names]] = True
    return member


def score_with_inverse(model: TripleModel, graph: TripleData, weight: float, power: float) -> None:
    """Let a model score triples in both directions, with the settings ``inverse_weight`` and ``inverse_power``."""
    if not 0 <= weight < 1 or not math.isfinite(power):
        raise ValueError(
            "expected a weight of the inverse direction from 0 to below 1 and a finite power, "
            f"got inverse_weight={weight:g} and inverse_power={power:g}"
        )
    model.score_both_directions(direction_shares(graph.train, graph.num_relations, power, weight) if weight else None)


def check_teachable(settings: KnowledgeGraphSettings) -> None:
    """Refuse settings whose loss has no place for the answers of teachers."""
    name = settings.model
    scored = isinstance(settings, LorentzSettings) or issubclass(getattr(baselines, name), InnerProductModel)
    if settings.loss != "softmax" or settings.negative_sampling == "per_triple" or not scored:
        raise ValueError(
            "expected loss=softmax, negative_sampling=shared or all, and a model that scores by inner products with a "
            f"teacher, got loss={settings.loss}, negative_sampling={settings.negative_sampling}, model={name}; "
            "change them, or leave it out"
        )
