"""HyboNet's score of a knowledge-graph triple."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.kernels.norm_clipping import longest, rows_and_table
from hybonet.nn import LorentzEmbedding, LorentzModule, gated_lift
from hybonet.nn.dropout import dropout
from hybonet.tasks.knowledge_graph.models.grouped_linear import grouped_linear
from hybonet.tasks.knowledge_graph.models.inner_product import InnerProductModel, with_bias, with_offset
from hybonet.tasks.knowledge_graph.models.per_triple_scores import per_triple_scores


class TripleScorer(LorentzModule, InnerProductModel):
    r"""Score :math:`s(h, r, t) = -d_L^2(f_r(e_h), e_t) + b_h + b_t + \delta` of triples; larger is more plausible.

    :math:`f_r` is a normalised Lorentz linear map of its own for each relation, its gate without bias. Questions for
    heads are asked through reciprocal relations: relation ``r + num_relations`` means r read backwards.

    Args:
        max_norm: bound on the entities' space part.
        scale: λ of the relations' maps.
        dropout: on the head's coordinates.
        transform: ``"lorentz"`` for the paper's maps; ``"tangent"`` for the conventional detour through the tangent
            space at the origin, log–linear–exp, to compare with.
        init_std: spread of an entity's space coordinates at the start; the embedding's default, radius ≈ 1, if None.
        loop_bias: a number for each relation, added to the score of an entity standing in it to itself: a relation
            that has no loops in the data learns so. Without it a relation whose map is close to the identity, such as a
            symmetric one, always finds the entity asked about the best answer.
        symmetric: relations that hold both ways: each is one with its reciprocal, so that h r t and t r h have the same
            map, and what is learnt of one direction is known of the other.

    Shapes: ``heads (B,)``, ``relations (B,)``, ``tails (B,)`` or ``(B, N)`` ``->`` scores shaped as ``tails``;
    with ``pool (P,)`` instead, of the same candidates for all questions, ``(B, P)``; with neither, of all entities,
    ``(B, num_entities)``.
    """

    entities: LorentzEmbedding
    one_of_both: Tensor

    def __init__(
        self,
        num_entities: int,
        num_relations: int,
        dim: int,
        *,
        max_norm: float | None = 1.5,
        scale: float = 2.5,
        margin: float = 8.0,
        dropout: float = 0.0,
        transform: Literal["lorentz", "tangent"] = "lorentz",
        init_std: float | None = None,
        loop_bias: bool = False,
        symmetric: Sequence[int] = (),
        manifold: Lorentz | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(manifold)
        self.num_entities, self.num_relations, self.dim = num_entities, num_relations, dim
        self.scale, self.margin, self.dropout, self.transform = scale, margin, dropout, transform
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        self.entities = LorentzEmbedding(
            num_entities, dim, form="paper", max_norm=max_norm, init_std=init_std, manifold=self.manifold, **options
        )
        both = 2 * num_relations
        self.relation_weight = nn.Parameter(torch.empty(both, dim, dim, **options))
        self.relation_bias = nn.Parameter(torch.empty(both, dim, **options))
        self.head_bias = nn.Parameter(torch.empty(num_entities, **options))
        self.tail_bias = nn.Parameter(torch.empty(num_entities, **options))
        self.loop_bias = nn.Parameter(torch.empty(both, **options)) if loop_bias else None
        self.symmetric = tuple(symmetric)
        one = torch.arange(both, device=device)
        one[[number + num_relations for number in self.symmetric]] = one[list(self.symmetric)]
        self.register_buffer("one_of_both", one, persistent=False)
        self.reset_parameters()

    def config(self) -> dict[str, Any]:
        """What :meth:`from_config` builds a scorer of the same shape from, ready for JSON."""
        return {
            "num_entities": self.num_entities,
            "num_relations": self.num_relations,
            "dim": self.dim,
            "max_norm": self.entities.max_norm,
            "scale": self.scale,
            "margin": self.margin,
            "dropout": self.dropout,
            "transform": self.transform,
            "init_std": self.entities.init_std,
            "loop_bias": self.loop_bias is not None,
            "symmetric": list(self.symmetric),
            "shares": None if self.shares is None else self.shares.tolist(),
            "K": self.manifold.curvature,
            "learn_curvature": self.manifold.learnable,
            "dtype": str(self.tail_bias.dtype).removeprefix("torch."),
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> TripleScorer:
        """A new scorer with the settings of :meth:`config`."""
        options = dict(config)
        manifold = Lorentz(options.pop("K"), learnable=options.pop("learn_curvature"))
        shares = options.pop("shares", None)
        scorer = cls(**options | {"dtype": getattr(torch, options["dtype"])}, manifold=manifold)
        scorer.score_both_directions(None if shares is None else torch.tensor(shares))
        return scorer

    def reset_parameters(self) -> None:
        """Entities Gaussian about the origin, relations Kaiming-uniform, biases zero."""
        self.entities.reset_parameters()
        bound = 1.0 / math.sqrt(self.dim)
        nn.init.uniform_(self.relation_weight, -bound, bound)
        for bias in (self.relation_bias, self.head_bias, self.tail_bias, self.loop_bias):
            if bias is not None:
                nn.init.zeros_(bias)

    def points(self, entities: Tensor | None = None) -> Tensor:
        """Points of entities, ``(…,) -> (…, dim)``; of all of them by default."""
        return self.entities.points() if entities is None else self.entities(entities)

    def penalised(self, entities: Tensor) -> Tensor:
        """Space parts as they are stored, not as ``max_norm`` shortens them: of that length nothing could change."""
        return F.embedding(entities, self.entities.weight, sparse=self.entities.sparse)[..., 1:]

    def one_direction(
        self, heads: Tensor, relations: Tensor, tails: Tensor | None = None, *, pool: Tensor | None = None
    ) -> Tensor:
        own = tails is not None and tails.dim() == 2 and pool is None
        if tails is None or not own or self.manifold.learnable or not self.are_read_in_place(tails):
            return super().one_direction(heads, relations, tails, pool=pool)
        # Neither points nor biases of the candidates are copied, and the table gets one gradient of all that read it.
        rows, table = rows_and_table(self.entities.weight, heads)
        query, offset = self._queries(self.entities.on_sheet(rows), heads, relations)
        norm, bias = longest(self.entities.max_norm, table), self.tail_bias
        scores = (
            per_triple_scores(query, table, tails, bias=bias, max_norm=norm, manifold=self.manifold) + offset[:, None]
        )
        return self.adjust(scores, heads, relations, tails)

    def _map(self, x: Tensor, relations: Tensor) -> Tensor:
        """The points :math:`f_r(x)`, ``(B, dim)``: where tails are expected."""
        if len(relations) > 1 and relations.stride(0) == 0:  # one number, expanded: it stays one
            relations = self.one_of_both[relations[0]].expand(len(relations))
        else:
            relations = self.one_of_both[relations]
        if self.transform == "tangent":
            v = dropout(self.manifold.logmap0(x), self.dropout, self.training)
            u = grouped_linear(v, self.relation_weight, relations)
            tangent = (u + self.relation_bias[relations])[:, 1:]
            return self.manifold.expmap0(F.pad(tangent, (1, 0)))  # a tangent vector at the origin has no time
        x = dropout(x, self.dropout, self.training)
        u = grouped_linear(x, self.relation_weight, relations)
        bias = nn.functional.pad(self.relation_bias[:, 1:], (1, 0))  # none for the gate
        return gated_lift(u + nn.functional.embedding(relations, bias), self.scale, K=self.manifold.K)

    def queries(self, heads: Tensor, relations: Tensor) -> tuple[Tensor, Tensor]:
        r"""Vectors q ``(B, dim)`` and numbers c ``(B,)`` with :math:`s(h, r, t) = q \cdot e_t + b_t + c`.

        A plain inner product with the tail's ambient coordinates: what searches among many tails need. Loops, t = h,
        have ``loop_bias`` on top.
        """
        return self._queries(self.entities(heads), heads, relations)

    def _queries(self, points: Tensor, heads: Tensor, relations: Tensor) -> tuple[Tensor, Tensor]:
        expected = self._map(points, relations)
        # -d² = 2<q,t> - 2/K; the sign of time and the factor go to the smaller side.
        factor = expected.new_full((self.dim,), 2.0)
        factor[0] = -2.0
        bias = self.biases(self.head_bias, heads)
        return factor * expected, bias + (self.margin - 2.0 / self.manifold.K)

    def question(self, heads: Tensor, relations: Tensor) -> Tensor:
        return with_offset(*self.queries(heads, relations))

    def candidates(self, entities: Tensor | None) -> Tensor:
        return with_bias(self.points(entities), self.biases(self.tail_bias, entities))

    def question_and_candidates(self, heads: Tensor, relations: Tensor, entities: Tensor) -> tuple[Tensor, Tensor]:
        asked, points = self.entities(torch.cat((heads, entities))).split((len(heads), len(entities)))
        candidates = with_bias(points, self.biases(self.tail_bias, entities))
        return with_offset(*self._queries(asked, heads, relations)), candidates

    def loop_score(self, relations: Tensor) -> Tensor | None:
        return None if self.loop_bias is None else self.loop_bias[self.one_of_both[relations]]

    def extra_repr(self) -> str:
        return f"{self.num_entities} entities, {self.num_relations} relations, dim={self.dim}, scale={self.scale}"
