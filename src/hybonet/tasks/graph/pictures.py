"""All pictures of a model of a graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch

from hybonet.geometry import Lorentz
from hybonet.reporting.charts import NAMED, draw_groups, draw_reliability_of, most_linked
from hybonet.reporting.geodesics import disk_view, view_note
from hybonet.reporting.pictures import Pictures
from hybonet.tasks.options import Options
from hybonet.tasks.run_folder import DISK, source_name

if TYPE_CHECKING:
    from hybonet.tasks.graph.predictor import GraphModel


def pictures(model: GraphModel, folder: Path, options: Options, *, dpi: int = 120) -> Pictures:
    """Draw a model into ``folder``, and say what was drawn: ``curves.png`` (training), ``disk.png`` (the nodes),
    and ``reliability.png`` (probabilities and what happened, of a finished run).

    The disk is drawn of hyperbolic models; nodes have the colours of their classes where the graph has some.
    """
    name = source_name(model.graph.source)
    drawn = model.draw_curves(folder, model.task, f"Training on {name}")
    draw_reliability_of(model.record, folder, drawn, name)
    manifold = getattr(model.model, "manifold", None)
    if isinstance(manifold, Lorentz):
        _draw_disk(model, manifold, folder / DISK, name, dpi)
        drawn.append(folder / DISK)
    else:
        drawn.missing[DISK] = f"the vectors of {model.task.settings.model} are Euclidean"
    return drawn


def _draw_disk(model: GraphModel, manifold: Lorentz, path: Path, name: str, dpi: int) -> None:
    points, graph = model.points.double().cpu(), model.graph
    group = torch.full((len(points),), -1) if graph.labels is None else graph.labels
    what = "to find links" if model.task.settings.task == "lp" else "to tell classes"
    space = f"{points.shape[1] - 1} hyperbolic dimension{'s' * (points.shape[1] > 2)}"
    draw_groups(
        disk_view(points, manifold.centroid(points), manifold),
        group,
        graph.classes,
        path,
        title=f"{name}: {len(points):,} nodes in {space}, trained {what}",
        note=view_note(points.shape[1]),
        kind=("class", "classes"),
        none="no label",
        alone="the graph has no labels" if graph.labels is None else "no class is large enough for one of its own",
        named={node: graph.nodes.name(node) for node in most_linked(graph.edges, NAMED)},
        dpi=dpi,
    )
