"""The Lorentz Transformer: no layer norm, residuals inside the last linear layer of each block.

The normalised linear layer gives its output a time coordinate of its own making, so that it does what layer norms do
elsewhere. Where it stands last in a block, as in the paper, every block measures the sum with its input anew; with
``norm_first`` that layer is pure: blocks add to a stream of points and only what they read from it is normalised.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.nn.feedforward import LorentzFeedForward
from hybonet.nn.kv_cache import KVCache
from hybonet.nn.linear import Activation
from hybonet.nn.module import LorentzModule, require_same_manifold
from hybonet.nn.multihead_attention import LorentzMultiheadAttention

#: A λ of queries, keys and values that goes well with norm_first: near the origin attention starts even, and a centroid
#: is nearly a mean.
HEAD_SCALE = 2.5


class LorentzTransformerEncoderLayer(LorentzModule):
    """Self-attention and feed-forward, each with the block's input as residual.

    Arguments and masks follow ``nn.TransformerEncoderLayer`` (``batch_first`` is True by default); all sizes are
    ambient.

    Args:
        d_model, nhead, dim_feedforward: coordinates, heads, coordinates inside the feed-forward block.
        dropout: on attention weights and on the feed-forward activations; ``attention={"dropout": …}`` sets the former
            apart.
        activation: of the feed-forward block.
        norm_first: each block's last linear layer is of the pure form, so that its input passes by unchanged and the
            block's own layers alone normalise: the Lorentz way of ``nn.TransformerEncoderLayer``'s argument. It learns
            sooner; the paper has False.
        attention: further options for :class:`LorentzMultiheadAttention`, e.g. ``{"learnable_scale": True}``.
        linear: further options for every :class:`LorentzLinear`, e.g. ``{"residual_dropout": 0.1}``, which drops some
            of what blocks add to their input, as ``nn.TransformerEncoderLayer`` does.

    Shapes: ``(N, L, d_model) -> (N, L, d_model)``.

    Example:
        >>> layer = LorentzTransformerEncoderLayer(16, 4, 32)
        >>> x = layer.manifold.random_normal(2, 5, 16)
        >>> layer(x).shape
        torch.Size([2, 5, 16])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation | str | None = torch.relu,
        *,
        batch_first: bool = True,
        norm_first: bool = False,
        bias: bool = True,
        manifold: Lorentz | None = None,
        attention: dict[str, Any] | None = None,
        linear: dict[str, Any] | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(manifold)
        options: dict[str, Any] = {"manifold": self.manifold, "linear": linear, "device": device, "dtype": dtype}
        options["out_form"] = "pure" if norm_first else "normalized"
        attend = {"dropout": dropout, "bias": bias, "batch_first": batch_first, **options, **(attention or {})}
        self.self_attn = LorentzMultiheadAttention(d_model, nhead, **attend)
        self.feed_forward = LorentzFeedForward(d_model, dim_feedforward, dropout, activation, bias, **options)

    def reset_parameters(self) -> None:
        """Reset both blocks."""
        self.self_attn.reset_parameters()
        self.feed_forward.reset_parameters()

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        x, _ = self.self_attn(
            src,
            key_padding_mask=src_key_padding_mask,
            attn_mask=src_mask,
            is_causal=is_causal,
            residual=src,
        )
        return self.feed_forward(x, x)


