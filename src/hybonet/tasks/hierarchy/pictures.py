"""All pictures of an embedded hierarchy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hybonet.data import display_name
from hybonet.reporting.disk_page import draw_tree
from hybonet.reporting.pictures import Pictures
from hybonet.tasks.options import PlotOptions
from hybonet.tasks.run_folder import source_name

if TYPE_CHECKING:
    from hybonet.tasks.hierarchy.predictor import HierarchyModel


def pictures(model: HierarchyModel, folder: Path, options: PlotOptions) -> Pictures:
    """Draw a model into ``folder``, and say what was drawn.

    ``disk.png`` and the interactive ``disk.html`` (the Poincaré disk), ``curves.png`` (training).
    """
    hierarchy, dim = model.hierarchy, model.points.shape[1]
    name = source_name(hierarchy.source)
    space = "on the hyperbolic plane" if dim == 3 else f"in {dim - 1} hyperbolic dimensions"
    note = ""
    if model.record is not None:
        metrics = model.record["metrics"]
        note = (
            f"Reconstructed from distances: mean rank {metrics['mean_rank']:.2f}, "
            f"mean average precision {metrics['mean_average_precision']:.3f}."
        )
    if dim > 3:
        note += " Projected to two dimensions, which keeps neither distances nor angles."
    drawn = draw_tree(
        model.points,
        hierarchy,
        model.manifold,
        folder,
        title=f"The hierarchy {name}: {len(hierarchy):,} nodes {space}",
        note=note,
        page_note=note,
        shown=[display_name(label) for label in hierarchy.names],
    )
    curves = model.draw_curves(folder, model.task, f"Training on {name}")
    return Pictures([*drawn, *curves], missing=curves.missing)
