"""A model trained on a graph as a folder to hand on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hybonet.geometry import Lorentz
from hybonet.tasks.graph.card import graph_card
from hybonet.tasks.graph.data import write_graph
from hybonet.tasks.graph.models.graph_model import GraphModel
from hybonet.tasks.graph.task import GraphLearningTask
from hybonet.tasks.pretrained import write_model_folder
from hybonet.tasks.run_folder import source_name


def write_pretrained(
    folder: Path,
    model: GraphModel,
    task: GraphLearningTask,
    config: Mapping[str, Any],
    record: Mapping[str, Any] | None,
) -> None:
    """Write a new folder that :meth:`hybonet.NetworkModel.from_pretrained` reads; refuse one that holds files."""
    graph, settings = task.graph, task.settings.model_dump()
    name = source_name(graph.source)
    manifold: Lorentz | None = getattr(model, "manifold", None)
    card = graph_card(
        name,
        graph.statistics(),
        settings,
        record,
        K=None if manifold is None else manifold.curvature,
        folder=folder.name,
        node=graph.nodes[0],
    )

    def write_data(staging: Path) -> dict[str, Any]:
        return {**config, "task": task.name, "settings": settings, "graph": write_graph(staging, graph)}

    write_model_folder(folder, model, write_data, record, card)
