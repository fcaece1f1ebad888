"""A trained knowledge-graph model in the formats of other tools."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from hybonet.data.triples.triple_data import SPLITS
from hybonet.tasks import vector_files
from hybonet.tasks.knowledge_graph.models.tail_search import all_points
from hybonet.tasks.knowledge_graph.predictor import KGModel
from hybonet.tasks.new_folder import new_folder
from hybonet.tasks.vector_files import Chart, Vectors, in_chart

#: What PyKEEN's own results call the parts of a graph.
_PYKEEN_PARTS = {"train": "training_triples", "valid": "validation_triples", "test": "testing_triples"}


@torch.no_grad()
def entity_vectors(model: KGModel, chart: Chart = "lorentz") -> Tensor:
    """Coordinates of all entities: ambient ones with time first, ``(entities, dim)``, or ``dim - 1`` of a chart.

    ``tangent`` is the logarithm at the origin: Euclidean vectors as long as the point is far.

    Example:
        >>> from hybonet.data.triples.triple_data import TripleData
        >>> from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
        >>> model = KGModel(TripleScorer(2, 1, 8), TripleData.from_labels([("dog", "is a", "canine")]))
        >>> entity_vectors(model, "poincare").shape
        torch.Size([2, 7])
    """
    scorer = model.hyperbolic_scorer("vectors")
    return in_chart(all_points(scorer), chart, scorer.manifold)


def write_vectors(model: KGModel, path: Path, chart: Chart = "lorentz") -> tuple[int, int]:
    """Label, name and coordinates of every entity as TSV, CSV, Parquet or npz, by the path's ending.

    Columns are ``label``, ``name`` and ``x0`` (time), ``x1`` …; a chart has no ``x0``. Returns the number of entities
    and of coordinates. A file that exists is refused.
    """
    vectors, curvature = entity_vectors(model, chart), model.hyperbolic_scorer("vectors").manifold.curvature
    entities = model.graph.entities
    names = [entities.name(number) for number in range(len(entities))]
    return vector_files.write_vectors(Vectors(list(entities), names, vectors.cpu().numpy(), chart, curvature), path)


def write_pykeen(model: KGModel, folder: Path, chart: Chart = "lorentz") -> None:
    """A new folder for PyKEEN (extra ``pykeen``): the graph's parts as ``TriplesFactory.from_path_binary`` reads them.

    They are in ``training_triples``, ``validation_triples`` and ``testing_triples``; ``entity_embeddings.npy`` has the
    coordinates of the entities in the order of their ids.
    """
    try:
        from hybonet.interop.pykeen import triples_factory
    except ImportError as error:
        raise ValueError(f"the export to PyKEEN needs it installed ({error}); pip install hybonet[pykeen]") from None
    with new_folder(folder) as staging:
        for split in SPLITS:
            if len(model.graph.triples(split)):
                triples_factory(model.graph, split).to_path_binary(staging / _PYKEEN_PARTS[split])
        np.save(staging / "entity_embeddings.npy", entity_vectors(model, chart).cpu().numpy())
