"""Attention along the entries of a sparse matrix, without a row for every entry."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from hybonet.kernels.sampled_products import products_at
from hybonet.kernels.sparse_edges import EdgePattern


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
    centroids do not. Where :func:`~hybonet.kernels.sampled_products.are_sampled`, contiguous.

    Args:
        q, k, v: ``(heads, n, d)``, ``(heads, m, d)``, ``(heads, m, e)``.
        matrix: ``(n, m)``, of zero or more, with at most n · m entries.
        kept: factors of the entries, from dropout, ``(heads, entries)``.

    Returns: ``(heads, n, e)``.

    Example:
        >>> import torch
        >>> from hybonet.kernels.sparse_product import compressed
        >>> q, v = torch.zeros(1, 1, 2), torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])
        >>> matrix = compressed(torch.tensor([0, 0]), torch.tensor([0, 1]), torch.ones(2), (1, 2))
        >>> sparse_attention(q, v, v, matrix)
        tensor([[[4., 6.]]])
    """
    return _SparseAttention.apply(q, k, v, matrix, kept)
