"""PyTorch Geometric (extra ``graph``): networks to and from ``Data``, sampled neighbours for its loaders, layers."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from hybonet.data.graphs.graph_data import UNLABELLED, GraphData, NodeSplit, numbered_nodes
from hybonet.data.graphs.neighbour_sampling import NeighbourSampler

try:
    from torch_geometric.data import Data
    from torch_geometric.sampler import BaseSampler, EdgeSamplerInput, NegativeSampling, NodeSamplerInput, SamplerOutput
    from torch_geometric.sampler.neighbor_sampler import edge_sample
except ImportError:
    raise ImportError(
        "expected PyTorch Geometric for hybonet.interop.pyg, but it is not installed; run pip install hybonet[graph]"
    ) from None

from hybonet.interop.pyg_layers import LorentzCentroidAggregation, LorentzJumpingKnowledge, OntoManifold

__all__ = [
    "LoaderSampler",
    "LorentzCentroidAggregation",
    "LorentzJumpingKnowledge",
    "OntoManifold",
    "from_pyg",
    "to_pyg",
]

_MASKS = ("train_mask", "val_mask", "test_mask")
_EDGE_PARTS = ("edge_weight", "edge_attr")
_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def to_pyg(graph: GraphData) -> Data:
    """A network as ``Data``: ``edge_index`` in both directions, dense ``x``, ``y``, and the published split as masks.

    Example:
        >>> from hybonet.data import load_graph
        >>> to_pyg(load_graph("disease-small"))
        Data(x=[600, 11], edge_index=[2, 1198], y=[600], num_nodes=600)
    """
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

    Weights and attributes of edges have no place in a network; its notes say that they were left out.

    Args:
        data: with ``edge_index``, or else ``adj_t`` as a sparse matrix of torch, and perhaps ``x``, ``y`` (classes,
            -1 where unknown) and the three masks of one split.
        source: what to call it.

    Example:
        >>> from hybonet.data import load_graph
        >>> from_pyg(to_pyg(load_graph("disease-small")), source="again")
        GraphData('again': 600 nodes, 599 edges, 11 features, 2 classes)
    """
    if not isinstance(data, Data):
        remedy = (
            "; take one kind of nodes and edges, or data.to_homogeneous()"
            if "Hetero" in type(data).__name__
            else ("; make one: torch_geometric.data.Data(x=…, edge_index=…)")
        )
        raise ValueError(f"expected torch_geometric.data.Data, got {type(data).__name__}{remedy}")
    notes: list[str] = []
    edge_index = _edges_of(data, notes)
    num_nodes = data.num_nodes
    if num_nodes is None or num_nodes < 1:
        raise ValueError(f"expected a graph with nodes, got num_nodes={num_nodes}; set data.num_nodes")
    _check_edges(edge_index, num_nodes)
    labels = None if data.y is None else _labels_of(data.y, num_nodes)
    # An edge that stands in both directions is one edge; what is left over was repeated.
    directed = edge_index.T.unique(dim=0)
    repeated = edge_index.shape[1] - len(directed)
    notes += [f"{repeated:,} repeated edges are kept once"] * bool(repeated)
    if labels is not None and (unknown := int((labels == UNLABELLED).sum())):
        notes.append(f"{unknown:,} of {num_nodes:,} nodes have no label")
    features = data.x
    if features is not None and features.layout not in (torch.strided, torch.sparse_csr):
        features = features.to_sparse_csr()
    return GraphData.build(
        numbered_nodes(num_nodes),
        directed.sort(dim=1).values.unique(dim=0),
        features=features,
        labels=labels,
        classes=() if labels is None else tuple(str(number) for number in range(1 + int(labels.max()))),
        split=_split_of(data, num_nodes),
        source=source,
        notes=tuple(notes),
    )


class LoaderSampler(BaseSampler):
    """Sampled neighbours for PyTorch Geometric's ``NeighborLoader`` and ``LinkNeighborLoader`` in plain torch: no
    ``pyg-lib`` is needed.

    A batch holds the nodes asked for first, then those met on the way; edges go from neighbour to node, and have their
    weights and attributes with them. The loader takes its own ``num_neighbors`` too, but does not read it.

    Args:
        data: the graph, with ``edge_index``; directed or not.
        hops: how far from the nodes asked for, as many as there are layers.
        fan_out: neighbours of a node, at most: one with more draws as many with replacement, and one drawn twice
            counts once. None: all.

    Example:
        >>> from torch_geometric.loader import NeighborLoader
        >>> from hybonet.data import load_graph
        >>> data = to_pyg(load_graph("disease-small"))
        >>> sampler = LoaderSampler(data, hops=2, fan_out=10)
        >>> batch = next(iter(NeighborLoader(data, [10, 10], neighbor_sampler=sampler, batch_size=64)))
        >>> batch.batch_size, batch.input_id[:3], batch.n_id[:3]
        (64, tensor([0, 1, 2]), tensor([0, 1, 2]))
    """

    def __init__(self, data: Data, *, hops: int, fan_out: int | None = None) -> None:
        if hops < 1 or (fan_out is not None and fan_out < 1):
            raise ValueError(
                f"expected hops and fan_out of at least 1, got {hops} and {fan_out}; for all neighbours, fan_out=None"
            )
        if data.edge_index is None:
            raise ValueError("expected edge_index in the Data, got none; set data.edge_index, (2, edges)")
        _check_edges(data.edge_index, int(data.num_nodes))
        edges = data.edge_index.cpu().long()
        self.num_nodes = int(data.num_nodes)
        self.hops, self.fan_out = hops, max(1, edges.shape[1]) if fan_out is None else fan_out
        self.sampler, self._columns = NeighbourSampler.directed(edges, self.num_nodes)

    @property
    def edge_permutation(self) -> Tensor:
        """The columns of ``edge_index`` in the order in which edges are numbered here."""
        return self._columns

    def sample_from_nodes(self, index: NodeSamplerInput, **kwargs: Any) -> SamplerOutput:
        """The sub-graph around the nodes of a batch."""
        if len(index.node.unique()) < len(index.node):
            raise ValueError("expected different nodes in a batch, got one twice; give input_nodes without repetition")
        found = self._around(index.node)
        found.metadata = (index.input_id, index.time)
        return found

    def sample_from_edges(self, index: EdgeSamplerInput, neg_sampling: NegativeSampling | None = None) -> SamplerOutput:
        """The sub-graph around the ends of a batch of links, and of the drawn ones beside them."""
        return edge_sample(index, self._around, self.num_nodes, disjoint=False, neg_sampling=neg_sampling)

    def _around(self, nodes: Tensor, _: Tensor | None = None) -> SamplerOutput:
        part, edges = self.sampler.sample_edges(nodes, self.hops, self.fan_out)
        return SamplerOutput(part.nodes, *part.edge_index, edge=edges)


