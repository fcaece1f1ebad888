"""A knowledge-graph model as a folder to hand on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hybonet.data.triples.triple_data import TripleData
from hybonet.tasks.knowledge_graph.card import model_card
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
from hybonet.tasks.knowledge_graph.run import write_graph
from hybonet.tasks.pretrained import write_model_folder


def write_pretrained(
    folder: Path, scorer: TripleScorer, graph: TripleData, config: Mapping[str, Any], record: Mapping[str, Any] | None
) -> None:
    """Write a new folder that :meth:`hybonet.KGModel.from_pretrained` reads; refuse one that holds files.

    ``config`` (of a run, say) is kept beside the scorer's own settings; ``record`` gives the model card its metrics.
    """
    head, relation, _ = graph.train[0].tolist()
    card = model_card(
        Path(graph.source).name,
        graph.statistics(),
        scorer.config(),
        record,
        folder=folder.name,
        example=(graph.entities[head], graph.relations[relation]),
    )

    def write_data(staging: Path) -> dict[str, Any]:
        return {**config, "task": "kg", "model": scorer.config(), "graph": write_graph(staging, graph)}

    write_model_folder(folder, scorer, write_data, record, card)
