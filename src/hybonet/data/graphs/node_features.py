"""Node features: sparse matrices, rows made to sum to one, and features that come from the edges alone."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor


def sparse_rows(indptr: Tensor, indices: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    """A float32 CSR tensor from its three parts, for features that are mostly zero."""
    with warnings.catch_warnings():  # torch calls its CSR layout a beta; only storage and products are used here
        warnings.simplefilter("ignore", UserWarning)
        return torch.sparse_csr_tensor(indptr.long(), indices.long(), values.float(), shape, check_invariants=True)


def row_normalised(features: Tensor) -> Tensor:
    """Rows divided by their sums; a row that sums to zero becomes zero. Dense and CSR stay what they are.

    Example:
        >>> row_normalised(torch.tensor([[1.0, 3.0], [0.0, 0.0]])).tolist()
        [[0.25, 0.75], [0.0, 0.0]]
    """
    if features.layout == torch.sparse_csr:
        row, values = _entries(features)
        sums = torch.zeros(features.shape[0]).index_add_(0, row, values)
        return _with_values(features, values * _reciprocal(sums)[row])
    return features * _reciprocal(features.sum(1))[:, None]


def _entries(features: Tensor) -> tuple[Tensor, Tensor]:
    """The row and the value of each entry of a matrix in compressed rows."""
    return torch.repeat_interleave(torch.arange(features.shape[0]), features.crow_indices().diff()), features.values()


def _with_values(features: Tensor, values: Tensor) -> Tensor:
    return sparse_rows(features.crow_indices(), features.col_indices(), values, (features.shape[0], features.shape[1]))


def _reciprocal(sums: Tensor) -> Tensor:
    return torch.where(sums == 0, 0, 1 / sums)


def scaled_columns(features: Tensor) -> Tensor:
    """Columns less their means, divided by their standard deviations; one that says nothing becomes zero.

    The result is dense. Sums are those of double precision.

    Example:
        >>> scaled_columns(torch.tensor([[1.0, 2000.0, 5.0], [3.0, 6000.0, 5.0]])).tolist()
        [[-1.0, -1.0, 0.0], [1.0, 1.0, 0.0]]
    """
    values = features.to_dense().double()
    centred = values - values.mean(0)
    return (centred * _reciprocal(centred.square().mean(0).sqrt())).to(features.dtype)


def stretched(features: Tensor, length: float) -> Tensor:
    """All features times one number, so that rows have the given length on average. Dense and CSR stay what they are.

    Lengths are those of double precision: squares of large features are beyond single.
    """
    factor = length / mean_length(features)
    return (
        _with_values(features, features.values() * factor) if features.layout == torch.sparse_csr else features * factor
    )


def mean_length(features: Tensor) -> float:
    """How long rows are on average, dense or CSR, in double precision.

    Example:
        >>> mean_length(torch.tensor([[3.0, 4.0], [0.0, 1.0]]))
        3.0
    """
    if features.layout == torch.sparse_csr:
        row, values = _entries(features)
        squares = torch.zeros(features.shape[0], dtype=torch.float64).index_add_(0, row, values.double().square())
        return float(squares.sqrt().mean())
    return float(torch.linalg.vector_norm(features, dim=1, dtype=torch.float64).mean())


def degrees(edges: Tensor, num_nodes: int) -> Tensor:
    """Neighbours of every node; shape (nodes,)."""
    return torch.bincount(edges.flatten(), minlength=num_nodes)


def degree_features(edges: Tensor, num_nodes: int, *, cap: int = 5) -> Tensor:
    """One-hot degree, ``cap`` and more being one, and a constant; shape (nodes, cap + 2).

    In link prediction give the edges of training alone: the degree in the whole graph tells of held-out edges.

    Example:
        >>> degree_features(torch.tensor([[0, 1], [1, 2]]), num_nodes=3, cap=2).tolist()
        [[0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]]
    """
    one_hot = torch.nn.functional.one_hot(degrees(edges, num_nodes).clamp_max(cap), cap + 1).float()
    return torch.cat((one_hot, torch.ones(num_nodes, 1)), dim=1)
