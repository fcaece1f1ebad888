"""Scores of candidates of each question's own, read from the table where they are wanted."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from hybonet import kernels
from hybonet.geometry import Lorentz
from hybonet.kernels.norm_clipping import NormClipping
from hybonet.kernels.sparse_product import products_at

#: The norm that rows are clipped to, and the manifold of the points that they make then.
Clip = tuple[float, Lorentz] | None


def per_triple_scores(
    question: Tensor,
    table: Tensor,
    index: Tensor,
    *,
    bias: Tensor | None = None,
    max_norm: float | None = None,
    manifold: Lorentz | None = None,
) -> Tensor:
    r"""Inner products with rows of a table, :math:`q_b \cdot t_{i(b,c)} + \beta_{i(b,c)}`; ``(B, k) -> (B, C)``.

    The usual way copies every candidate's row, for 1,000 questions with 50 candidates more numbers than a table of
    40,000 entities has, and in the backward pass adds up as many rows of gradients. Here rows are read in place, and
    the table's gradient is written once, row by row, from the candidates sorted by entity. With ``max_norm`` the
    clipped table is never made either: the factor and the time of a row are two numbers.

    Where :func:`~hybonet.kernels.sparse_product.are_sampled` the table; differentiable once.

    Args:
        question: ``(B, k)``.
        table: ``(N, k)``.
        index: rows wanted by each question, ``(B, C)``.
        bias: added to a row's products, ``(N,)``.
        max_norm, manifold: read the rows as :func:`~hybonet.kernels.norm_clipping.clip_norms` gives them.
    """
    low, high = (int(bound) for bound in index.aminmax()) if index.numel() else (0, 0)
    if low < 0 or high >= len(table):  # the kernels do not look
        raise IndexError(f"expected rows 0 to {len(table) - 1} of the table, got {low} to {high}")
    wanted, biased = (len(index), table.shape[1]), bias is None or bias.shape == table.shape[:1]
    if question.shape != wanted or not biased:
        got = f"{tuple(question.shape)} and {None if bias is None else tuple(bias.shape)}"
        raise ValueError(f"expected a question {wanted} and a bias ({len(table)},), got {got}")
    with torch.autocast("cpu", enabled=False):  # the kernels take one dtype, forwards and backwards
        question = question.to(table.dtype).contiguous()
        way = _InOnePass if kernels.run_on(table) else _PerTripleScores
        clip = None if max_norm is None else (max_norm, manifold or Lorentz())
        return way.apply(question, table, bias, index.contiguous(), clip)


class _InOnePass(torch.autograd.Function):
    """By compiled loops: every row is read once for all that is made of it."""

    @staticmethod
    def forward(ctx: Any, question: Tensor, table: Tensor, bias: Tensor | None, index: Tensor, clip: Clip) -> Tensor:
        from hybonet.kernels.scoring_loops import score

        ctx.clip, asked = clip is not None, question
        if clip:
            asked = question.clone()
            asked[:, 0] = 0.0  # the time that is stored is not that of the points
        scores = question.new_empty(index.shape)
        # Of a row that is clipped, a product and two numbers are kept for the way back.
        kept = question.new_empty(3, *(index.shape if clip else (0, 0)))
        max_norm, k = (clip[0], -1.0 / clip[1].curvature) if clip else (0.0, 1.0)
        bias = question.new_empty(0) if bias is None else bias.to(question.dtype).contiguous()
        score(question, asked, table, bias, index, ctx.clip, max_norm, k, scores, *kept)
        ctx.save_for_backward(question, table, index, kept)
        return scores

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        from hybonet.kernels.scoring_loops import back_to_question, back_to_table, sort_by_entity

        question, table, index, kept = ctx.saved_tensors
        gradient, (products, factors, times) = gradient.contiguous(), kept
        wants_question, wants_table, wants_bias = ctx.needs_input_grad[:3]
        of_question = of_table = of_bias = None
        if wants_question:
            of_question = torch.empty_like(question)
            back_to_question(table, index, gradient, ctx.clip, factors, times, of_question)
        if wants_table or wants_bias:  # in one pass, both
            starts, places = index.new_zeros(len(table) + 1), torch.empty_like(index.flatten())
            sort_by_entity(index.flatten(), starts, places)
            of_table, of_bias = torch.empty_like(table), table.new_empty(len(table))
            back_to_table(
                question, table, gradient, starts, places, ctx.clip, products, factors, times, of_table, of_bias
            )
        return of_question, of_table if wants_table else None, of_bias if wants_bias else None, None, None


class _PerTripleScores(torch.autograd.Function):
    """By torch's sparse kernels."""

    @staticmethod
    def forward(ctx: Any, question: Tensor, table: Tensor, bias: Tensor | None, index: Tensor, clip: Clip) -> Tensor:
        ctx.save_for_backward(question, table, index)
        question, table = question.detach(), table.detach()
        ctx.clip, ctx.asked = None, question
        if clip is None:
            scores = _products(question, table, index)
        else:
            ctx.clip = NormClipping.of(table, *clip)
            ctx.factor, ctx.time = _look_up(ctx.clip.factor, index), _look_up(ctx.clip.time, index)
            ctx.asked = question.clone()
            ctx.asked[:, 0] = 0.0  # the time that is stored is not that of the points
            ctx.products = _products(ctx.asked, table, index)
            scores = (ctx.products * ctx.factor).addcmul_(ctx.time, question[:, :1])
        return scores if bias is None else scores.add_(_look_up(bias.detach(), index))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        question, table, index = (saved.detach() for saved in ctx.saved_tensors)
        wants_question, wants_table, wants_bias = ctx.needs_input_grad[:3]
        weight = gradient.contiguous() if ctx.clip is None else gradient * ctx.factor
        of_question = of_table = of_bias = None
        if wants_question:
            of_question = F.embedding_bag(index, table, mode="sum", per_sample_weights=weight)
            if ctx.clip is not None:
                of_question[:, 0] = torch.linalg.vecdot(gradient, ctx.time)
        if wants_table:
            of_table = _sums_by_entity(ctx.asked, index, weight, len(table))
            if ctx.clip is not None:
                of_time = _totals(index, gradient * question[:, :1], len(table))
                ctx.clip.back_(table, of_table, of_time, along=_totals(index, weight * ctx.products, len(table)))
        if wants_bias:
            of_bias = _totals(index, gradient, len(table))
        return of_question, of_table, of_bias, None, None


