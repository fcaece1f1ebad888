"""Lorentz attention: softmax over negative squared distances, aggregation by the centroid, on the fused kernel."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.geometry import Lorentz, to_sheet
from hybonet.nn.linear import LorentzLinear, gated_lift, head_features
from hybonet.nn.module import LorentzModule, wide_in_autocast


def _flip_time(x: Tensor) -> Tensor:
    return torch.cat((-x[..., :1], x[..., 1:]), dim=-1)


class _FlashCentroid(torch.autograd.Function):
    """softmax(2 s <q,k>_L) v scaled to the sheet, in less memory than autograd's own composition.

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
        time, space_square = out[..., :1], out[..., 1:].square().sum(-1, keepdim=True)
        # Weights sum to 1, so -<o,o> >= k: anything less is rounding.
        factor = radius * (time.square() - space_square).clamp_min(radius**2).rsqrt()
        out = out.mul_(factor)
        out[..., :1] = (out[..., 1:].square().sum(-1, keepdim=True) + radius**2).sqrt()
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
        along = (grad * out).sum(-1, keepdim=True) / radius**2
        grad_out = torch.addcmul(grad, out, along)
        grad_out[..., :1] -= 2.0 * along * out[..., :1]
        grad_q, grad_k, grad_v = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(
            grad_out.mul_(factor), _flip_time(q), k, v, out, logsumexp, 0.0, is_causal, scale=scale
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
    matrix is built wherever torch has a fused kernel.

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
    if is_causal and attn_mask is not None:
        attn_mask, is_causal = _causal(q, k, attn_mask), False
    if scale is None:
        scale = 1.0 / math.sqrt(q.shape[-1])
    if isinstance(scale, Tensor):
        q, scale = _flip_time(q) * (2.0 * scale), 1.0
    elif _flash_centroid_serves(q, k, v, attn_mask, dropout_p, manifold):
        radius = math.sqrt(-1.0 / manifold.curvature)
        # torch.compile wants three tensors here, even if they are one.
        return _FlashCentroid.apply(q, k.view_as(k), v.view_as(v), is_causal, 2.0 * scale, radius)[0]
    else:
        q, scale = _flip_time(q), 2.0 * scale
    total = F.scaled_dot_product_attention(
        q, k, v, attn_mask=attn_mask, dropout_p=dropout_p, is_causal=is_causal, scale=scale
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
        attn_mask = _causal(q, k, attn_mask)
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


def _causal(q: Tensor, k: Tensor, mask: Tensor | None, past: int = 0) -> Tensor:
    """The mask that also hides keys after a query's own position; ``past`` keys come before the first query."""
    keep = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril(past)
    return keep if mask is None else combine_masks(mask, keep)


def _check_shapes(q: Tensor, k: Tensor, v: Tensor) -> None:
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(
            f"expected queries and keys with equally many ambient coordinates, got q {tuple(q.shape)} and "
            f"k {tuple(k.shape)}"
        )
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"expected one value a key, got k {tuple(k.shape)} and v {tuple(v.shape)}")


class KVCache:
    """Keys and values of the positions decoded so far, for one attention layer.

    Room is taken in blocks, so that decoding one position costs one write and no copy of the past. The writes are in
    place: decode under ``torch.no_grad()``.

    Example:
        >>> import torch
        >>> from hybonet.nn import LorentzMultiheadAttention
        >>> attention, cache = LorentzMultiheadAttention(8, 2), KVCache()
        >>> x = attention.manifold.random_normal(1, 3, 8)
        >>> steps = [attention(x[:, i : i + 1], cache=cache)[0] for i in range(3)]
        >>> torch.allclose(torch.cat(steps, 1), attention(x, is_causal=True)[0], atol=1e-5)
        True
    """

    block = 64

    def __init__(self) -> None:
        self.length = 0
        self._keys: Tensor | None = None
        self._values: Tensor | None = None

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add positions ``(batch, heads, new, d)`` and return all keys and values so far."""
        end = self.length + key.shape[-2]
        self._keys = self._store(self._keys, key, end)
        self._values = self._store(self._values, value, end)
        self.length = end
        return self._keys[..., :end, :], self._values[..., :end, :]

    def stored(self) -> tuple[Tensor, Tensor] | None:
        """Keys and values so far, or None before the first."""
        if self._keys is None or self._values is None:
            return None
        return self._keys[..., : self.length, :], self._values[..., : self.length, :]

    def _store(self, buffer: Tensor | None, new: Tensor, end: int) -> Tensor:
        if buffer is not None and buffer.shape[0] != new.shape[0]:
            raise ValueError(
                f"expected a batch of {buffer.shape[0]} as at the first step, got {new.shape[0]}; "
                "use KVCache.reorder to keep a subset of the rows"
            )
        if buffer is None or end > buffer.shape[-2]:
            room = max(self.block, 2 * end)
            larger = new.new_empty(*new.shape[:-2], room, new.shape[-1])
            if buffer is not None:
                larger[..., : self.length, :] = buffer[..., : self.length, :]
            buffer = larger
        buffer[..., self.length : end, :] = new
        return buffer

    def reorder(self, rows: Tensor) -> None:
        """Keep these batch rows, in this order: what beam search does after each step."""
        if self._keys is not None and self._values is not None:
            self._keys, self._values = self._keys[rows], self._values[rows]


class LorentzMultiheadAttention(LorentzModule):
    r"""Multi-head Lorentz attention: per-head Lorentz linear maps for q, k and v, :func:`lorentz_attention`, and a
    Lorentz linear map on the concatenated heads, each of which keeps its own time coordinate.

    The arguments follow ``nn.MultiheadAttention``, except that ``batch_first`` is True and ``need_weights`` False by
    default. ``residual`` enters the output map as the paper's residual connection.

    Args:
        embed_dim, num_heads: ambient coordinates in all, and heads that share them evenly.
        dropout: on the attention weights (training only).
        bias: bias of the four linear maps.
        kdim, vdim: ambient coordinates of key and value, if other than ``embed_dim``.
        learnable_scale: a trained logit scale as in the authors' released code (:math:`-d^2_L/s`, s from
            :math:`\sqrt{\mathtt{embed\_dim}}`) instead of the paper's :math:`1/\sqrt{d}`.
        linear: further options for the four :class:`LorentzLinear` maps, e.g. ``{"time_gate": "released"}``.

    Shapes: ``query (N, L, E)``, ``key, value (N, S, E)`` (or unbatched without N) ``-> (N, L, E)`` and, with
    ``need_weights``, the weights averaged over heads ``(N, L, S)``.

    Example:
        >>> import torch
        >>> attention = LorentzMultiheadAttention(16, 4)
        >>> x = attention.manifold.random_normal(2, 5, 16)
        >>> out, weights = attention(x, x, x, need_weights=True)
        >>> out.shape, weights.shape
        (torch.Size([2, 5, 16]), torch.Size([2, 5, 5]))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        *,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = True,
        learnable_scale: bool = False,
        manifold: Lorentz | None = None,
        linear: dict[str, Any] | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(manifold)
        if not 0.0 <= dropout <= 1.0:
            raise ValueError(f"expected dropout probability between 0 and 1, got {dropout}")
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.head_dim = head_features(embed_dim, num_heads)
        self.dropout, self.batch_first = dropout, batch_first
        options: dict[str, Any] = {"manifold": self.manifold, "device": device, "dtype": dtype, **(linear or {})}
        per_head = {**options, "num_heads": num_heads}
        self.q_proj = LorentzLinear(embed_dim, embed_dim, bias, **per_head)
        self.k_proj = LorentzLinear(kdim or embed_dim, embed_dim, bias, **per_head)
        self.v_proj = LorentzLinear(vdim or embed_dim, embed_dim, bias, **per_head)
        self.out_proj = LorentzLinear(embed_dim, embed_dim, bias, **{**options, "in_heads": num_heads})
        self.softmax_scale = (
            nn.Parameter(torch.tensor(math.sqrt(embed_dim), device=device, dtype=dtype)) if learnable_scale else None
        )

    def reset_parameters(self) -> None:
        """Reset the four linear maps and the logit scale."""
        for layer in (self.q_proj, self.k_proj, self.v_proj, self.out_proj):
            layer.reset_parameters()
        if self.softmax_scale is not None:
            nn.init.constant_(self.softmax_scale, math.sqrt(self.embed_dim))

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = False,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
        *,
        residual: Tensor | None = None,
        cache: KVCache | None = None,
        static_kv: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend; without key and value, to the query itself.

        As in ``nn.MultiheadAttention``, True in ``key_padding_mask`` (N, S) and in a boolean ``attn_mask`` (L, S) or
        (N·heads, L, S) means *ignore*, and float masks are added to the logits. ``is_causal`` needs no mask beside it.
        With a ``cache`` the given positions continue those of earlier calls, which they may all see; with ``static_kv``
        beside it, key and value are those of the first call (cross-attention to a memory that does not grow).
        """
        key = query if key is None else key
        value = key if value is None else value
        swap = not self.batch_first and query.dim() == 3
        if swap:
            same = (key is query, value is key)
            query = query.transpose(0, 1)
            key = query if same[0] else key.transpose(0, 1)
            value = key if same[1] else value.transpose(0, 1)
            residual = None if residual is None else residual.transpose(0, 1)
        if static_kv and cache is not None:
            q = self.q_proj(query).transpose(-2, -3)
            k, v = cache.stored() or cache.append(*(p(x).transpose(-2, -3) for p, x in self._sources(key, value)))
        else:
            q, k, v = self._project(query, key, value)
        past = 0
        if cache is not None and not static_kv:
            # Positions given together see the past and each other up to themselves.
            is_causal, past = q.shape[-2] > 1, cache.length
            k, v = cache.append(k, v)
        mask = self._attend_mask(attn_mask, key_padding_mask, q, k)
        if is_causal and past:
            mask, is_causal = _causal(q, k, mask, past), False
        scale = None if self.softmax_scale is None else 1.0 / self.softmax_scale
        context = lorentz_attention(
            q,
            k,
            v,
            manifold=self.manifold,
            attn_mask=mask,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=is_causal,
            scale=scale,
        )
        out = self.out_proj(context.transpose(-2, -3).flatten(-2), residual)
        weights = None
        if need_weights:
            weights = attention_weights(q, k, attn_mask=mask, is_causal=is_causal, scale=scale)
            weights = weights.mean(-3) if average_attn_weights else weights
        return (out.transpose(0, 1) if swap else out), weights

    def _sources(self, key: Tensor, value: Tensor) -> tuple[tuple[LorentzLinear, Tensor], ...]:
        return (self.k_proj, key), (self.v_proj, value)

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q, k and v as ``(..., heads, length, head_dim)``; one GEMM for all three in self-attention."""
        layers = (self.q_proj, self.k_proj, self.v_proj)
        same = query is key and key is value and len({p.in_features for p in layers}) == 1
        plain = all(p.time_gate == "paper" and p.gate_bias and p.activation is None and not p.dropout for p in layers)
        if not (plain and same):
            q, k, v = (p(x) for p, x in zip(layers, (query, key, value), strict=True))
        else:
            self.manifold.validate(query, self.q_proj.in_features, name="query")
            weight = torch.cat([p.weight for p in layers])
            bias = None if self.q_proj.bias is None else torch.cat([p.bias for p in layers])  # type: ignore[misc]
            u = F.linear(query, weight, bias).unflatten(-1, (3, self.num_heads, self.head_dim))
            scales = [torch.as_tensor(p.scale, dtype=weight.dtype, device=weight.device) for p in layers]
            q, k, v = gated_lift(u, torch.stack(scales)[:, None, None], K=self.manifold.K).unbind(-3)
        return q.transpose(-2, -3), k.transpose(-2, -3), v.transpose(-2, -3)

    def _attend_mask(self, attn_mask: Tensor | None, padding: Tensor | None, q: Tensor, k: Tensor) -> Tensor | None:
        """Merge torch.nn's two masks (True = ignore) into one for the kernel (True = attend)."""

        def attend(mask: Tensor) -> Tensor:
            return mask.logical_not() if mask.dtype == torch.bool else mask

        batch, pairs = q.shape[:-3], (q.shape[-2], k.shape[-2])
        merged = None
        if attn_mask is not None:
            if attn_mask.shape not in (pairs, (batch.numel() * self.num_heads, *pairs)):
                raise ValueError(
                    f"expected attn_mask of shape (queries, keys) = {pairs} or (batch x heads, queries, keys) = "
                    f"{(batch.numel() * self.num_heads, *pairs)}, got {tuple(attn_mask.shape)}"
                )
            merged = attend(attn_mask)
            if merged.dim() == 3:
                merged = merged.reshape(*batch, self.num_heads, *pairs)
        if padding is not None:
            if padding.shape != (*batch, pairs[1]):
                raise ValueError(
                    f"expected key_padding_mask of shape (batch, keys) = {(*batch, pairs[1])}, True where a key is "
                    f"padding, got {tuple(padding.shape)}; with a cache it covers all keys so far"
                )
            keys = attend(padding)[..., None, None, :]
            merged = keys if merged is None else combine_masks(merged, keys)
        return merged

    def extra_repr(self) -> str:
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}, dropout={self.dropout}"
