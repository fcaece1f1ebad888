"""Numbers along the edges of a graph, from points and back to sums over neighbours, without a row for every edge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from hybonet.kernels.sampled_products import products_at
from hybonet.kernels.sparse_product import compressed, entries


@dataclass(frozen=True)
class EdgePattern:
    """Where the entries of a sparse matrix are, in compressed rows; for gradients by columns as well, found when asked.

    Edges have the order of the rows.

    Example:
        >>> pattern = EdgePattern.of(torch.tensor([[0, 1, 2], [2, 0, 0]]), 3)
        >>> pattern.rows, pattern.columns
        (tensor([0, 0, 2]), tensor([1, 2, 0]))
    """

    starts: Tensor
    rows: Tensor
    columns: Tensor
    #: How many columns the matrix has.
    width: int

    @classmethod
    def of(cls, edges: Tensor, count: int) -> EdgePattern:
        """Of an edge index ``(2, E)`` from sources to targets, for sums over the sources of each target."""
        ones = torch.ones_like(edges[0], dtype=torch.float32)
        return cls.of_matrix(compressed(edges[1], edges[0], ones, (count, count)))

    @classmethod
    def of_matrix(cls, matrix: Tensor) -> EdgePattern:
        """Of a matrix in compressed rows."""
        rows, columns, _ = entries(matrix)
        return cls(matrix.crow_indices(), rows, columns, matrix.shape[1])

    @cached_property
    def _by_column(self) -> tuple[Tensor, Tensor, Tensor]:
        """Where each column's entries begin, their rows, and the numbers of the edges in this order."""
        order = self.columns.argsort()
        starts = torch.zeros(self.width + 1, dtype=torch.long, device=self.columns.device)
        torch.cumsum(torch.bincount(self.columns, minlength=self.width), 0, out=starts[1:])
        return starts, self.rows[order], order

    def matrix(self, values: Tensor) -> Tensor:
        """The matrix with values at the edges."""
        return _compressed_rows(self.starts, self.columns, values, self.width)

    def transposed(self, values: Tensor) -> Tensor:
        """Its transpose."""
        starts, rows, order = self._by_column
        return _compressed_rows(starts, rows, values[order], len(self.starts) - 1)


def _compressed_rows(starts: Tensor, columns: Tensor, values: Tensor, width: int) -> Tensor:
    return torch.sparse_csr_tensor(starts, columns, values, (len(starts) - 1, width), check_invariants=False)


class _EdgeProducts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, pattern: EdgePattern) -> Tensor:
        ctx.save_for_backward(a, b)
        ctx.pattern = pattern
        return products_at(a, b, pattern.starts, pattern.columns)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        a, b = ctx.saved_tensors
        return ctx.pattern.matrix(grad) @ b, ctx.pattern.transposed(grad) @ a, None


class _EdgeSums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor, x: Tensor, pattern: EdgePattern) -> Tensor:
        ctx.save_for_backward(weights, x)
        ctx.pattern = pattern
        return pattern.matrix(weights) @ x

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        weights, x = ctx.saved_tensors
        pattern, grad = ctx.pattern, grad.contiguous()
        return products_at(grad, x, pattern.starts, pattern.columns), pattern.transposed(weights) @ grad, None


def edge_products(a: Tensor, b: Tensor, pattern: EdgePattern) -> Tensor:
    """Inner products :math:`a_i \\cdot b_j` along the edges, ``(n, d), (n, d) -> (E,)``.

    Where :func:`~hybonet.kernels.sampled_products.are_sampled`, both.

    Example:
        >>> x = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]])
        >>> edge_products(x, x, EdgePattern.of(torch.tensor([[0, 1], [2, 2]]), 3))
        tensor([3., 8.])
    """
    return _EdgeProducts.apply(a, b, pattern)


def edge_sums(weights: Tensor, x: Tensor, pattern: EdgePattern) -> Tensor:
    """Weighted sums over the neighbours of each node, ``(E,), (n, d) -> (n, d)``.

    Example:
        >>> x = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]])
        >>> edge_sums(torch.tensor([10.0, 1.0]), x, EdgePattern.of(torch.tensor([[0, 1], [2, 2]]), 3))[2]
        tensor([10.,  2.])
    """
    return _EdgeSums.apply(weights, x, pattern)
