"""Citation graphs in the files of Planetoid (Yang, Cohen and Salakhutdinov, 2016): Cora, CiteSeer, PubMed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hybonet.data.graphs.graph_data import UNLABELLED, GraphData, NodeSplit, numbered_nodes
from hybonet.data.graphs.node_features import sparse_rows
from hybonet.data.io.legacy_pickle import SparseRows, read_legacy_pickle
from hybonet.data.io.source_file import SourceFile
from hybonet.data.io.text_table import decode

#: The parts of a data set, as file endings: ``ind.cora.x`` and so on.
PARTS = ("x", "y", "tx", "ty", "allx", "ally", "graph", "test.index")
#: Nodes after the training nodes that the published split validates on.
_VALIDATION = 500


def read_planetoid(name: str, files: Mapping[str, SourceFile], classes: tuple[str, ...] = ()) -> GraphData:
    """A citation graph with the published split: the first nodes to train on, 500 to validate, the index file to test.

    Test rows stand in the order of the index file and are put at their nodes. Test nodes that the index leaves out
    (CiteSeer has 15) are isolated: they get features of zero, no label, and no part in the split.

    Args:
        name: for messages and notes.
        files: by part (:data:`PARTS`); without ``allx`` there are no features, and a note says so.
        classes: names of the classes; their numbers by default.
    """
    y, ty, ally = (_matrix(files[part]) for part in ("y", "ty", "ally"))
    test = _test_nodes(files["test.index"])
    if len(test) != len(ty):
        raise ValueError(
            f"{files['test.index'].source}: expected one line for each of the {len(ty)} test nodes, got {len(test)}; "
            "get the files of one data set"
        )
    ordered, repeated = _pairs(files["graph"])
    count = 1 + max(int(ordered.max()), int(test.max()), len(ally) - 1)
    if count > 10 * (len(ally) + len(test) + len(ordered)):  # some nodes are isolated, not most of them
        raise ValueError(f"{files['graph'].source}: expected node numbers without great gaps, got {count - 1:,}")
    labels = torch.full((count,), UNLABELLED)
    labels[: len(ally)] = torch.from_numpy(ally.argmax(1))
    labels[test] = torch.from_numpy(ty.argmax(1))
    unlabelled = int((labels == UNLABELLED).sum())
    notes = [f"{unlabelled} isolated test nodes have neither features nor label, and no part in the split"] * bool(
        unlabelled
    )
    features = None
    if "allx" in files:
        features = _features(files["allx"], files["tx"], test, count)
    else:
        given = len(y) + len(ty)
        notes.append(
            f"no features: the file ind.{name}.allx is absent, and with it {count - given:,} of {count:,} feature rows"
        )
    return GraphData.build(
        numbered_nodes(count),
        ordered,
        features=features,
        labels=labels,
        classes=classes or tuple(str(number) for number in range(ally.shape[1])),
        split=NodeSplit(torch.arange(len(y)), torch.arange(len(y), len(y) + _VALIDATION), test.sort().values),
        source=name,
        sha256={file.bare_name: file.sha256 for file in files.values()},
        normalise_rows=True,
        notes=(*notes, *([f"{repeated:,} neighbours that the graph file lists twice are kept once"] * bool(repeated))),
    )


def _test_nodes(file: SourceFile) -> Tensor:
    nodes: list[int] = []
    for number, line in enumerate(decode(file.content, file.source).split(), start=1):
        if not line.isdecimal() or len(line) > 12:
            raise ValueError(f"{file.source}, line {number}: expected a node number, got {line!r}; write one per line")
        nodes.append(int(line))
    return torch.tensor(nodes, dtype=torch.long)


def _pairs(file: SourceFile) -> tuple[Tensor, int]:
    """Each undirected pair once, loops included, and how many entries repeat one of the same list."""
    lists = read_legacy_pickle(file)
    if not isinstance(lists, dict) or not lists:
        raise ValueError(f"{file.source}: expected neighbours by node, got {type(lists).__name__}; get the file again")
    try:
        if sum(map(len, lists.values())) > len(file.content):
            raise ValueError("more neighbours than bytes")
        pairs = np.array([(node, other) for node, others in lists.items() for other in others], dtype=np.int64)
        if pairs.ndim != 2 or pairs.min() < 0:
            raise ValueError("no pairs of node numbers")
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{file.source}: expected lists of neighbours, got {error}; get the file again") from None
    directed = np.unique(pairs, axis=0)
    undirected = np.unique(np.sort(directed, axis=1), axis=0)
    return torch.from_numpy(undirected), len(pairs) - len(directed)


def _matrix(file: SourceFile) -> NDArray[Any]:
    matrix = read_legacy_pickle(file)
    if not isinstance(matrix, np.ndarray) or matrix.ndim != 2:
        raise ValueError(f"{file.source}: expected a table of numbers, got {type(matrix).__name__}; get the file again")
    return matrix


def _features(allx: SourceFile, tx: SourceFile, test: Tensor, count: int) -> Tensor:
    known, tested = _sparse(allx), _sparse(tx)
    rows = torch.cat((torch.arange(known.shape[0]), test))
    column_parts = (known.col_indices(), tested.col_indices())
    lengths = torch.cat((known.crow_indices().diff(), tested.crow_indices().diff()))
    entry_rows = torch.repeat_interleave(rows, lengths)
    order = entry_rows.argsort(stable=True)
    indptr = torch.cat((torch.zeros(1, dtype=torch.long), torch.bincount(entry_rows, minlength=count).cumsum(0)))
    columns, values = torch.cat(column_parts)[order], torch.cat((known.values(), tested.values()))[order]
    return sparse_rows(indptr, columns, values, (count, known.shape[1]))


def _sparse(file: SourceFile) -> Tensor:
    stored = read_legacy_pickle(file)
    if not isinstance(stored, SparseRows):
        raise ValueError(f"{file.source}: expected a CSR matrix, got {type(stored).__name__}; get the file again")
    state = stored.state
    indptr, indices, values = (torch.tensor(state[part]) for part in ("indptr", "indices", "data"))
    shape = tuple(int(size) for size in state["_shape"])
    counts = indptr.long().diff()
    if (
        len(shape) != 2
        or len(indptr) != shape[0] + 1
        or int(indptr[0]) != 0
        or bool((counts < 0).any())
        or not int(indptr[-1]) == len(indices) == len(values)
        or not bool(((indices >= 0) & (indices < shape[1])).all())
    ):
        raise ValueError(f"{file.source}: expected a CSR matrix, got arrays that make none; get the file again")
    # Columns within a row may come in any order; a CSR tensor wants them sorted.
    row = torch.repeat_interleave(torch.arange(shape[0]), counts)
    order = (row * shape[1] + indices).argsort()
    return sparse_rows(indptr, indices[order], values[order], (shape[0], shape[1]))