def _look_up(values: Tensor, index: Tensor) -> Tensor:
    """``values[index]`` at half the cost."""
    return values.index_select(0, index.flatten()).view(index.shape)


def _products(question: Tensor, table: Tensor, index: Tensor) -> Tensor:
    """Inner products with the rows that each question wants, ``(B, C)``."""
    starts = torch.arange(0, index.numel() + 1, index.shape[1])
    return products_at(question, table, starts, index.flatten()).view(index.shape)


def _sums_by_entity(question: Tensor, index: Tensor, weight: Tensor, count: int) -> Tensor:
    """For every entity the weighted sum of the questions that it is a candidate of, ``(count, k)``."""
    entity = index.flatten()
    place = _ascending(entity.numpy(), count)
    starts = torch.zeros(count + 1, dtype=torch.long)
    torch.cumsum(torch.bincount(entity, minlength=count), 0, out=starts[1:])
    return F.embedding_bag(
        torch.from_numpy(place // index.shape[1]),
        question,
        starts,
        mode="sum",
        per_sample_weights=weight.flatten().index_select(0, torch.from_numpy(place)),
        include_last_offset=True,
    )


def _ascending(numbers: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Where numbers below ``count`` stand in ascending order, equal ones as they come, so that sums are the same bits.

    Sixteen bits at a time, which NumPy sorts by counting, several times as fast as by comparing.
    """
    order = np.argsort(numbers.astype(np.uint16), kind="stable")
    for shift in range(16, (count - 1).bit_length(), 16):
        order = order[np.argsort((numbers[order] >> shift).astype(np.uint16), kind="stable")]
    return order


def _totals(index: Tensor, values: Tensor, count: int) -> Tensor:
    """For every entity the sum of its values, ``(count,)``."""
    return values.new_zeros(count).index_add_(0, index.flatten(), values.flatten())
