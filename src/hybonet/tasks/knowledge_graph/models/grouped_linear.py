"""A linear map of its own for each row, chosen by number from a table of maps."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from hybonet import kernels

#: Matrices of up to so many numbers are copied, one for every few rows of a group, to be multiplied all at once.
_SMALL = 1 << 13
#: Compiled loops, where there are any, take products of so many numbers and more.
_COMPILED = 1 << 14
#: Rows that share a copy.
_ROWS = 8


def grouped_linear(x: Tensor, weight: Tensor, group: Tensor) -> Tensor:
    """Rows times the matrices of their groups, :math:`W_{g_i} x_i`; ``(B, n), (G, m, n), (B,) -> (B, m)``.

    A copy of the matrix for every row would cost far more than the products. Rows of one group stand together instead:
    small matrices are copied once for every eight of them, and one batched product does all (with the extra ``fast``,
    compiled loops read them in place); large ones are read where they are, in a product for each group. Under
    ``torch.autocast`` all stays in the matrices' precision. Differentiable once.
    """
    if len(group) > 1 and group.stride(0) == 0:  # one number, expanded: one product
        with torch.autocast(x.device.type, enabled=False):
            return x.to(weight.dtype) @ weight[group[0]].mT
    small = weight.shape[1] * weight.shape[2] <= _SMALL
    with torch.autocast(x.device.type, enabled=False):
        x = x.to(weight.dtype)
        if not small:
            way: Any = _ByGroup
        else:
            way = _RowByRow if kernels.run_on(x, weight, least=_COMPILED) else _InBlocks
        return way.apply(x, weight, group)


class _RowByRow(torch.autograd.Function):
    """By compiled loops, which read a row's matrix where it is."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, group: Tensor) -> Tensor:
        from hybonet.kernels.scoring_loops import rows_times

        low, high = (int(bound) for bound in group.aminmax()) if len(group) else (0, 0)
        if low < 0 or high >= len(weight):  # the loops do not look
            raise IndexError(f"expected groups 0 to {len(weight) - 1}, got {low} to {high}")
        if x.shape != (len(group), weight.shape[2]):
            raise ValueError(
                f"expected {weight.shape[2]} numbers for each of {len(group)} groups, got shape {tuple(x.shape)}"
            )
        group = group.contiguous()
        ctx.save_for_backward(x, weight, group)
        out = x.new_empty(len(x), weight.shape[1])
        rows_times(x, weight, group, out)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        from hybonet.kernels.scoring_loops import back_to_maps, back_to_rows

        x, weight, group = ctx.saved_tensors
        gradient, (wants_x, wants_weight, _) = gradient.contiguous(), ctx.needs_input_grad
        of_x, of_weight = (
            torch.empty_like(t) if wanted else None for t, wanted in ((x, wants_x), (weight, wants_weight))
        )
        if of_x is not None:
            back_to_rows(gradient, weight, group, of_x)
        if of_weight is not None:
            back_to_maps(gradient, x, group, of_weight)
        return of_x, of_weight, None


class _InBlocks(torch.autograd.Function):
    """Blocks of eight rows of one group, filled up with zeros, in one batched product."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, group: Tensor) -> Tensor:
        place, owner = _blocks(group, len(weight))
        blocks, matrices = _into(x, place, len(owner)), weight.index_select(0, owner)
        ctx.save_for_backward(blocks, matrices, place, owner)
        ctx.shape = weight.shape
        return torch.bmm(blocks, matrices.mT).flatten(0, 1).index_select(0, place)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        blocks, matrices, place, owner = ctx.saved_tensors
        of_blocks = _into(gradient, place, len(owner))
        of_x = torch.bmm(of_blocks, matrices).flatten(0, 1).index_select(0, place)
        of_weight = matrices.new_zeros(ctx.shape).index_add_(0, owner, torch.bmm(of_blocks.mT, blocks))
        return of_x, of_weight, None


def _blocks(group: Tensor, groups: int) -> tuple[Tensor, Tensor]:
    """The place of each row when groups stand one after the other in whole blocks, and each block's group."""
    order = group.argsort(stable=True)
    rows = torch.bincount(group, minlength=groups)
    blocks = (rows + _ROWS - 1).div(_ROWS, rounding_mode="floor")
    moved = (_ROWS * blocks - rows).cumsum(0) - (_ROWS * blocks - rows)  # by what groups before are filled up with
    place = torch.empty_like(group)
    place[order] = torch.arange(len(group), device=group.device) + moved[group[order]]
    return place, torch.repeat_interleave(blocks)


def _into(rows: Tensor, place: Tensor, blocks: int) -> Tensor:
    return rows.new_zeros(blocks * _ROWS, rows.shape[1]).index_copy_(0, place, rows).unflatten(0, (blocks, _ROWS))


class _ByGroup(torch.autograd.Function):
    """Rows sorted by group, one product a group."""

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
