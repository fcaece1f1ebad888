"""The paper's model of entity typing: mention and context encoders in the Lorentz model, and types as points."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.nn import (
    EuclideanToLorentz,
    LorentzCentroidPooling,
    LorentzDistanceHead,
    attention_weights,
)
from hybonet.nn.module import LorentzModule
from hybonet.nn.scales import attention_scale
from hybonet.tasks.typing.models.mention_classifier import MentionClassifier
from hybonet.tasks.typing.models.typer_maps import LorentzMaps, ScaledMaps, TangentMaps


class TypePoints(LorentzModule):
    r"""Logits of a point for each type: :math:`-d_L^2(r, t_i)/\alpha_i + \beta_i`, :math:`\alpha_i > 0`.

    α starts at 1 and is trained as its logarithm.

    Shapes: ``(..., dim) -> (..., types)``.
    """

    def __init__(self, dim: int, num_types: int, *, manifold: Lorentz, init_std: float | None = None) -> None:
        super().__init__(manifold)
        self.points = LorentzDistanceHead(
            dim, num_types, bias=False, init_std=init_std, manifold=manifold, form="paper"
        )
        self.log_alpha = nn.Parameter(torch.zeros(num_types))
        self.beta = nn.Parameter(torch.zeros(num_types))

    def forward(self, r: Tensor) -> Tensor:
        return self.points(r) * torch.exp(-self.log_alpha) + self.beta


class ContextAttention(LorentzModule):
    r"""One point for a sequence: :math:`c = \mathrm{Centroid}(\nu_{ij}, h_j)` over all pairs.

    :math:`\nu_{ij} = \mathrm{softmax}_j(-s\,d_L^2(q_i, k_j))`, with q and k from the points and their positions; i
    runs over the words, so that a word counts as much as the others look at it.

    Shapes: ``h (N, L, d)``, ``padding, positions (N, L) -> (N, d)``.
    """

    def __init__(
        self, position: nn.Module, query: nn.Module, key: nn.Module, scale: float, *, manifold: Lorentz
    ) -> None:
        super().__init__(manifold)
        self.scale = scale
        self.position, self.query, self.key = position, query, key
        self.pool = LorentzCentroidPooling(manifold=manifold)

    def forward(self, h: Tensor, padding: Tensor, positions: Tensor) -> Tensor:
        x = self.position(h, positions=positions)
        weights = attention_weights(self.query(x), self.key(x), attn_mask=~padding[:, None, :], scale=self.scale)
        looked_at = weights.masked_fill(padding[..., None], 0.0).sum(-2)
        return self.pool(h, padding, looked_at)


class EntityTyper(MentionClassifier):
    r"""Fine-grained entity typing in the Lorentz model.

    Word vectors are lifted to the hyperboloid and mapped by a Lorentz linear layer with positions. The mention is the
    centroid of its words; the context goes through a Lorentz Transformer and distance-based attention. Both are merged
    as two heads, and each type is a point with a scale α and a bias β:
    :math:`p_i = \sigma(-d_L^2(r, t_i)/\alpha_i + \beta_i)`.

    Args:
        words, num_types, dim, options: see :class:`MentionClassifier`; dim counts ambient coordinates.
        layers, heads, feedforward: of the context's Transformer.
        merge_feedforward: coordinates inside a feed-forward block behind the merging; None (the paper): no such block.
        dropout: on the input of the linear maps; attention_dropout: on attention weights.
        scale: λ of the linear maps at the start.
        positions: ``"relative"`` to the mention, or counted from the first word (``"absolute"``).
        norm_first: blocks add to their input, as in :class:`~hybonet.nn.LorentzTransformerEncoderLayer`, and the heads
            of the context's Transformer start near the origin.
        form: of linear layers and head: ``"scaled"`` (:mod:`hybonet.nn.scales`), with norms, one temperature for
            all types and biases read at the origin; or ``"paper"``, to which scale and norm_first belong.
        transform: ``"lorentz"``, or ``"tangent"``: every map through the tangent space, for comparison.

    Shapes: see :class:`~hybonet.tasks.typing.models.mention_classifier.MentionClassifier`.
    """

    def __init__(
        self,
        words: Tensor,
        num_types: int,
        dim: int = 128,
        *,
        layers: int = 2,
        heads: int = 4,
        feedforward: int = 512,
        merge_feedforward: int | None = None,
        dropout: float = 0.0,
        attention_dropout: float = 0.2,
        scale: float = 10.0,
        positions: Literal["relative", "absolute"] = "relative",
        norm_first: bool = False,
        form: Literal["scaled", "paper"] = "scaled",
        transform: Literal["lorentz", "tangent"] = "lorentz",
        manifold: Lorentz | None = None,
        **options: Any,
    ) -> None:
        manifold = manifold or Lorentz()
        lift = EuclideanToLorentz(manifold=manifold)
        super().__init__(words, num_types, dim, dropout=dropout, lift=lift, **options)
        self.manifold, self.positions = manifold, positions
        scaled = transform == "lorentz" and form == "scaled"
        maps: ScaledMaps | LorentzMaps | TangentMaps = ScaledMaps(manifold, dropout)
        if transform == "tangent":
            maps = TangentMaps(manifold, dropout)
        elif not scaled:
            maps = LorentzMaps(manifold, dropout, scale, norm_first)
        places = 2 * self.context_words + 1 if positions == "relative" else self.context_words
        self.lift = maps.linear(self.words.shape[-1], dim)
        self.position = maps.position(dim, places)
        self.mention_pool = LorentzCentroidPooling(manifold=manifold)
        self.encoder = maps.encoder(dim, layers, heads, feedforward, attention_dropout)
        self.attention = ContextAttention(
            maps.position(dim, places),
            maps.linear(dim, dim),
            maps.linear(dim, dim),
            float(attention_scale(dim, dim, K=manifold.curvature)) if scaled else dim**-0.5,
            manifold=manifold,
        )
        self.merge = maps.merge(dim, self.merge_dropout)
        self.merge_feedforward = None if merge_feedforward is None else maps.feedforward(dim, merge_feedforward)
        head: dict[str, Any] = {"manifold": manifold, "init_std": self.type_std}
        self.types = LorentzDistanceHead(dim, num_types, **head) if scaled else TypePoints(dim, num_types, **head)

    @property
    def type_bias(self) -> Tensor:
        bias = self.types.bias if isinstance(self.types, LorentzDistanceHead) else self.types.beta
        assert bias is not None
        return bias

    def type_points(self) -> Tensor:
        """The points of the types, ``(types, dim)``."""
        head = self.types if isinstance(self.types, LorentzDistanceHead) else self.types.points
        return head.points()

    def represent(self, mention: Tensor, context: Tensor, place: Tensor) -> Tensor:
        """The point of each mention in its context, ``(N, dim)``."""
        if self.positions == "relative":
            inside = torch.full_like(mention, self.context_words)
            around = place + self.context_words
        else:
            inside = torch.arange(mention.shape[1], device=mention.device).expand_as(mention)
            around = torch.arange(context.shape[1], device=context.device).expand_as(context)
        spoken = self.position(self.lift(self.words[mention]), positions=inside)
        m = self.mention_pool(spoken, mention == 0)
        padding = context == 0
        x = self.position(self.lift(self.words[context]), positions=around)
        h = self.encoder(x, src_key_padding_mask=padding)
        c = self.attention(h, padding, around)
        r = self.merge(m, c)
        return r if self.merge_feedforward is None else self.merge_feedforward(r, r)

    def forward(self, mention: Tensor, context: Tensor, place: Tensor) -> Tensor:
        return self.types(self.represent(mention, context, place))
