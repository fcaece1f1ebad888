"""Writing a network as the files that :func:`hybonet.data.load_graph` reads."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from hybonet.data.graphs.graph_data import UNLABELLED, GraphData
from hybonet.files import write_atomically


def write_network(graph: GraphData, folder: str | Path) -> list[Path]:
    """Write ``edges.csv`` and, if there are some, ``features.csv`` and ``labels.csv`` to a folder."""
    names = graph.nodes.labels
    tables: dict[str, Iterable[Iterable[str]]] = {
        "edges.csv": [("source", "target"), *((names[a], names[b]) for a, b in graph.edges.tolist())]
    }
    if graph.features is not None:
        columns = [f"f{number}" for number in range(graph.num_features)]
        rows = graph.features.to_dense().numpy()  # as float32 a number prints with the digits that give it back
        cells = ((name, *map(str, row)) for name, row in zip(names, rows, strict=True))
        tables["features.csv"] = [("node", *columns), *cells]
    if graph.labels is not None:
        given = [graph.classes[label] if label != UNLABELLED else "" for label in graph.labels.tolist()]
        tables["labels.csv"] = [("node", "label"), *zip(names, given, strict=True)]
    folder = Path(folder)
    for name, table in tables.items():
        write_atomically(folder / name, lambda path, table=table: _write_csv(path, table))  # type: ignore[misc]
    return [folder / name for name in tables]


def _write_csv(path: Path, rows: Iterable[Iterable[str]]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
