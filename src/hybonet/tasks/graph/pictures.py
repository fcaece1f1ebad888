"""All pictures of a model of a graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch

from hybonet.geometry import Lorentz
from hybonet.reporting.charts import draw_curves, draw_groups
from hybonet.reporting.geodesics import disk_view, view_note
from hybonet.reporting.pictures import Pictures
from hybonet.tasks.options import Options
from hybonet.tasks.run_folder import CURVES, DISK, source_name
from hybonet.training.history import read_history

if TYPE_CHECKING:
    from hybonet.tasks.graph.predictor import GraphModel

#: What the axis of a picture calls the figure that selects.
MONITORS = {"auc_ap": "validation (ROC AUC + AP)/2", "f1": "validation F1"}


def pictures(model: GraphModel, folder: Path, options: Options, *, dpi: int = 120) -> Pictures:
    """Draw a model into ``folder``, and say what was drawn: ``curves.png`` (training), ``disk.png`` (the nodes).

    The disk is drawn of hyperbolic models; nodes have the colours of their classes where the graph has some.
    """
    name, drawn = source_name(model.graph.source), Pictures()
    if model.run is not None and (history := read_history(model.run.folder)):
        monitor = model.task.monitor
        title, label = f"Training on {name}", MONITORS[monitor]
        draw_curves(history, monitor, folder / CURVES, title=title, label=label, dpi=dpi)
        drawn.append(folder / CURVES)
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
        dpi=dpi,
    )
