"""Lorentz attention: softmax over negative squared distances, aggregation by the centroid, on the fused kernel."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from hybonet.geometry import Lorentz, to_sheet
from hybonet.geometry.fused import Fused
from hybonet.nn.dropout import kept
from hybonet.nn.module import wide_in_autocast


def _flip_time(x: Tensor) -> Tensor:
    flipped = x.clone()
    flipped[..., :1].neg_()
    return flipped


def _signs(x: Tensor) -> Tensor:
    """Those of the Lorentzian inner product, ``(d,)``: -1 for time, 1 for space."""
    signs = torch.ones(x.shape[-1], dtype=x.dtype, device=x.device)
    signs[0] = -1.0
    return signs


class _FlashCentroid(Fused):
    """softmax(2 s <q,k>_L) v scaled to the hyperboloid, in less memory than autograd's own composition.

    The centroid does not change when its argument is scaled, so its gradient g satisfies g·o = 0 for the unnormalised
    output o and for its multiple, the result. The kernel's backward uses o only in g·o: the result serves in its place,
    and o need not be kept. The flipped query is made again in the backward instead of being stored.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(
        q: Tensor, k: Tensor, v: Tensor, is_causal: bool, scale: float, radius: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        out, logsumexp = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            _flip_time(q), k, v, 0.0, is_causal, scale=scale
        )
        # In memory heads lie side by side: rows of one head each, without a copy.
        rows = out.transpose(-2, -3).reshape(-1, out.shape[-1])
        # Weights sum to 1, so -<o,o> >= k: anything less is rounding.
        factor = -((rows * rows) @ _signs(rows))
        factor = factor.clamp_min_(radius**2).rsqrt_().mul_(radius)[:, None]
        out = (rows * factor).view_as(out.transpose(-2, -3)).transpose(-2, -3)
        return out, logsumexp, factor

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(*inputs[:3], *output)
        ctx.options = inputs[3:]

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, out, logsumexp, factor = ctx.saved_tensors
        is_causal, scale, radius = ctx.options
        shape = (out.shape[0], out.shape[2], out.shape[1], out.shape[3])
        rows, of_rows = (t.transpose(-2, -3).reshape(-1, out.shape[-1]) for t in (out, grad))
        along = (of_rows * rows) @ rows.new_full((rows.shape[-1], 1), radius**-2)
        grad_out = torch.addcmul(of_rows, rows, along)
        grad_out[:, :1] -= 2.0 * along * rows[:, :1]
        grad_out = grad_out.mul_(factor).view(shape).transpose(-2, -3)
        grad_q, grad_k, grad_v = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(
            grad_out, _flip_time(q), k, v, out, logsumexp, 0.0, is_causal, scale=scale
        )
        grad_q[..., :1].neg_()
        return grad_q, grad_k, grad_v, None, None, None


def lorentz_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    manifold: Lorentz,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | Tensor | None = None,
) -> Tensor:
    r"""Lorentz attention, :math:`\mu_i = \mathrm{centroid}_j(\nu_{ij}, v_j)` with
    :math:`\nu_{ij} = \mathrm{softmax}_j(-s\, d_L^2(q_i, k_j))`.

    :math:`d_L^2` is affine in :math:`\langle q, k\rangle_L` and softmax drops constants, so this is exactly torch's
    scaled dot-product attention on :math:`(-q_t, q_s)` with scale 2s, followed by a Lorentz normalisation: no n×n
    matrix of weights is built wherever torch has a fused kernel. On processors that holds with dropout, too: the
    centroid does not change when its weights are scaled together, so that dropping weights is the same as hiding their
    keys from the softmax.

    Args:
        q, k, v: points, ``(..., heads, L, d)``, ``(..., heads, S, d)``, ``(..., heads, S, e)``.
        attn_mask: as in ``F.scaled_dot_product_attention``: boolean, True = attend, or a float mask added to the
            logits; broadcast to ``(..., heads, L, S)``. A query that may attend to nothing gives the origin.
        dropout_p: dropout on the weights (the caller passes 0 in evaluation).
        is_causal: query i sees keys up to i only.
        scale: s, by default :math:`1/\sqrt{d}`; a tensor if it is learned.

    Returns: points ``(..., heads, L, e)``.

    Example:
        >>> import torch
        >>> from hybonet import Lorentz
        >>> manifold = Lorentz()
        >>> q = manifold.random_normal(2, 4, 7, 8)
        >>> lorentz_attention(q, q, q, manifold=manifold, is_causal=True).shape
        torch.Size([2, 4, 7, 8])
    """
    _check_shapes(q, k, v)
    for name, points in (("q", q), ("k", k), ("v", v)):
        manifold.validate(points, name=name)
    if not 0.0 <= dropout_p <= 1.0:
        raise ValueError(f"expected dropout_p between 0 and 1, got {dropout_p}")
    if dropout_p > 0.0 and q.device.type == "cpu" and (attn_mask is None or attn_mask.dtype == torch.bool):
        # Not beside a float mask: keys that it hides by a large number would be seen where all others are dropped.
        lead = torch.broadcast_shapes(q.shape[:-2], k.shape[:-2])
        seen, dropout_p = kept(torch.Size((*lead, q.shape[-2], k.shape[-2])), dropout_p), 0.0
        attn_mask = seen if attn_mask is None else attn_mask & seen
    if is_causal and attn_mask is not None:
        attn_mask, is_causal = causal_mask(q, k, attn_mask), False
    if attn_mask is not None and attn_mask.dtype != torch.bool:
        attn_mask = attn_mask.to(q.dtype)
    if scale is None:
        scale = 1.0 / math.sqrt(q.shape[-1])
    if not isinstance(scale, Tensor) and _flash_centroid_serves(q, k, v, attn_mask, dropout_p, manifold):
        radius = math.sqrt(-1.0 / manifold.curvature)
        if not torch.is_grad_enabled():  # small steps feel autograd's own cost
            return _FlashCentroid.forward(q, k, v, is_causal, 2.0 * scale, radius)[0]
        # torch.compile wants three tensors here, even if they are one.
        return _FlashCentroid.apply(q, k.view_as(k), v.view_as(v), is_causal, 2.0 * scale, radius)[0]
    q = q * (2.0 * scale * _signs(q))
    total = F.scaled_dot_product_attention(
        q, k, v, attn_mask=attn_mask, dropout_p=dropout_p, is_causal=is_causal, scale=1.0
    )
    return to_sheet(wide_in_autocast(total), K=manifold.K)


