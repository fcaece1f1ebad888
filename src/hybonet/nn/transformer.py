"""The Lorentz Transformer.

By default blocks read what a :class:`~hybonet.nn.LorentzNorm` gives and add to a stream of points, with the constants
of :mod:`hybonet.nn.scales`: stacks of any depth then train as a Euclidean pre-norm Transformer does. The paper has no
norms (``form="paper"``): its gated linear layer gives outputs a time coordinate of their own making. Where that layer
stands last in a block, every block measures the sum with its input anew; with ``norm_first`` the last one is pure.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.nn.feedforward import LorentzFeedForward
from hybonet.nn.kv_cache import KVCache
from hybonet.nn.linear import Activation
from hybonet.nn.module import LorentzModule, require_same_manifold
from hybonet.nn.multihead_attention import LorentzMultiheadAttention
from hybonet.nn.norm import LorentzNorm
from hybonet.nn.scales import residual_std

#: A λ of queries, keys and values that goes well with norm_first of the paper's form: near the origin attention starts
#: even, and a centroid is nearly a mean.
HEAD_SCALE = 2.5

StackForm = Literal["scaled", "paper", "paper_code"]


class _Layer(LorentzModule):
    """Blocks that add to a stream of points: one of attention for each name, then feed-forward."""

    attentions: ClassVar[tuple[str, ...]]
    self_attn: LorentzMultiheadAttention
    cross_attn: LorentzMultiheadAttention

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation | str | None = torch.relu,
        *,
        batch_first: bool = True,
        norm_first: bool | None = None,
        form: StackForm = "scaled",
        bias: bool = True,
        manifold: Lorentz | None = None,
        attention: dict[str, Any] | None = None,
        linear: dict[str, Any] | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(manifold)
        scaled = form == "scaled"
        self.form, self.norm_first = form, scaled if norm_first is None else norm_first
        # As in torch, dropout is also on what blocks add; the paper has none there.
        linear = {"residual_dropout": dropout, **(linear or {})} if scaled else linear
        options: dict[str, Any] = {"manifold": self.manifold, "linear": linear, "device": device, "dtype": dtype}
        options |= {"form": form, "out_form": "pure" if self.norm_first and not scaled else None}
        attend = {"dropout": dropout, "bias": bias, "batch_first": batch_first, **options, **(attention or {})}
        for name in self.attentions:
            self.add_module(name, LorentzMultiheadAttention(d_model, nhead, **attend))
        self.feed_forward = LorentzFeedForward(d_model, dim_feedforward, dropout, activation, bias, **options)
        for i in range(len(self.attentions) + 1 if scaled else 0):
            norm = LorentzNorm(d_model, manifold=self.manifold, device=device, dtype=dtype)
            self.add_module(f"norm{i + 1}", norm)
        if scaled:
            self.reset_parameters()

    def reset_parameters(self, depth: int = 1) -> None:
        """Draw all blocks anew, for a stack of that many layers."""
        for part in self.children():
            if isinstance(part, LorentzMultiheadAttention | LorentzFeedForward) and self.form == "scaled":
                last = part.out_proj if isinstance(part, LorentzMultiheadAttention) else part.linear2
                last.init_std = residual_std(depth)
            if part is not self.manifold:
                part.reset_parameters()  # type: ignore[operator]

    def _add(self, x: Tensor, number: int, block: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        """What the block makes of the stream: called with what it reads and what it adds to."""
        if self.form != "scaled":
            return block(x, x)
        norm = getattr(self, f"norm{number}")
        return block(norm(x), x) if self.norm_first else norm(block(x, x))


class LorentzTransformerEncoderLayer(_Layer):
    """Self-attention and feed-forward, each with the block's input as residual.

    Arguments and masks follow ``nn.TransformerEncoderLayer`` (``batch_first`` is True by default); all sizes are
    ambient.

    Args:
        d_model, nhead, dim_feedforward: coordinates, heads, coordinates inside the feed-forward block.
        dropout: on attention weights, on the feed-forward activations and on what blocks add to their input (the last
            in the scaled form alone); ``attention={"dropout": …}`` and ``linear={"residual_dropout": …}`` set the first
            and the last apart.
        activation: of the feed-forward block.
        norm_first: norms before the blocks, instead of after the residuals; by default as the form has it. Without
            norms, in the paper's form, False is its way, and True has each block's last linear layer pure.
        form: ``"scaled"`` trains at any depth (:mod:`hybonet.nn.scales`) and has norms first; ``"paper"`` and
            ``"paper_code"`` are the paper's layer and that of its authors' code, without norms.
        attention: further options for :class:`LorentzMultiheadAttention`, e.g. ``{"learnable_scale": True}``.
        linear: further options for every :class:`LorentzLinear`, e.g. ``{"dropout": 0.1}``.

    Shapes: ``(N, L, d_model) -> (N, L, d_model)``.

    Example:
        >>> layer = LorentzTransformerEncoderLayer(16, 4, 32)
        >>> x = layer.manifold.random_normal(2, 5, 16)
        >>> layer(x).shape
        torch.Size([2, 5, 16])
    """

    attentions = ("self_attn",)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        def attend(x: Tensor, residual: Tensor) -> Tensor:
            masks = {"key_padding_mask": src_key_padding_mask, "attn_mask": src_mask, "is_causal": is_causal}
            return self.self_attn(x, residual=residual, **masks)[0]

        return self._add(self._add(src, 1, attend), 2, self.feed_forward)


class LorentzTransformerDecoderLayer(_Layer):
    """Self-attention, cross-attention to a memory, and feed-forward, each with the block's input as residual.

    Arguments and masks follow ``nn.TransformerDecoderLayer``; see :class:`LorentzTransformerEncoderLayer` for the rest.
    The memory is read as it comes: normed, if it is a default encoder's.

    Shapes: ``tgt (N, L, d_model)``, ``memory (N, S, d_model) -> (N, L, d_model)``.

    Example:
        >>> layer = LorentzTransformerDecoderLayer(16, 4, 32)
        >>> x, memory = layer.manifold.random_normal(2, 5, 16), layer.manifold.random_normal(2, 7, 16)
        >>> layer(x, memory, tgt_is_causal=True).shape
        torch.Size([2, 5, 16])
    """

    attentions = ("self_attn", "cross_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        *,
        cache: tuple[KVCache, KVCache] | None = None,
    ) -> Tensor:
        own, cross = (None, None) if cache is None else cache

        def attend(x: Tensor, residual: Tensor) -> Tensor:
            masks = {"key_padding_mask": tgt_key_padding_mask, "attn_mask": tgt_mask, "is_causal": tgt_is_causal}
            return self.self_attn(x, residual=residual, cache=own, **masks)[0]

        def recall(x: Tensor, residual: Tensor) -> Tensor:
            masks = {"key_padding_mask": memory_key_padding_mask, "attn_mask": memory_mask}
            return self.cross_attn(x, memory, residual=residual, cache=cross, static_kv=cross is not None, **masks)[0]

        return self._add(self._add(self._add(tgt, 1, attend), 2, recall), 3, self.feed_forward)


class _Stack(LorentzModule):
    """Copies of a layer on one manifold, each drawn anew, and a norm at the end."""

    def __init__(self, layer: Any, num_layers: int, norm: nn.Module | bool | None) -> None:
        super().__init__(layer.manifold)
        memo = {id(layer.manifold): layer.manifold}
        self.layers = nn.ModuleList(copy.deepcopy(layer, dict(memo)) for _ in range(num_layers))
        if norm is None:
            norm = isinstance(layer, _Layer) and layer.form == "scaled" and layer.norm_first
        if norm is True:
            of_weight = next(layer.parameters())
            features = layer.self_attn.embed_dim
            norm = LorentzNorm(features, manifold=layer.manifold, device=of_weight.device, dtype=of_weight.dtype)
        self.norm = norm or None
        self._reset_layers()

    def reset_parameters(self) -> None:
        """Reset every layer and the norm."""
        self._reset_layers()
        if self.norm is not None:
            self.norm.reset_parameters()  # type: ignore[operator]

    def _reset_layers(self) -> None:
        for layer in self.layers:
            layer.reset_parameters(*([len(self.layers)] if isinstance(layer, _Layer) else []))  # type: ignore[operator]


class LorentzTransformerEncoder(_Stack):
    """A stack of encoder layers, each drawn anew (``nn.TransformerEncoder`` starts with equal copies).

    ``norm`` is applied at the end: a module, or True for a :class:`~hybonet.nn.LorentzNorm`. By default there is one
    where layers have theirs first, so that heads and decoders read points at one radius.

    Shapes: ``(N, L, d_model) -> (N, L, d_model)``.

    Example:
        >>> encoder = LorentzTransformerEncoder(LorentzTransformerEncoderLayer(16, 4, 32), num_layers=2)
        >>> encoder(encoder.manifold.random_normal(2, 5, 16)).shape
        torch.Size([2, 5, 16])
    """

    def __init__(
        self,
        encoder_layer: LorentzTransformerEncoderLayer,
        num_layers: int,
        norm: nn.Module | bool | None = None,
    ) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, is_causal)
        return src if self.norm is None else self.norm(src)


class LorentzTransformerDecoder(_Stack):
    """A stack of decoder layers, each drawn anew; ``norm`` as in :class:`LorentzTransformerEncoder`.

    For decoding step by step, ``new_cache()`` gives one pair of caches a layer to pass as ``cache``.

    Shapes: ``tgt (N, L, d_model)``, ``memory (N, S, d_model) -> (N, L, d_model)``.

    Example:
        >>> decoder = LorentzTransformerDecoder(LorentzTransformerDecoderLayer(16, 4, 32), num_layers=2)
        >>> x, memory = decoder.manifold.random_normal(2, 5, 16), decoder.manifold.random_normal(2, 7, 16)
        >>> cache = decoder.new_cache()
        >>> decoder(x[:, :1], memory, cache=cache).shape
        torch.Size([2, 1, 16])
    """

    def __init__(
        self,
        decoder_layer: LorentzTransformerDecoderLayer,
        num_layers: int,
        norm: nn.Module | bool | None = None,
    ) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def new_cache(self) -> list[tuple[KVCache, KVCache]]:
        """Empty caches, one for self- and one for cross-attention in each layer."""
        return [(KVCache(), KVCache()) for _ in self.layers]

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        *,
        cache: list[tuple[KVCache, KVCache]] | None = None,
    ) -> Tensor:
        for i, layer in enumerate(self.layers):
            tgt = layer(
                tgt,
                memory,
                tgt_mask,
                memory_mask,
                tgt_key_padding_mask,
                memory_key_padding_mask,
                tgt_is_causal,
                cache=None if cache is None else cache[i],
            )
        return tgt if self.norm is None else self.norm(tgt)


class LorentzTransformer(LorentzModule):
    """Encoder and decoder, from points to points; the arguments follow ``nn.Transformer``.

    Args:
        d_model, nhead, dim_feedforward, dropout, activation, norm_first, form: as in
            :class:`LorentzTransformerEncoderLayer`.
        num_encoder_layers, num_decoder_layers: how many of each.
        custom_encoder, custom_decoder: modules to use instead; they must live on the same manifold.

    Shapes: ``src (N, S, d_model)``, ``tgt (N, L, d_model) -> (N, L, d_model)``.

    Example:
        >>> model = LorentzTransformer(16, 4, 2, 2, 32)
        >>> src, tgt = model.manifold.random_normal(2, 7, 16), model.manifold.random_normal(2, 5, 16)
        >>> model(src, tgt, tgt_is_causal=True).shape
        torch.Size([2, 5, 16])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation | str | None = torch.relu,
        custom_encoder: nn.Module | None = None,
        custom_decoder: nn.Module | None = None,
        *,
        batch_first: bool = True,
        norm_first: bool | None = None,
        form: StackForm = "scaled",
        bias: bool = True,
        manifold: Lorentz | None = None,
        attention: dict[str, Any] | None = None,
        linear: dict[str, Any] | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(manifold)
        given = {"custom_encoder": custom_encoder, "custom_decoder": custom_decoder}
        require_same_manifold(self.manifold, **{name: m for name, m in given.items() if m is not None})
        self.d_model, self.nhead = d_model, nhead
        sizes = (d_model, nhead, dim_feedforward, dropout, activation)
        options: dict[str, Any] = {
            "batch_first": batch_first,
            "norm_first": norm_first,
            "form": form,
            "bias": bias,
            "manifold": self.manifold,
            "attention": attention,
            "linear": linear,
            "device": device,
            "dtype": dtype,
        }
        if custom_encoder is None:
            custom_encoder = LorentzTransformerEncoder(
                LorentzTransformerEncoderLayer(*sizes, **options), num_encoder_layers
            )
        if custom_decoder is None:
            custom_decoder = LorentzTransformerDecoder(
                LorentzTransformerDecoderLayer(*sizes, **options), num_decoder_layers
            )
        self.encoder, self.decoder = custom_encoder, custom_decoder

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool = False,
        tgt_is_causal: bool = False,
    ) -> Tensor:
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, tgt_is_causal
        )

    def reset_parameters(self) -> None:
        """Reset encoder and decoder, custom ones included."""
        for part in (self.encoder, self.decoder):
            part.reset_parameters()  # type: ignore[operator]

    @staticmethod
    def generate_square_subsequent_mask(size: int, device: torch.device | str | None = None) -> Tensor:
        """The causal mask, True above the diagonal (= ignore); passing ``tgt_is_causal=True`` instead is faster.

        Example:
            >>> LorentzTransformer.generate_square_subsequent_mask(2)
            tensor([[False,  True],
                    [False, False]])
        """
        return torch.ones(size, size, dtype=torch.bool, device=device).triu(1)
