"""Let PyKEEN's evaluators and prediction functions run on a trained scorer of triples (extra ``pykeen``); its
``pipeline()`` trains :class:`hybonet.tasks.knowledge_graph.pykeen.HyboNet`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from pykeen.models import Model
from pykeen.triples import TriplesFactory
from pykeen.triples.triples_factory import KGInfo
from pykeen.utils import NoRandomSeedNecessary
from torch import Tensor, nn

from hybonet.data.triples.triple_data import SplitName, TripleData


def triples_factory(graph: TripleData, split: SplitName = "train", *, inverse: bool = False) -> TriplesFactory:
    """A part of a graph as PyKEEN keeps it, under the same ids; with inverse triples if that is asked for.

    Example:
        >>> from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
        >>> factory = triples_factory(TripleData.from_labels([("dog", "is a", "canine")]))
        >>> factory.entity_to_id
        {'canine': 0, 'dog': 1}
    """
    return TriplesFactory(
        graph.triples(split),
        entity_to_id={label: number for number, label in enumerate(graph.entities)},
        relation_to_id={label: number for number, label in enumerate(graph.relations)},
        create_inverse_triples=inverse,
        metadata={"source": graph.source},
    )


class PykeenModel(Model):
    """A ``TripleScorer`` in PyKEEN's clothes, to evaluate and to predict.

    Tails are scored by the relation itself, heads by its inverse, as our own evaluation does.

    Args:
        scorer: takes ``(heads, relations)``, ``(heads, relations, tails)`` or ``(heads, relations, pool=tails)``, as a
            ``TripleModel`` does; its relation ``r + num_relations`` is the inverse of r.
        triples_factory: the graph (:func:`triples_factory`), with inverse triples or without: the scorer has its own.
        options: of PyKEEN's ``Model``, such as the loss.

    Example:
        >>> from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
        >>> factory = triples_factory(TripleData.from_labels([("dog", "is a", "canine")]))
        >>> PykeenModel(TripleScorer(2, 1, 8), factory).predict_t(torch.tensor([[1, 0]])).shape
        torch.Size([1, 2])
    """

    hpo_default: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, scorer: nn.Module, triples_factory: KGInfo, **options: Any) -> None:
        super().__init__(triples_factory=triples_factory, **{"random_seed": NoRandomSeedNecessary, **options})
        sizes = (scorer.num_entities, scorer.num_relations)
        if sizes != (self.num_entities, self.num_real_relations):
            raise ValueError(
                f"expected a triples factory with the scorer's {sizes[0]} entities and {sizes[1]} relations, got "
                f"{self.num_entities} and {self.num_real_relations}; build it with "
                "hybonet.interop.pykeen.triples_factory"
            )
        self.scorer: Any = scorer

    def _own(self, relations: Tensor) -> Tensor:
        """The scorer's numbers of relations: with inverse triples, PyKEEN calls r and its inverse 2r and 2r + 1."""
        if not self.use_inverse_triples:
            return relations
        return relations // 2 + relations % 2 * self.num_real_relations

    def score_hrt(self, hrt_batch: Tensor, *, mode: Any = None) -> Tensor:
        heads, relations, tails = hrt_batch.unbind(1)
        return self.scorer(heads, self._own(relations), tails).unsqueeze(1)

    def score_t(
        self, hr_batch: Tensor, *, slice_size: int | None = None, mode: Any = None, tails: Tensor | None = None
    ) -> Tensor:
        return self._entities(hr_batch[:, 0], self._own(hr_batch[:, 1]), tails)

    def score_h(
        self, rt_batch: Tensor, *, slice_size: int | None = None, mode: Any = None, heads: Tensor | None = None
    ) -> Tensor:
        inverse = (self._own(rt_batch[:, 0]) + self.num_real_relations) % (2 * self.num_real_relations)
        return self._entities(rt_batch[:, 1], inverse, heads)

    def score_r(
        self, ht_batch: Tensor, *, slice_size: int | None = None, mode: Any = None, relations: Tensor | None = None
    ) -> Tensor:
        heads, tails = ht_batch.unbind(1)
        every = torch.arange(self.num_relations, device=heads.device) if relations is None else relations
        columns = self._own(every).expand(len(heads), -1).unbind(1)
        return torch.stack([self.scorer(heads, column, tails) for column in columns], dim=1)

    def _entities(self, entities: Tensor, relations: Tensor, candidates: Tensor | None) -> Tensor:
        if candidates is None:
            return self.scorer(entities, relations)
        if candidates.dim() == 1:
            return self.scorer(entities, relations, pool=candidates)
        return self.scorer(entities, relations, candidates.expand(len(entities), -1))

    def collect_regularization_term(self) -> Tensor:
        return torch.zeros((), device=self.device)

    def _reset_parameters_(self) -> None:
        self.scorer.reset_parameters()

    def _get_entity_len(self, *, mode: Any = None) -> int:
        return self.num_entities
