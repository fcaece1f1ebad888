"""HyboNet for translation: the Lorentz Transformer from token to token."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.nn import (
    LorentzDistanceHead,
    LorentzEmbedding,
    LorentzLinear,
    LorentzPositionalEncoding,
    LorentzTransformer,
)
from hybonet.nn.position import PositionKind
from hybonet.nn.transformer import HEAD_SCALE
from hybonet.tasks.translation.models.transformer_translator import TransformerTranslator

#: With norm_first, where weights of the normalised maps start. Of their product only the direction counts, so that a
#: step of Adam turns it by the step's length over the weights': from ±0.02 by as much as it is, again and again.
DIRECTION_BOUND = 0.3


class Translator(TransformerTranslator):
    r"""Embeddings on the hyperboloid, positions, a Lorentz Transformer, and the distance to a point per token.

    Logits of a target token are those of a :class:`LorentzDistanceHead`, whose points are trained apart from the target
    embeddings; in the paper's form they start there. See :class:`TranslatorBase` for the sizes and calls.

    Args:
        sizes, options: of :class:`TranslatorBase`; coordinates are *ambient* ones.
        residual_dropout: on what a block adds to its input; by default ``dropout``, or 0 in the paper's form.
        form: of all layers: ``"scaled"``, which learns as a Euclidean pre-norm Transformer does, or ``"paper"``.
        norm_first: as in :class:`LorentzTransformerEncoderLayer`. In the paper's form with it blocks add to their
            input, heads start near the origin (λ = 2.5), and weights of gated maps at ±0.3.
        init_std: spread of the embeddings, as in :class:`LorentzEmbedding`.
        init_bound: in the paper's form weights of Lorentz linear layers start uniform within it, 0.02 as in its code:
            small beside the residuals, so that every block starts near the identity; with ``norm_first`` those alone
            that add to them. None for the layers' own :math:`1/\sqrt{d}`.
        attention, linear: further options of :class:`LorentzMultiheadAttention` and :class:`LorentzLinear`.
    """

    head: LorentzDistanceHead

    def __init__(
        self,
        *sizes: int,
        residual_dropout: float | None = None,
        positions: PositionKind = "learned",
        form: Literal["scaled", "paper"] = "scaled",
        norm_first: bool | None = None,
        manifold: Lorentz | None = None,
        init_std: float | None = None,
        init_bound: float | None = 0.02,
        attention: dict[str, Any] | None = None,
        linear: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*sizes, **options)
        dim, max_length = self.dim, self.max_length
        self.manifold = Lorentz() if manifold is None else manifold
        common: dict[str, Any] = {"form": form, "manifold": self.manifold}
        table: dict[str, Any] = {"padding_idx": self.padding, "init_std": init_std, **common}
        self.embed_tokens(lambda vocab: LorentzEmbedding(vocab, dim, **table))
        paper = form == "paper"
        place: dict[str, Any] = {
            "kind": positions,
            "dropout": self.dropout,
            "linear": linear if paper else None,
            **common,
        }
        self.source_position = LorentzPositionalEncoding(dim, max_length, **place)
        self.target_position = LorentzPositionalEncoding(dim, max_length, **place)
        transformer = LorentzTransformer(
            dim,
            self.heads,
            self.depth,
            self.depth,
            self.inside,
            self.dropout,
            norm_first=norm_first,
            attention={
                "dropout": self.attention_dropout,
                "head_scale": HEAD_SCALE if paper and norm_first else None,
                **(attention or {}),
            },
            linear={**({} if residual_dropout is None else {"residual_dropout": residual_dropout}), **(linear or {})},
            **common,
        )
        encoder, decoder = transformer.encoder, transformer.decoder
        self.encoder_layers, self.encoder_norm = encoder.layers, encoder.norm or nn.Identity()  # type: ignore[assignment]
        self.decoder_layers, self.decoder_norm = decoder.layers, decoder.norm or nn.Identity()  # type: ignore[assignment]
        if not paper:
            self.head = LorentzDistanceHead(dim, self.target_vocab, **common)
            return
        assert isinstance(self.target_embedding, LorentzEmbedding)
        self.head = LorentzDistanceHead.from_embedding(self.target_embedding)
        if init_bound is not None:
            self._draw_weights(init_bound, DIRECTION_BOUND if norm_first else init_bound)

    @torch.no_grad()
    def _draw_weights(self, pure: float, gated: float) -> None:
        for module in self.modules():
            if isinstance(module, LorentzLinear):
                bound = pure if module.form == "pure" else gated
                nn.init.uniform_(module.weight, -bound, bound)
                module.weight[:, 0] = 0.0

    def embed_source(self, tokens: Tensor) -> Tensor:
        return self.source_position(self.source_embedding(tokens))

    def embed_target(self, tokens: Tensor, offset: int = 0) -> Tensor:
        return self.target_position(self.target_embedding(tokens), offset)

    def inner_form(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        return self.head.inner_form(hidden)