class LorentzTransformerDecoderLayer(LorentzModule):
    """Self-attention, cross-attention to a memory, and feed-forward, each with the block's input as residual.

    Arguments and masks follow ``nn.TransformerDecoderLayer``; see :class:`LorentzTransformerEncoderLayer` for the rest.

    Shapes: ``tgt (N, L, d_model)``, ``memory (N, S, d_model) -> (N, L, d_model)``.

    Example:
        >>> layer = LorentzTransformerDecoderLayer(16, 4, 32)
        >>> x, memory = layer.manifold.random_normal(2, 5, 16), layer.manifold.random_normal(2, 7, 16)
        >>> layer(x, memory, tgt_is_causal=True).shape
        torch.Size([2, 5, 16])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation | str | None = torch.relu,
        *,
        batch_first: bool = True,
        norm_first: bool = False,
        bias: bool = True,
        manifold: Lorentz | None = None,
        attention: dict[str, Any] | None = None,
        linear: dict[str, Any] | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(manifold)
        options: dict[str, Any] = {"manifold": self.manifold, "linear": linear, "device": device, "dtype": dtype}
        options["out_form"] = "pure" if norm_first else "normalized"
        attend = {"dropout": dropout, "bias": bias, "batch_first": batch_first, **options, **(attention or {})}
        self.self_attn = LorentzMultiheadAttention(d_model, nhead, **attend)
        self.cross_attn = LorentzMultiheadAttention(d_model, nhead, **attend)
        self.feed_forward = LorentzFeedForward(d_model, dim_feedforward, dropout, activation, bias, **options)

    def reset_parameters(self) -> None:
        """Reset the three blocks."""
        self.self_attn.reset_parameters()
        self.cross_attn.reset_parameters()
        self.feed_forward.reset_parameters()

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
        x, _ = self.self_attn(
            tgt,
            key_padding_mask=tgt_key_padding_mask,
            attn_mask=tgt_mask,
            is_causal=tgt_is_causal,
            residual=tgt,
            cache=own,
        )
        x, _ = self.cross_attn(
            x,
            memory,
            key_padding_mask=memory_key_padding_mask,
            attn_mask=memory_mask,
            residual=x,
            cache=cross,
            static_kv=cross is not None,
        )
        return self.feed_forward(x, x)


def _stack(layer: nn.Module, count: int) -> nn.ModuleList:
    """Copies of a layer on one manifold, each with parameters of its own."""
    memo = {id(layer.manifold): layer.manifold}
    layers = [copy.deepcopy(layer, dict(memo)) for _ in range(count)]
    for each in layers:
        each.reset_parameters()  # type: ignore[operator]
    return nn.ModuleList(layers)


class LorentzTransformerEncoder(LorentzModule):
    """A stack of encoder layers, each drawn anew (``nn.TransformerEncoder`` starts with equal copies).

    Shapes: ``(N, L, d_model) -> (N, L, d_model)``.

    Example:
        >>> encoder = LorentzTransformerEncoder(LorentzTransformerEncoderLayer(16, 4, 32), num_layers=2)
        >>> encoder(encoder.manifold.random_normal(2, 5, 16)).shape
        torch.Size([2, 5, 16])
    """

    def __init__(self, encoder_layer: LorentzTransformerEncoderLayer, num_layers: int) -> None:
        super().__init__(encoder_layer.manifold)
        self.layers = _stack(encoder_layer, num_layers)

    def reset_parameters(self) -> None:
        """Reset every layer."""
        for layer in self.layers:
            layer.reset_parameters()  # type: ignore[operator]

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, is_causal)
        return src


class LorentzTransformerDecoder(LorentzModule):
    """A stack of decoder layers, each drawn anew.

    For decoding step by step, ``new_cache()`` gives one pair of caches a layer to pass as ``cache``.

    Shapes: ``tgt (N, L, d_model)``, ``memory (N, S, d_model) -> (N, L, d_model)``.

    Example:
        >>> decoder = LorentzTransformerDecoder(LorentzTransformerDecoderLayer(16, 4, 32), num_layers=2)
        >>> x, memory = decoder.manifold.random_normal(2, 5, 16), decoder.manifold.random_normal(2, 7, 16)
        >>> cache = decoder.new_cache()
        >>> decoder(x[:, :1], memory, cache=cache).shape
        torch.Size([2, 1, 16])
    """

    def __init__(self, decoder_layer: LorentzTransformerDecoderLayer, num_layers: int) -> None:
        super().__init__(decoder_layer.manifold)
        self.layers = _stack(decoder_layer, num_layers)

    def reset_parameters(self) -> None:
        """Reset every layer."""
        for layer in self.layers:
            layer.reset_parameters()  # type: ignore[operator]

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
        return tgt


class LorentzTransformer(LorentzModule):
    """Encoder and decoder, from points to points; the arguments follow ``nn.Transformer``.

    Args:
        d_model, nhead, dim_feedforward, dropout, activation: as in :class:`LorentzTransformerEncoderLayer`.
        num_encoder_layers, num_decoder_layers: how many of each.
        norm_first: as in the layers; the last state of each half is then of any length, as that of a block would be.
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
        norm_first: bool = False,
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
