"""A linear map of its own for each row, chosen by number from a table of maps."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

#: Up to so many numbers in the gathered matrices one batched product is faster than a product for each group.
_GATHERED = 1 << 23


def grouped_linear(x: Tensor, weight: Tensor, group: Tensor) -> Tensor:
    """Rows times the matrices of their groups, :math:`W_{g_i} x_i`; ``(B, n), (G, m, n), (B,) -> (B, m)``.

    Small matrices are gathered for one batched product. Large ones never are: rows of one group are multiplied
    together, so that each matrix is read once however many rows want it.

    Example:
        >>> import torch
        >>> weight = torch.stack((torch.eye(2), 2 * torch.eye(2)))
        >>> grouped_linear(torch.ones(3, 2), weight, torch.tensor([1, 0, 1]))
        tensor([[2., 2.],
                [1., 1.],
                [2., 2.]])
    """
    if len(group) * weight.shape[1] * weight.shape[2] <= _GATHERED:
        return torch.bmm(weight[group], x.unsqueeze(-1)).squeeze(-1)
    return _ByGroup.apply(x, weight, group)


class _ByGroup(torch.autograd.Function):
    """One product a group, forwards and backwards."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, group: Tensor) -> Tensor:
        order = group.argsort(stable=True)
        groups, counts = torch.unique_consecutive(group[order], return_counts=True)
        ctx.parts = list(zip(groups.tolist(), order.split(counts.tolist()), strict=True))
        ctx.save_for_backward(x, weight)
        out = x.new_empty(len(x), weight.shape[1])
        for number, rows in ctx.parts:
            out[rows] = x[rows] @ weight[number].T
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        x, weight = ctx.saved_tensors
        of_x, of_weight = torch.empty_like(x), torch.zeros_like(weight)
        for number, rows in ctx.parts:
            part = gradient[rows]
            of_x[rows] = part @ weight[number]
            torch.mm(part.T, x[rows], out=of_weight[number])
        return of_x, of_weight, None
