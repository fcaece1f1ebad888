"""Numbers along the edges of a graph, sums over neighbours, and attention, all without a row for every edge."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from hybonet.kernels.sparse_product import compressed, entries, products_at


@dataclass(frozen=True)
class EdgePattern:
    """Where the entries of a sparse matrix are, in compressed rows; for gradients by columns as well, found when asked.

    Edges have the order of the rows.
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

    Where :func:`~hybonet.kernels.sparse_product.are_sampled`, both.
    """
    return _EdgeProducts.apply(a, b, pattern)


def edge_sums(weights: Tensor, x: Tensor, pattern: EdgePattern) -> Tensor:
    """Weighted sums over the neighbours of each node, ``(E,), (n, d) -> (n, d)``."""
    return _EdgeSums.apply(weights, x, pattern)


class _SparseAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, matrix: Tensor, kept: Tensor | None) -> Tensor:
        pattern, factor = EdgePattern.of_matrix(matrix), matrix.values()
        starts, rows, columns, absent = pattern.starts, pattern.rows, pattern.columns, factor == 0
        weights = q.new_empty(len(q), len(columns))
        out = v.new_empty(len(v), q.shape[1], v.shape[2])
        with torch.autocast(q.device.type, enabled=False):
            for head, weight in enumerate(weights):
                logits = products_at(q[head], k[head], starts, columns)
                largest = logits.new_full((q.shape[1],), -math.inf)
                largest.scatter_reduce_(0, rows, logits.masked_fill(absent, -math.inf), "amax")
                torch.mul(logits.sub_(largest[rows]).clamp_max_(0.0).exp_(), factor, out=weight)
                if kept is not None:
                    weight.mul_(kept[head])
                out[head] = pattern.matrix(weight) @ v[head]
        ctx.save_for_backward(q, k, v, weights)
        ctx.pattern = pattern
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, weights = ctx.saved_tensors
        pattern, grad = ctx.pattern, grad.contiguous()
        grad_q, grad_k, grad_v = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
        for head, weight in enumerate(weights):
            of_logits = products_at(grad[head], v[head], pattern.starts, pattern.columns).mul_(weight)
            grad_q[head] = pattern.matrix(of_logits) @ k[head]
            grad_k[head] = pattern.transposed(of_logits) @ q[head]
            grad_v[head] = pattern.transposed(weight) @ grad[head]
        return grad_q, grad_k, grad_v, None, None


def sparse_attention(q: Tensor, k: Tensor, v: Tensor, matrix: Tensor, kept: Tensor | None = None) -> Tensor:
    r"""Sums :math:`s_i = \sum_j e_{ij} \exp(q_i \cdot k_j - c_i)\, v_j` over the entries :math:`e_{ij}` of a sparse
    matrix in compressed rows, with :math:`c_i` the largest product of a row: attention but for a factor of each sum.

    The gradient takes :math:`c_i` for a constant, which is right for what does not depend on such factors, as
    centroids do not. Where :func:`~hybonet.kernels.sparse_product.are_sampled`, contiguous.

    Args:
        q, k, v: ``(heads, n, d)``, ``(heads, m, d)``, ``(heads, m, e)``.
        matrix: ``(n, m)``, of zero or more, with at most n · m entries.
        kept: factors of the entries, from dropout, ``(heads, entries)``.

    Returns: ``(heads, n, e)``.
    """
    return _SparseAttention.apply(q, k, v, matrix, kept)
