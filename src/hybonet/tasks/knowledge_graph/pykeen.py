"""The paper's scorer, for PyKEEN to build and to train, and a trained model's graph and points (extra ``pykeen``)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from pykeen.losses import CrossEntropyLoss
from pykeen.triples.triples_factory import KGInfo

from hybonet.interop.pykeen import PykeenModel, triples_factory
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
from hybonet.tasks.new_folder import new_folder
from hybonet.tasks.vector_files import Chart

if TYPE_CHECKING:
    from hybonet.tasks.knowledge_graph.predictor import KnowledgeGraphModel

#: What PyKEEN's own results call the parts of a graph.
_PARTS: dict[Any, str] = {"train": "training_triples", "valid": "validation_triples", "test": "testing_triples"}


class HyboNet(PykeenModel):
    """The paper's scorer, for PyKEEN to build and to train: ``pipeline(model=HyboNet, ...)``.

    The data need ``create_inverse_triples=True``, since heads are found by inverse relations. Any of torch's optimisers
    leaves the entities on the manifold; :class:`hybonet.optim.RiemannianAdam` is the paper's.

    Args:
        triples_factory: the graph, with inverse triples.
        dim: ambient coordinates per entity.
        margin: added to every score.
        dropout: of a head's coordinates.
        loss, random_seed: of PyKEEN's ``Model``; softmax by default.
        options: of :class:`~hybonet.tasks.knowledge_graph.models.triple_scorer.TripleScorer`.

    Example:
        >>> from hybonet.data.triples.triple_data import TripleData
        >>> from hybonet.interop.pykeen import triples_factory
        >>> graph = TripleData.from_labels([("dog", "is a", "canine"), ("wolf", "is a", "canine")])
        >>> model = HyboNet(triples_factory=triples_factory(graph, inverse=True), dim=8, random_seed=0)
        >>> model.predict_t(torch.tensor([[1, 0]])).shape
        torch.Size([1, 3])
    """

    loss_default: ClassVar[Any] = CrossEntropyLoss
    loss_default_kwargs: ClassVar[Any] = {}
    hpo_default: ClassVar[Mapping[str, Any]] = {"dim": {"type": int, "low": 16, "high": 256, "q": 16}}

    def __init__(
        self,
        *,
        triples_factory: KGInfo,
        dim: int = 32,
        margin: float = 8.0,
        dropout: float = 0.0,
        loss: Any = None,
        loss_kwargs: Any = None,
        random_seed: int | None = None,
        **options: Any,
    ) -> None:
        if not triples_factory.create_inverse_triples:
            raise ValueError(
                "expected triples with their inverses, by which heads are found, got a factory without; build it with "
                "create_inverse_triples=True, or say dataset_kwargs={'create_inverse_triples': True}"
            )
        if random_seed is not None:
            torch.manual_seed(random_seed)
        sizes = (triples_factory.num_entities, triples_factory.real_num_relations)
        scorer = TripleScorer(*sizes, dim, margin=margin, dropout=dropout, **options)
        super().__init__(scorer, triples_factory, loss=loss, loss_kwargs=loss_kwargs, random_seed=random_seed)


def write_pykeen(model: KnowledgeGraphModel, folder: Path, chart: Chart | None = None) -> None:
    """A new folder for PyKEEN: the graph's parts as ``TriplesFactory.from_path_binary`` reads them.

    They are in ``training_triples``, ``validation_triples`` and ``testing_triples``; ``entity_embeddings.npy`` has the
    coordinates of the entities in the order of their ids.
    """
    with new_folder(folder) as staging:
        for split, part in _PARTS.items():
            if len(model.graph.triples(split)):
                triples_factory(model.graph, split).to_path_binary(staging / part)
        np.save(staging / "entity_embeddings.npy", model.vectors(chart).values)
