"""A linear map of its own for each row, chosen by number from a table of maps."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

#: A product of its own pays for a group that would else have so many numbers in gathered matrices.
_WORTH_A_PRODUCT = 1 << 13


def grouped_linear(x: Tensor, weight: Tensor, group: Tensor) -> Tensor:
    """Rows times the matrices of their groups, :math:`W_{g_i} x_i`; ``(B, n), (G, m, n), (B,) -> (B, m)``.

    Rows of one group are multiplied together, so that each matrix is read once however many rows want it. Only if
    matrices are small and groups many are they gathered for one batched product.

    Example:
        >>> import torch
        >>> weight = torch.stack((torch.eye(2), 2 * torch.eye(2)))
        >>> grouped_linear(torch.ones(3, 2), weight, torch.tensor([1, 0, 1]))
        tensor([[2., 2.],
                [1., 1.],
                [2., 2.]])
    """
    groups = min(len(weight), len(group))
    if len(group) * weight.shape[1] * weight.shape[2] <= groups * _WORTH_A_PRODUCT:
        return torch.bmm(weight[group], x.unsqueeze(-1)).squeeze(-1)
    return _ByGroup.apply(x, weight, group)


class _ByGroup(torch.autograd.Function):
    """Rows sorted by group, one product a group, forwards and backwards."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, group: Tensor) -> Tensor:
        order = group.argsort(stable=True)
        groups, counts = torch.unique_consecutive(group[order], return_counts=True)
        ctx.groups, ctx.counts = groups.tolist(), counts.tolist()
        x = x.index_select(0, order)
        ctx.save_for_backward(x, weight, order)
        out = x.new_empty(len(x), weight.shape[1])
        for number, rows, target in zip(ctx.groups, x.split(ctx.counts), out.split(ctx.counts), strict=True):
            torch.mm(rows, weight[number].T, out=target)
        return _in_order(out, order)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        x, weight, order = ctx.saved_tensors
        gradient = gradient.index_select(0, order)
        of_x, of_weight = torch.empty_like(x), torch.zeros_like(weight)
        parts = (tensor.split(ctx.counts) for tensor in (gradient, x, of_x))
        for number, g, rows, target in zip(ctx.groups, *parts, strict=True):
            torch.mm(g, weight[number], out=target)
            torch.mm(g.T, rows, out=of_weight[number])
        return _in_order(of_x, order), of_weight, None


def _in_order(rows: Tensor, order: Tensor) -> Tensor:
    """Sorted rows back in their places."""
    return torch.empty_like(rows).index_copy_(0, order, rows)
