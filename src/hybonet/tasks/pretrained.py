"""A model as a folder to hand on, in the layout that the Hugging Face hub knows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hybonet.data.triples import TripleData
from hybonet.models import TripleScorer
from hybonet.reporting.model_card import model_card
from hybonet.tasks.kg_run import write_graph
from hybonet.tasks.new_folder import new_folder
from hybonet.tasks.run_folder import CONFIG, RECORD, write_json
from hybonet.training.checkpoint import save_model
from hybonet.training.loop import BEST


def write_pretrained(
    folder: Path, scorer: TripleScorer, graph: TripleData, config: Mapping[str, Any], record: Mapping[str, Any] | None
) -> None:
    """Write a new folder that :meth:`hybonet.KGModel.from_pretrained` reads; refuse one that holds files.

    ``config`` (of a run, say) is kept beside the scorer's own settings; ``record`` gives the model card its metrics.
    """
    with new_folder(folder) as staging:
        about = write_graph(staging, graph)
        content = {**config, "task": "kg", "library_name": "hybonet", "model": scorer.config(), "graph": about}
        write_json(staging / CONFIG, content)
        save_model(staging / BEST, scorer)
        if record is not None:
            write_json(staging / RECORD, record)
        head, relation, _ = graph.train[0].tolist()
        card = model_card(
            Path(graph.source).name,
            graph.statistics(),
            scorer.config(),
            record,
            folder=folder.name,
            example=(graph.entities[head], graph.relations[relation]),
        )
        (staging / "README.md").write_text(card, encoding="utf-8")
