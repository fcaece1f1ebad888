"""Networks to and from PyTorch Geometric's ``Data`` (extra ``graph``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from hybonet.data.graphs import UNLABELLED, GraphData, NodeSplit, numbered_nodes

if TYPE_CHECKING:
    from torch_geometric.data import Data

_MASKS = ("train_mask", "val_mask", "test_mask")


def to_pyg(graph: GraphData) -> Data:
    """A network as ``Data``: ``edge_index`` in both directions, dense ``x``, ``y``, and the published split as masks.

    Example:
        >>> from hybonet.data import load_network
        >>> to_pyg(load_network("disease-small"))
        Data(x=[600, 11], edge_index=[2, 1198], y=[600], num_nodes=600)
    """
    try:
        from torch_geometric.data import Data
    except ImportError:
        raise ValueError("PyTorch Geometric is needed for this and not installed; pip install hybonet[graph]") from None
    features = None if graph.features is None else graph.features.to_dense()
    data = Data(x=features, edge_index=graph.edge_index(), y=graph.labels)
    data.num_nodes = graph.num_nodes
    if graph.split is not None:
        for name, nodes in zip(_MASKS, (graph.split.train, graph.split.valid, graph.split.test), strict=True):
            mask = torch.zeros(graph.num_nodes, dtype=torch.bool)
            mask[nodes] = True
            data[name] = mask
    return data


def from_pyg(data: Any, *, source: str = "pyg") -> GraphData:
    """A network from ``Data``: edges undirected and once, self loops set aside and counted, masks as the split.

    Args:
        data: with ``edge_index``, and perhaps ``x``, ``y`` and the three masks of one split.
        source: what to call it.

    Example:
        >>> from hybonet.data import load_network
        >>> from_pyg(to_pyg(load_network("disease-small")), source="again")
        GraphData('again': 600 nodes, 599 edges, 11 features, 2 classes)
    """
    labels = None if data.y is None else data.y.reshape(-1).long()
    masks = [getattr(data, name, None) for name in _MASKS]
    if any(mask is not None and mask.dim() != 1 for mask in masks):
        raise ValueError("expected masks of one split, got several splits in columns; choose one: mask[:, 0]")
    parts = [mask.nonzero().flatten() for mask in masks if mask is not None]
    # An edge that stands in both directions is one edge; what is left over was repeated.
    directed = data.edge_index.T.unique(dim=0)
    repeated = data.edge_index.shape[1] - len(directed)
    pairs = directed.sort(dim=1).values.unique(dim=0)
    return GraphData.build(
        numbered_nodes(int(data.num_nodes)),
        pairs,
        features=None if data.x is None else data.x.float(),
        labels=labels,
        classes=()
        if labels is None
        else tuple(str(number) for number in range(1 + max(UNLABELLED, int(labels.max())))),
        split=NodeSplit(*parts) if len(parts) == len(_MASKS) else None,
        source=source,
        notes=(f"{repeated:,} repeated edges are kept once",) if repeated else (),
    )
