"""The nodes of a trained graph model as tables of coordinates."""

from __future__ import annotations

from pathlib import Path

from hybonet.geometry import Lorentz
from hybonet.tasks.graph.predictor import NetworkModel
from hybonet.tasks.vector_files import Chart, Vectors, in_chart, write_vectors


def write_node_vectors(model: NetworkModel, path: Path, chart: Chart | None = None) -> tuple[int, int, str]:
    """Name and coordinates of every node as TSV, CSV, Parquet or npz, by the path's ending.

    Returns the number of nodes, of coordinates, and what they are: a chart, or ``Euclidean`` for models without one.
    """
    manifold: Lorentz | None = getattr(model.model, "manifold", None)
    if manifold is None and chart is not None:
        raise ValueError(
            f"expected no --chart for {model.task.settings.model}, whose vectors are Euclidean, got {chart}; leave it "
            "out"
        )
    nodes = model.graph.nodes
    names = [nodes.name(number) for number in range(len(nodes))]
    if manifold is None:
        table = Vectors(list(nodes), names, model.points.cpu().numpy(), None, None)
    else:
        kind: Chart = chart or "lorentz"
        coordinates = in_chart(model.points, kind, manifold).cpu().numpy()
        table = Vectors(list(nodes), names, coordinates, kind, manifold.curvature)
    rows, columns = write_vectors(table, path)
    return rows, columns, table.chart or "Euclidean"
