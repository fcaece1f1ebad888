"""Rows of a table that is read as a whole as well."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def rows_and_table(table: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of a table, ``(n, d), (B,) -> (B, d)``, and the table to go on with, so that both have one gradient.

    Left to torch, a few rows would cost as much as the whole table: a gradient of zeros as large as it is, and a pass
    to add it to the other one. Here the rows' gradient is added in place to that of the table returned. So the function
    that reads that table must return a gradient that nobody else holds (``per_triple_scores``
    does). Differentiable once.

    Example:
        >>> import torch
        >>> weight = torch.ones(3, 2, requires_grad=True)
        >>> rows, table = rows_and_table(weight, torch.tensor([0, 2, 2]))
        >>> (rows.sum() + table.square().sum()).backward()
        >>> weight.grad
        tensor([[3., 3.],
                [2., 2.],
                [4., 4.]])
    """
    return _RowsAndTable.apply(table, index)


class _RowsAndTable(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(index)
        ctx.shape = table.shape
        return table.index_select(0, index), table.view_as(table)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, of_rows: Tensor | None, of_table: Tensor | None) -> tuple[Tensor | None, None]:
        (index,) = ctx.saved_tensors
        if of_rows is not None:
            of_table = of_rows.new_zeros(ctx.shape) if of_table is None else of_table
            of_table.index_add_(0, index, of_rows)
        return of_table, None