def _flash_centroid_serves(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float, manifold: Lorentz
) -> bool:
    """Whether the memory-saving CPU path applies; everything else goes through torch's public function."""
    return (
        q.device.type == "cpu"
        and q.dtype in (torch.float32, torch.float64)
        and not torch.is_autocast_enabled("cpu")
        and q.dim() == 4
        and q.shape[:2] == k.shape[:2] == v.shape[:2]
        and q.shape[-1] == v.shape[-1]
        and q.shape[-2] > 0  # the kernel divides by the lengths
        and k.shape[-2] > 0
        and mask is None  # a fully masked row needs the general path's care
        and dropout_p == 0.0
        and not manifold.learnable
    )


def attention_weights(
    q: Tensor,
    k: Tensor,
    *,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | Tensor | None = None,
) -> Tensor:
    r"""The weights :math:`\nu_{ij}` of :func:`lorentz_attention` themselves, ``(..., L, S)``: for pictures, not for
    training.

    Example:
        >>> import torch
        >>> from hybonet import Lorentz
        >>> q = Lorentz().random_normal(5, 4)
        >>> attention_weights(q, q, is_causal=True)[0]
        tensor([1., 0., 0., 0., 0.])
    """
    if scale is None:
        scale = 1.0 / math.sqrt(q.shape[-1])
    logits = 2.0 * scale * (_flip_time(q) @ k.transpose(-1, -2))
    if is_causal:
        attn_mask = causal_mask(q, k, attn_mask)
    if attn_mask is not None:
        logits = logits.masked_fill(~attn_mask, -math.inf) if attn_mask.dtype == torch.bool else logits + attn_mask
    nothing = logits.amax(-1, keepdim=True) == -math.inf  # softmax would divide zero by zero, in its gradient too
    return torch.softmax(logits.masked_fill(nothing, 0.0), dim=-1).masked_fill(nothing, 0.0)


def combine_masks(first: Tensor, second: Tensor) -> Tensor:
    """Both masks at once, each boolean (True = attend) or additive; boolean if both are.

    Example:
        >>> import torch
        >>> combine_masks(torch.tensor([True, False]), torch.tensor([0.5, 0.5]))
        tensor([0.5000,   -inf])
    """
    if first.dtype == torch.bool and second.dtype == torch.bool:
        return first & second
    dtype = second.dtype if first.dtype == torch.bool else first.dtype

    def additive(mask: Tensor) -> Tensor:
        if mask.dtype != torch.bool:
            return mask.to(dtype)
        return torch.zeros_like(mask, dtype=dtype).masked_fill(~mask, -math.inf)

    return additive(first) + additive(second)


def causal_mask(q: Tensor, k: Tensor, mask: Tensor | None, past: int = 0) -> Tensor:
    """The mask that also hides keys after a query's own position; ``past`` keys come before the first query."""
    keep = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril(past)
    return keep if mask is None else combine_masks(mask, keep)


def _check_shapes(q: Tensor, k: Tensor, v: Tensor) -> None:
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(
            f"expected queries and keys with equally many ambient coordinates, got q {tuple(q.shape)} and "
            f"k {tuple(k.shape)}"
        )
    if v.shape[-1] < 2:
        raise ValueError(f"expected values with at least 2 ambient coordinates, got v {tuple(v.shape)}")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"expected one value a key, got k {tuple(k.shape)} and v {tuple(v.shape)}")
