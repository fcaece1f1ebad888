"""Graphs for the tests of layers on graphs, in every form that PyTorch Geometric has."""

import torch
from torch import Tensor

NODES = 7

#: Node 3 has a self-loop, the edge from 0 to 1 is there twice, nothing points to 5, and 6 has no edge at all.
EDGES = torch.tensor([[0, 0, 1, 2, 3, 4, 5, 1, 0], [1, 1, 0, 1, 3, 2, 4, 4, 4]])


def edge_weights(dtype: torch.dtype) -> Tensor:
    return torch.tensor([0.5, 1.5, 2.0, 0.25, 3.0, 1.0, 0.75, 1.25, 0.4], dtype=dtype)


def matrices(edge_index: Tensor, weight: Tensor, size: tuple[int, int]) -> dict[str, Tensor]:
    """The graph as sparse matrices of all layouts, a row for each target; ``size`` is (sources, targets)."""
    coo = torch.sparse_coo_tensor(edge_index.flip(0), weight, size[::-1])
    forms = {"COO": coo, "CSR": coo.to_sparse_csr(), "CSC": coo.to_sparse_csc()}
    try:
        from torch_sparse import SparseTensor
    except ImportError:
        return forms
    row, col = edge_index.flip(0)
    return {**forms, "SparseTensor": SparseTensor(row=row, col=col, value=weight, sparse_sizes=size[::-1])}


def neighbours(edge_index: Tensor, weight: Tensor | None, node: int, loops: bool) -> list[tuple[int, Tensor]]:
    """Pairs (source, weight) of a node, itself included if it is not there yet and ``loops`` are wanted."""
    ones = torch.ones(edge_index.shape[1]) if weight is None else weight
    found = [(int(s), w) for (s, t), w in zip(edge_index.T, ones, strict=True) if int(t) == node]
    if loops and node not in [s for s, _ in found]:
        found.append((node, torch.ones(())))
    return found
