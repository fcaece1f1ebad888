"""A trained knowledge-graph model for PyKEEN."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hybonet.data.triples.triple_data import SPLITS
from hybonet.tasks.new_folder import new_folder
from hybonet.tasks.vector_files import Chart

if TYPE_CHECKING:
    from hybonet.tasks.knowledge_graph.predictor import KnowledgeGraphModel

#: What PyKEEN's own results call the parts of a graph.
_PYKEEN_PARTS = {"train": "training_triples", "valid": "validation_triples", "test": "testing_triples"}


def write_pykeen(model: KnowledgeGraphModel, folder: Path, chart: Chart | None = None) -> None:
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
        np.save(staging / "entity_embeddings.npy", model.vectors(chart).values)