def _edges_of(data: Data, notes: list[str]) -> Tensor:
    """Sources above targets ``(2, e)``; what is known of an edge besides is noted as left out."""
    left_out = [name for name in _EDGE_PARTS if data.get(name) is not None]
    if data.edge_index is not None:
        edge_index = data.edge_index
    elif (adj_t := data.get("adj_t")) is not None:
        if not isinstance(adj_t, Tensor) or adj_t.layout == torch.strided or adj_t.dim() != 2:
            raise ValueError(
                f"expected adj_t as a sparse matrix of torch (CSR, CSC or COO), got {type(adj_t).__name__}; give "
                "edge_index instead"
            )
        matrix = (adj_t if adj_t.layout == torch.sparse_coo else adj_t.to_sparse_coo()).coalesce()
        edge_index = matrix.indices().flip(0)
        if bool((matrix.values() != 1).any()):
            left_out.append("values of adj_t")
    else:
        raise ValueError("expected edge_index or adj_t in the Data, got neither; set data.edge_index, (2, edges)")
    if left_out:
        notes.append(f"weights or attributes of edges are left out: {', '.join(left_out)}")
    return edge_index


def _check_edges(edge_index: Any, num_nodes: int) -> None:
    if (
        not isinstance(edge_index, Tensor)
        or edge_index.dim() != 2
        or len(edge_index) != 2
        or edge_index.dtype not in _INTEGERS
    ):
        raise ValueError(f"expected edge_index as integers of shape (2, edges), got {_described(edge_index)}")
    if edge_index.numel() and not 0 <= int(edge_index.min()) <= int(edge_index.max()) < num_nodes:
        wrong = int(((edge_index < 0) | (edge_index >= num_nodes)).any(0).nonzero()[0])
        raise ValueError(
            f"expected edges between nodes 0 to {num_nodes - 1}, got {tuple(edge_index[:, wrong].tolist())} in column "
            f"{wrong} of edge_index; correct it, or set data.num_nodes"
        )


def _labels_of(y: Any, num_nodes: int) -> Tensor:
    if not isinstance(y, Tensor) or y.shape not in ((num_nodes,), (num_nodes, 1)):
        raise ValueError(
            f"expected one class per node, y of shape ({num_nodes},), got {_described(y)}; nodes with several labels, "
            "and labels of whole graphs, are not supported: leave y out (data.y = None), or choose a column"
        )
    if y.dtype not in (*_INTEGERS, torch.bool):
        raise ValueError(
            f"expected classes as integers in y, got {y.dtype}; if its numbers are classes, data.y = data.y.long()"
        )
    labels = y.reshape(-1).long()
    if int(labels.min()) < UNLABELLED:
        node = int((labels < UNLABELLED).nonzero()[0])
        raise ValueError(
            f"expected classes from 0 on, or {UNLABELLED} where unknown, got {int(labels[node])} for node {node}; "
            "number the classes 0, 1, 2, …"
        )
    return labels


def _split_of(data: Data, num_nodes: int) -> NodeSplit | None:
    masks = {name: data.get(name) for name in _MASKS if data.get(name) is not None}
    if not masks:
        return None
    if len(masks) < len(_MASKS):
        missing = ", ".join(name for name in _MASKS if name not in masks)
        raise ValueError(
            f"expected all of {', '.join(_MASKS)}, or none, got no {missing}; set it, or remove the others for "
            "a random split"
        )
    if any(mask.dim() == 2 for mask in masks.values()):
        raise ValueError("expected masks of one split, got several splits in columns; choose one: mask[:, 0]")
    for name, mask in masks.items():
        if mask.dtype != torch.bool or mask.shape != (num_nodes,):
            raise ValueError(f"expected {name} as booleans of shape ({num_nodes},), got {_described(mask)}")
    return NodeSplit(*(mask.nonzero().flatten() for mask in masks.values()))


def _described(value: Any) -> str:
    return f"{value.dtype} of shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
