"""The graphs published with HGCN (Chami et al., 2019) besides the citation graphs: Disease and Airport."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from hybonet.data.graphs.graph_data import GraphData, numbered_nodes
from hybonet.data.io.cell_grid import read_arrays
from hybonet.data.io.legacy_pickle import NetworkxGraph, read_legacy_pickle
from hybonet.data.io.numpy_file import read_npy
from hybonet.data.io.source_file import SourceFile, check_size
from hybonet.data.io.text_table import parse_table
from hybonet.data.vocabulary import Vocabulary

#: Bounds between the four classes of Airport, in its fifth feature.
AIRPORT_BOUNDS = (7 / 7, 8 / 7, 9 / 7)
#: Shares of valid and test in node classification: constants of HGCN's published loader, not of its paper.
DISEASE_SHARES, AIRPORT_SHARES = (0.10, 0.60), (0.15, 0.15)
_AIRPORT_CLASSES = ("below 1", "1 to 8/7", "8/7 to 9/7", "9/7 and above")
_AIRPORT_COLUMNS = 5


def read_disease(name: str, files: Mapping[str, SourceFile]) -> GraphData:
    """A tree along which a disease spread; the label is whether a node was infected.

    Args:
        name: for messages and notes.
        files: ``edges`` and ``labels``, and ``feats`` if there is one; without it there are no features, and a note
            says so. Features are used as they are: their rows are not normalised.
    """
    table = parse_table(files["edges"].content, files["edges"].source, separator=",", row_is="edge")
    pairs: list[tuple[int, int]] = []
    for number, row in enumerate(table):
        if len(row) != 2 or not all(cell.strip().isdecimal() and len(cell) < 12 for cell in row):
            raise table.error(number, f"expected two node numbers, got {','.join(row)!r}; get the file again")
        pairs.append((int(row[0]), int(row[1])))
    labels = torch.from_numpy(read_npy(files["labels"])).long()
    features = _sparse_file(files["feats"]) if "feats" in files else None
    missing = (
        f"no features: the file {name}.feats.npz is absent; use those of the structure "
        "(hybonet.data.degree_features), or a generated tree (load_graph('disease-small'))"
    )
    return GraphData.build(
        numbered_nodes(len(labels)),
        torch.tensor(pairs, dtype=torch.long),
        features=features,
        labels=labels,
        classes=("healthy", "infected"),
        published_shares=DISEASE_SHARES,
        source=name,
        sha256={file.bare_name: file.sha256 for file in files.values()},
        notes=(missing,) if features is None else (),
    )


def read_airport(name: str, files: Mapping[str, SourceFile]) -> GraphData:
    """Airports joined by flights, with position, height, wealth and people of the country.

    The label is the fifth feature in four classes (:data:`AIRPORT_BOUNDS`). Link prediction takes all five features,
    node classification the first four; both add one-hot degrees up to 5 and a constant to the normalised rows.
    """
    (file,) = files.values()
    graph = read_legacy_pickle(file)
    if not isinstance(graph, NetworkxGraph):
        raise ValueError(f"{file.source}: expected a graph, got {type(graph).__name__}; get the file again")
    try:
        nodes = list(graph.state["_node"])
        number = {node: at for at, node in enumerate(nodes)}
        features = np.array([[float(each) for each in graph.state["_node"][node]["feat"]] for node in nodes])
        # An edge stands in the lists of both its ends, a self loop in one.
        pairs = [
            (number[node], number[other])
            for node, others in graph.state["_adj"].items()
            for other in others
            if number[node] <= number[other]
        ]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{file.source}: expected nodes with neighbours, got others ({error!r}); get it again"
        ) from None
    if features.shape != (len(nodes), _AIRPORT_COLUMNS) or len(pairs) > len(file.content):
        raise ValueError(f"{file.source}: expected {_AIRPORT_COLUMNS} features per node, got others; fetch it again")
    return GraphData.build(
        Vocabulary(tuple(str(node) for node in nodes), kind="node"),
        torch.tensor(pairs, dtype=torch.long),
        features=torch.from_numpy(features).float(),
        labels=torch.from_numpy(np.digitize(features[:, -1], AIRPORT_BOUNDS)),
        classes=_AIRPORT_CLASSES,
        published_shares=AIRPORT_SHARES,
        label_columns=(_AIRPORT_COLUMNS - 1,),
        normalise_rows=True,
        add_degrees=True,
        source=name,
        sha256={file.bare_name: file.sha256},
    )


def _sparse_file(file: SourceFile) -> Tensor:
    """Features stored as a CSR matrix in an npz; nearly all are other than zero, so they become dense."""
    parts = read_arrays(file, shape=True, indptr=True, indices=True, data=True)
    shape, indptr, indices = (parts[name].astype(np.int64) for name in ("shape", "indptr", "indices"))
    if (
        shape.shape != (2,)
        or len(indptr) != shape[0] + 1
        or indptr[0] != 0
        or indptr[-1] != len(indices)
        or (np.diff(indptr) < 0).any()
        or not len(indices) == len(parts["data"]) > 0
        or not 0 <= indices.min() <= indices.max() < shape[1]
    ):
        raise ValueError(f"{file.source}: expected a CSR matrix, got arrays that make none; get it again")
    check_size(file.source, 4 * int(shape[0]) * int(shape[1]))
    dense = np.zeros(shape, dtype=np.float32)
    np.add.at(dense, (np.repeat(np.arange(shape[0]), np.diff(indptr)), indices), parts["data"])
    return torch.from_numpy(dense)
