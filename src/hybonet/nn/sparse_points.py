"""Points that are mostly zero, as those of word counts are: a matrix in compressed rows in place of a dense one."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from hybonet.geometry.numerics import Curvature
from hybonet.geometry.sampled_products import let_torch_warn
from hybonet.nn.sparse_product import entries


def is_sparse_rows(x: Tensor) -> bool:
    """Whether x is a matrix in compressed rows.

    Example:
        >>> is_sparse_rows(torch.eye(2)), is_sparse_rows(torch.eye(2).to_sparse_csr())
        (False, True)
    """
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
    count, root = features.shape[0], (-1.0 / K) ** 0.5
    square = torch.zeros(count, dtype=values.dtype, device=values.device).index_add_(0, rows, values.square())
    length = square.sqrt()
    stretch = torch.where(length > 0, root * torch.sinh(length / root) / torch.where(length > 0, length, 1.0), 1.0)
    # Every row begins with its time coordinate: an entry more before all of its own.
    starts = features.crow_indices()
    own = torch.arange(len(values), device=rows.device) + rows + 1
    every = torch.empty(len(values) + count, dtype=values.dtype, device=values.device)
    at = torch.zeros(len(every), dtype=torch.long, device=rows.device)
    first = starts[:-1] + torch.arange(count, device=rows.device)
    every[first] = root * torch.cosh(length / root)
    every[own], at[own] = values * stretch[rows], columns + 1
    starts = starts + torch.arange(count + 1, device=rows.device)
    return torch.sparse_csr_tensor(starts, at, every, (count, features.shape[1] + 1), check_invariants=False)


def dropped(x: Tensor, p: float, training: bool) -> Tensor:
    """Dropout; of a matrix in compressed rows, whose zeros stay what they are, on its entries.

    Example:
        >>> dropped(torch.eye(2).to_sparse_csr(), 0.5, training=False).to_dense().trace()
        tensor(2.)
    """
    if not is_sparse_rows(x) or not training:
        return F.dropout(x, p, training)
    values = F.dropout(x.values(), p)
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
    """``F.linear``, where x may be a constant matrix in compressed rows.

    Example:
        >>> linear(torch.eye(2).to_sparse_csr(), torch.tensor([[1.0, 2.0]]), torch.tensor([10.0]))
        tensor([[11.],
                [12.]])
    """
    if not is_sparse_rows(x):
        return F.linear(x, weight, bias)
    product = _SparseLinear.apply(weight, x)
    return product if bias is None else product + bias
