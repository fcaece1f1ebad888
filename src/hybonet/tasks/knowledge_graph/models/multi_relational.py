"""MuRE and MuRP: a relation stretches the head and shifts the tail, in Euclidean space or in the Poincaré ball."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hybonet.geometry.poincare_ball import from_chord, from_tangent, into_ball, to_tangent
from hybonet.tasks.knowledge_graph.models.inner_product import InnerProductModel, with_bias, with_offset
from hybonet.tasks.knowledge_graph.models.triple_model import BiasedVectorModel, inner, squared_norms


class _MultiRelational(BiasedVectorModel):
    """Entities and, for each relation, a diagonal stretch and a shift."""

    def __init__(self, num_entities: int, num_relations: int, dim: int, *, dropout: float = 0.0) -> None:
        super().__init__(num_entities, num_relations, dim, dropout=dropout)
        self.stretch = nn.Embedding(2 * num_relations, dim)
        self.shift = nn.Embedding(2 * num_relations, dim)
        nn.init.uniform_(self.stretch.weight, -1, 1)
        nn.init.normal_(self.entities.weight, std=1e-3)
        nn.init.normal_(self.shift.weight, std=1e-3)


class MuRE(InnerProductModel, _MultiRelational):
    r"""Balažević et al. (2019): :math:`s = -\lVert R_r h - (t + r) \rVert^2 + b_h + b_t`, R diagonal."""

    def question(self, heads: Tensor, relations: Tensor) -> Tensor:
        # -|q - t|² = 2 q·t - |q|² - |t|²: an inner product with two numbers more.
        query = self.dropout(self.entities(heads)) * self.stretch(relations) - self.shift(relations)
        bias = self.biases(self.head_bias, heads)
        return with_offset(2 * query, bias - query.square().sum(-1))

    def candidates(self, entities: Tensor | None) -> Tensor:
        points = self.points(entities)
        bias = self.biases(self.tail_bias, entities)
        return with_bias(points, bias - squared_norms(points))


class MuRP(_MultiRelational):
    r"""Balažević et al. (2019): :math:`s = -d_B(\exp_0(R_r \log_0 h),\; t \oplus r)^2 + b_h + b_t`, curvature -1.

    Points are kept by their tangent vectors at the centre, so that plain optimisers apply.
    """

    c: Tensor

    def __init__(self, num_entities: int, num_relations: int, dim: int, *, dropout: float = 0.0) -> None:
        super().__init__(num_entities, num_relations, dim, dropout=dropout)
        self.register_buffer("c", torch.tensor(1.0), persistent=False)

    def points(self, entities: Tensor | None = None) -> Tensor:
        return from_tangent(super().points(entities), self.c)

    def question(self, heads: Tensor, relations: Tensor) -> Tensor:
        head = to_tangent(from_tangent(self.entities(heads), self.c), self.c)
        return from_tangent(self.dropout(head) * self.stretch(relations), self.c)

    def match(self, question: Tensor, relations: Tensor, candidates: Tensor) -> Tensor:
        # t ⊕ r = (α t + β r) / γ, and every length and product of it follows from inner products.
        shift = into_ball(from_tangent(self.shift(relations), self.c), self.c)
        tt, rr = squared_norms(candidates), shift.square().sum(-1, keepdim=True)
        tr, qt = inner(shift, candidates), inner(question, candidates)
        qr, qq = (question * shift).sum(-1, keepdim=True), question.square().sum(-1, keepdim=True)
        alpha, beta = 1 + 2 * tr + rr, 1 - tt
        gamma = (1 + 2 * tr + tt * rr).clamp_min(1e-15)
        moved = (alpha.square() * tt + 2 * alpha * beta * tr + beta.square() * rr) / gamma.square()
        product = (alpha * qt + beta * qr) / gamma
        return -from_chord(qq + moved - 2 * product, qq, moved, self.c)
