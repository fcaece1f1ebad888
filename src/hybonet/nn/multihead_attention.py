"""Multi-head Lorentz attention."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.geometry.numerics import Curvature
from hybonet.nn.attention import attention_weights, causal_mask, combine_masks, lorentz_attention
from hybonet.nn.kv_cache import KVCache, fold_copies, unfold_copies
from hybonet.nn.linear import GATED, Form, LorentzLinear, head_features, last_options, linear_options
from hybonet.nn.module import LorentzModule
from hybonet.nn.scales import attention_scale, centroid_unit, head_std


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
        form: of the linear maps and of the logits' scale s. ``"scaled"``: as in :mod:`hybonet.nn.scales`; ``"paper"``
            and ``"paper_code"``: :math:`1/\sqrt{d}` of a head's coordinates.
        learnable_scale: train s: divided by a number that starts at 1, or, except in the scaled form, the inverse of a
            number that starts at :math:`\sqrt{\mathtt{embed\_dim}}`, as in the authors' released code.
        head_scale: λ of the gated maps to q, k and v, if other than that of ``linear``. Heads far from the origin are
            apart whatever they are, so that attention starts sharp and at random: 2 to 3 lets it start even.
        out_form: form of the output map, if other than ``form``: ``"pure"`` adds to the residual as it is.
        linear: further options for the four :class:`LorentzLinear` maps, e.g. ``{"residual_dropout": 0.1}``.

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
        form: Form = "scaled",
        learnable_scale: bool = False,
        head_scale: float | None = None,
        out_form: Form | None = None,
        manifold: Lorentz | None = None,
        linear: dict[str, Any] | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(manifold)
        if not isinstance(dropout, float | int):
            raise ValueError(f"expected dropout to be a number, got {dropout!r}; a manifold is passed as manifold=...")
        if not 0.0 <= dropout <= 1.0:
            raise ValueError(f"expected dropout probability between 0 and 1, got {dropout}")
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.head_dim = head_features(embed_dim, num_heads)
        self.dropout, self.batch_first = dropout, batch_first
        options = linear_options(self.manifold, linear, device, dtype, form=form)
        self.form = form
        per_head = {**options, "num_heads": num_heads, "width": embed_dim}
        if form == "scaled":
            per_head.setdefault("init_std", head_std(embed_dim))
        if head_scale is not None:
            per_head["scale"] = head_scale
        self.q_proj = LorentzLinear(embed_dim, embed_dim, bias, **per_head)
        self.k_proj = LorentzLinear(kdim or embed_dim, embed_dim, bias, **per_head)
        self.v_proj = LorentzLinear(vdim or embed_dim, embed_dim, bias, **per_head)
        last = {**last_options(options, out_form), "in_heads": num_heads}
        if last["form"] == "scaled":
            last["in_unit"] = centroid_unit(embed_dim, self.head_dim)
        self.out_proj = LorentzLinear(embed_dim, embed_dim, bias, **last)
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        self.softmax_scale = nn.Parameter(torch.empty(1, **factory)) if learnable_scale else None
        self._reset_scale()

    def reset_parameters(self) -> None:
        """Reset the four linear maps and the logit scale."""
        for layer in (self.q_proj, self.k_proj, self.v_proj, self.out_proj):
            layer.reset_parameters()
        self._reset_scale()

    def _reset_scale(self) -> None:
        if self.softmax_scale is not None:
            nn.init.constant_(self.softmax_scale, 1.0 if self.form == "scaled" else math.sqrt(self.embed_dim))

    def _logit_scale(self) -> Curvature | None:
        """s of :func:`lorentz_attention`; None for its own."""
        learned = None if self.softmax_scale is None else self.softmax_scale.squeeze()
        if self.form != "scaled":
            return None if learned is None else 1.0 / learned
        scale = attention_scale(self.embed_dim, self.head_dim, K=self.manifold.K)
        return scale if learned is None else scale / learned

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
        beside it, key and value are those of the first call (cross-attention to a memory that does not grow), and
        queries may be a multiple of the memory's rows: equally many neighbouring ones share a row.
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
            q = fold_copies(q, len(k))
        else:
            q, k, v = self._project(query, key, value)
        past = 0
        if cache is not None and not static_kv:
            # Positions given together see the past and each other up to themselves.
            is_causal, past = q.shape[-2] > 1, cache.length
            k, v = cache.append(k, v)
        mask = self._attend_mask(attn_mask, key_padding_mask, q, k)
        if is_causal and past:
            mask, is_causal = causal_mask(q, k, mask, past), False
        scale = self._logit_scale()
        with self._precise(q):
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
        if static_kv and cache is not None:
            context = unfold_copies(context, len(query))
        out = self.out_proj(context.transpose(-2, -3).flatten(-2), residual)
        weights = None
        if need_weights:
            with self._precise(q):
                weights = attention_weights(q, k, attn_mask=mask, is_causal=is_causal, scale=scale)
            weights = weights.mean(-3) if average_attn_weights else weights
        return (out.transpose(0, 1) if swap else out), weights

    def _precise(self, q: Tensor) -> AbstractContextManager[None]:
        """Gated heads may lie far out, where products of times nearly cancel: autocast leaves their attention alone."""
        narrow = self.form in GATED and torch.is_autocast_enabled(q.device.type)
        return torch.autocast(q.device.type, enabled=False) if narrow else nullcontext()

    def _sources(self, key: Tensor, value: Tensor) -> tuple[tuple[LorentzLinear, Tensor], ...]:
        return (self.k_proj, key), (self.v_proj, value)

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q, k and v as ``(..., heads, length, head_dim)``; one GEMM for all three in self-attention."""
        layers = (self.q_proj, self.k_proj, self.v_proj)
        same = query is key and key is value and all(_is_one_product(p) for p in layers)
        if same and len({p.in_features for p in layers}) == 1:
            q, k, v = self.q_proj.side_by_side(layers[1:], query).unbind(-3)
        else:
            q, k, v = (p(x) for p, x in zip(layers, (query, key, value), strict=True))
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
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}, dropout={self.dropout}, form={self.form}"


def _is_one_product(layer: nn.Module) -> bool:
    """Whether a layer is ours (adapters wrap layers), does no more than its product and lift, and has no hooks."""
    if not isinstance(layer, LorentzLinear):
        return False
    bare = layer.gate_bias and layer.activation is None and not layer.dropout
    return bare and layer.form != "paper_code" and not layer.watched
