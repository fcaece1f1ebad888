"""A graph inside a run: ``graph.safetensors`` (edges, features, labels, a published split) and ``nodes.tsv``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from hybonet.data.graphs.graph_data import GraphData, NodeSplit
from hybonet.data.graphs.loading import load_graph
from hybonet.data.graphs.node_features import sparse_rows
from hybonet.data.graphs.splits import LINK_SHARES, split_nodes
from hybonet.tasks.graph.options import GraphFiles
from hybonet.tasks.graph.settings import GraphSettings
from hybonet.tasks.options import column_list
from hybonet.tasks.run_folder import CONFIG
from hybonet.tasks.vocabulary_file import read_vocabulary, write_vocabulary
from hybonet.training.checkpoint import read_tensors, write_tensors

GRAPH, NODES = "graph.safetensors", "nodes.tsv"
_SPLIT = ("train", "valid", "test")
#: Fields of the graph that are plain values, kept in ``config.json``.
_PLAIN = ("classes", "published_shares", "source", "sha256", "repeated_edges", "label_columns", "normalise_rows",
          "add_degrees", "notes")  # fmt: skip


def load(source: Any, settings: Any, options: GraphFiles) -> GraphData:
    """A graph by name, by path or as an object of Python."""
    given = options.given()
    given.pop("task", None)
    if "columns" in given:
        given["columns"] = column_list(given["columns"])
    if "label_column" in given and given["label_column"].isdigit():
        given["label_column"] = int(given["label_column"])
    graph = load_graph(source, **given)
    if options.labels is None or getattr(settings, "task", None) != "lp":
        return graph
    return replace(graph, notes=(*graph.notes, "links are predicted; for the classes of the labels, say task=nc"))


def notes(settings: GraphSettings, graph: GraphData) -> list[str]:
    """How the graph is split, unless its split was published with it."""
    seed = f"held out with split_seed {settings.split_seed}"
    if settings.task == "lp":
        valid, test = (int(share * len(graph.edges)) for share in LINK_SHARES)
        return [f"{valid:,} edges for valid and {test:,} for test {seed}"]
    if graph.labels is None or graph.split is not None:
        return []
    _, valid, test = split_nodes(graph, protocol=settings.protocol, seed=settings.split_seed).sizes
    return [f"{valid:,} labelled nodes for valid and {test:,} for test {seed}"]


def write(folder: Path, graph: GraphData) -> dict[str, Any]:
    """Write a graph, and return what the configuration says about it."""
    tensors: dict[str, Tensor] = {"edges": graph.edges, "self_loops": graph.self_loops}
    features = graph.features
    if features is not None and features.layout == torch.sparse_csr:
        tensors["features.starts"], tensors["features.columns"] = features.crow_indices(), features.col_indices()
        tensors["features.values"], tensors["features.shape"] = features.values(), torch.tensor(features.shape)
    elif features is not None:
        tensors["features"] = features
    if graph.labels is not None:
        tensors["labels"] = graph.labels
    if graph.split is not None:
        tensors |= {f"split.{name}": getattr(graph.split, name) for name in _SPLIT}
    # Copies: tensors of a graph may share memory, which the format does not.
    write_tensors(folder / GRAPH, {name: tensor.clone().contiguous() for name, tensor in tensors.items()})
    write_vocabulary(folder / NODES, graph.nodes)
    return {name: _plain(getattr(graph, name)) for name in _PLAIN}


def read(folder: Path, about: dict[str, Any]) -> GraphData:
    """The graph of a run; ``about`` is what its configuration says. A ``ValueError`` says what does not fit."""
    tensors = read_tensors(folder / GRAPH)
    missing = [name for name in ("edges", "self_loops") if name not in tensors]
    if missing:
        raise ValueError(f"{folder / GRAPH}: expected {missing[0]}, found none; restore it or train again")
    plain: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in about.items()}
    unknown = [name for name in _PLAIN if name not in plain]
    if unknown:
        raise ValueError(f"{folder / CONFIG}: expected {unknown[0]} of the graph, found none; restore the file")
    try:
        return GraphData(
            read_vocabulary(folder / NODES, "node"),
            tensors["edges"],
            features=_features(tensors),
            labels=tensors.get("labels"),
            split=NodeSplit(*(tensors[f"split.{name}"] for name in _SPLIT)) if "split.train" in tensors else None,
            self_loops=tensors["self_loops"],
            **{name: plain[name] for name in _PLAIN},
        )
    except (ValueError, KeyError) as error:
        if str(folder) in str(error):
            raise
        raise ValueError(
            f"{folder}: {GRAPH}, {NODES} and {CONFIG} do not fit together ({str(error).split(';')[0]}); restore them "
            "or train again"
        ) from None


def _features(tensors: dict[str, Tensor]) -> Tensor | None:
    if "features.values" not in tensors:
        return tensors.get("features")
    rows, columns = tensors["features.shape"].tolist()
    starts, places, values = (tensors[f"features.{name}"] for name in ("starts", "columns", "values"))
    return sparse_rows(starts, places, values, (rows, columns))


def _plain(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if hasattr(value, "items") else value
