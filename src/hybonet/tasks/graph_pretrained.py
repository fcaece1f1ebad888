"""A model trained on a graph as a folder to hand on, in the layout that the Hugging Face hub knows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hybonet.models.graph_model import GraphModel
from hybonet.reporting.graph_card import graph_card
from hybonet.tasks.graph_files import write_graph
from hybonet.tasks.graph_learning import GraphLearningTask
from hybonet.tasks.new_folder import new_folder
from hybonet.tasks.run_folder import CONFIG, RECORD, source_name, write_json
from hybonet.training.checkpoint import save_model
from hybonet.training.loop import BEST


def write_pretrained(
    folder: Path,
    model: GraphModel,
    task: GraphLearningTask,
    config: Mapping[str, Any],
    record: Mapping[str, Any] | None,
) -> None:
    """Write a new folder that :meth:`hybonet.NetworkModel.from_pretrained` reads; refuse one that holds files."""
    with new_folder(folder) as staging:
        kept = write_graph(staging, task.graph)
        settings = task.settings.model_dump()
        content = {**config, "task": task.name, "library_name": "hybonet", "settings": settings, "graph": kept}
        write_json(staging / CONFIG, content)
        save_model(staging / BEST, model)
        if record is not None:
            write_json(staging / RECORD, record)
        card = graph_card(
            source_name(task.graph.source),
            task.graph.statistics(),
            settings,
            record,
            folder=folder.name,
            node=task.graph.nodes[0],
        )
        (staging / "README.md").write_text(card, encoding="utf-8")
