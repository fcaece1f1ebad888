"""Points that are mostly zero, as those of word counts are: a matrix in compressed rows in place of a dense one."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from hybonet.geometry.numerics import Curvature, asinhc, bounded, max_rapidity, sinhc
from hybonet.kernels.dropout import dropout
from hybonet.kernels.sparse_product import entries, let_torch_warn


def is_sparse_rows(x: Tensor) -> bool:
    return x.layout == torch.sparse_csr


def sparse_exp0(features: Tensor, *, K: Curvature) -> Tensor:
    r""":math:`\exp_o(0, f)` of every row, ``(nodes, n) -> (nodes, n + 1)``, both in compressed rows; K is a number.

    Example:
        >>> sparse_exp0(torch.tensor([[0.0, 1.0], [0.0, 0.0]]).to_sparse_csr(), K=-1.0).to_dense()
        tensor([[1.5431, 0.0000, 1.1752],
                [1.0000, 0.0000, 0.0000]])
    """
    let_torch_warn()
    rows, columns, values = entries(features)
    count, values = features.shape[0], bounded(values)
    square = _square_lengths(rows, values, count)
    shrink = (float(max_rapidity(values.dtype, K)) / (-K * square).sqrt()).clamp_max(1.0)
    stretch = sinhc(-K * square * shrink.square()) * shrink
    # Every row begins with its time coordinate: an entry more before all of its own.
    starts = features.crow_indices()
    own = torch.arange(len(values), device=rows.device) + rows + 1
    every = torch.empty(len(values) + count, dtype=values.dtype, device=values.device)
    at = torch.zeros(len(every), dtype=torch.long, device=rows.device)
    first = starts[:-1] + torch.arange(count, device=rows.device)
    every[first] = (square * stretch.square() - 1.0 / K).sqrt()
    every[own], at[own] = values * stretch[rows], columns + 1
    starts = starts + torch.arange(count + 1, device=rows.device)
    return torch.sparse_csr_tensor(starts, at, every, (count, features.shape[1] + 1), check_invariants=False)


def sparse_log0(points: Tensor, *, K: Curvature) -> Tensor:
    r"""The space part of :math:`\log_o` of every row, ``(nodes, n + 1) -> (nodes, n)``: the inverse of
    :func:`sparse_exp0`.

    Example:
        >>> features = torch.tensor([[0.0, 1.0], [0.0, 0.0]])
        >>> sparse_log0(sparse_exp0(features.to_sparse_csr(), K=-1.0), K=-1.0).to_dense()
        tensor([[0.0000, 1.0000],
                [0.0000, 0.0000]])
    """
    let_torch_warn()
    rows, columns, values = entries(points)
    space = columns > 0
    rows, columns, values = rows[space], columns[space] - 1, bounded(values[space])
    count = points.shape[0]
    shrink = asinhc(-K * _square_lengths(rows, values, count))
    starts = torch.zeros(count + 1, dtype=torch.long, device=rows.device)
    starts[1:] = torch.bincount(rows, minlength=count).cumsum(0)
    size = (count, points.shape[1] - 1)
    return torch.sparse_csr_tensor(starts, columns, values * shrink[rows], size, check_invariants=False)


def _square_lengths(rows: Tensor, values: Tensor, count: int) -> Tensor:
    """The sum of squares of every row's entries."""
    return torch.zeros(count, dtype=values.dtype, device=values.device).index_add_(0, rows, values.square())


def dropped(x: Tensor, p: float, training: bool) -> Tensor:
    """Dropout; of a matrix in compressed rows, whose zeros stay what they are, on its entries."""
    if not is_sparse_rows(x) or not training:
        return dropout(x, p, training)
    values = dropout(x.values(), p)
    return torch.sparse_csr_tensor(x.crow_indices(), x.col_indices(), values, x.shape, check_invariants=False)


class _SparseLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, x: Tensor) -> Tensor:
        ctx.x = x
        with torch.autocast(weight.device.type, enabled=False):
            return x @ weight.T

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        rows, columns, values = entries(ctx.x)
        total = torch.zeros(ctx.x.shape[1], grad.shape[1], dtype=grad.dtype, device=grad.device)
        total.index_add_(0, columns, grad.index_select(0, rows) * values[:, None])
        return total.T, None


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """``F.linear``, where x may be a constant matrix in compressed rows."""
    if not is_sparse_rows(x):
        return F.linear(x, weight, bias)
    product = _SparseLinear.apply(weight, x)
    return product if bias is None else product + bias
