"""Numbers along the edges of a graph, from points and back to sums over neighbours, without a row for every edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from hybonet.geometry.sampled_products import products_at
from hybonet.nn.sparse_product import compressed, entries


@dataclass(frozen=True)
class EdgePattern:
    """Where the entries of a sparse matrix are, by rows and, for gradients, by columns as well.

    Edges have the order of the rows. Make one by :meth:`of`, once for a graph.

    Example:
        >>> pattern = EdgePattern.of(torch.tensor([[0, 1, 2], [2, 0, 0]]), 3)
        >>> pattern.rows, pattern.columns
        (tensor([0, 0, 2]), tensor([1, 2, 0]))
    """

    starts: Tensor
    rows: Tensor
    columns: Tensor
    #: The same entries by columns: where each begins, its rows, and the edges' numbers in this order.
    column_starts: Tensor
    rows_by_column: Tensor
    by_column: Tensor

    @classmethod
    def of(cls, edges: Tensor, count: int) -> EdgePattern:
        """Of an edge index ``(2, E)`` from sources to targets, for sums over the sources of each target."""
        matrix = compressed(edges[1], edges[0], torch.ones_like(edges[0], dtype=torch.float32), (count, count))
        rows, columns, _ = entries(matrix)
        order = columns.argsort(stable=True)
        back = torch.zeros(count + 1, dtype=torch.long, device=columns.device)
        torch.cumsum(torch.bincount(columns, minlength=count), 0, out=back[1:])
        return cls(matrix.crow_indices(), rows, columns, back, rows[order], order)

    def matrix(self, values: Tensor) -> Tensor:
        """The matrix with values at the edges."""
        size = (len(self.starts) - 1, len(self.column_starts) - 1)
        return torch.sparse_csr_tensor(self.starts, self.columns, values, size, check_invariants=False)

    def transposed(self, values: Tensor) -> Tensor:
        """Its transpose."""
        size = (len(self.column_starts) - 1, len(self.starts) - 1)
        moved = values[self.by_column]
        return torch.sparse_csr_tensor(self.column_starts, self.rows_by_column, moved, size, check_invariants=False)


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

    Where :func:`~hybonet.geometry.sampled_products.are_sampled`, both.

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
