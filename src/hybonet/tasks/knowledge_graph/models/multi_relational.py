"""MuRE, MuRP, RotH and AttH: stretches, shifts and rotations of the head, most of them in Poincaré balls."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.geometry.poincare_ball import INSIDE, from_chord, from_tangent, into_ball, mobius_add, to_tangent
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


class _RelationBall(BiasedVectorModel):
    """Entities by tangent vectors, whose points depend on the relation's ball, and a shift in each ball."""

    two_make = "rotation"

    def __init__(self, num_entities: int, num_relations: int, dim: int, *, dropout: float = 0.0) -> None:
        super().__init__(num_entities, num_relations, dim, dropout=dropout)
        self.shift = nn.Embedding(2 * num_relations, dim)
        self.angles = nn.Embedding(2 * num_relations, dim // 2)
        self.curvature = nn.Parameter(torch.zeros(2 * num_relations, 1))
        nn.init.normal_(self.entities.weight, std=1e-3)
        nn.init.normal_(self.shift.weight, std=1e-3)
        nn.init.uniform_(self.angles.weight, -torch.pi, torch.pi)

    def c(self, relations: Tensor) -> Tensor:
        """Minus the curvature of each question's ball, ``(B, 1)``; 1 at the start."""
        return F.softplus(self.curvature[relations]) / F.softplus(torch.zeros(()))

    def match(self, question: Tensor, relations: Tensor, candidates: Tensor) -> Tensor:
        # A candidate's point in a question's ball is its vector, rescaled: its inner products are, too.
        c, length = self.c(relations), squared_norms(candidates).clamp_min(1e-30).sqrt()
        radius = (torch.tanh(c.sqrt() * length) / c.sqrt()).clamp_max(INSIDE / c.sqrt())
        qq, norm = question.square().sum(-1, keepdim=True), radius.square()
        between = qq + norm - 2 * inner(question, candidates) * (radius / length)
        return -from_chord(between, qq, norm, c)


class RotH(_RelationBall):
    r"""Chami et al. (2020): :math:`s = -d_c(\mathrm{Rot}_r(h \oplus r) \oplus r', t)^2 + b_h + b_t`."""

    def __init__(self, num_entities: int, num_relations: int, dim: int, *, dropout: float = 0.0) -> None:
        super().__init__(num_entities, num_relations, dim, dropout=dropout)
        self.first_shift = nn.Embedding(2 * num_relations, dim)
        nn.init.normal_(self.first_shift.weight, std=1e-3)

    def question(self, heads: Tensor, relations: Tensor) -> Tensor:
        c = self.c(relations)
        head = from_tangent(self.dropout(self.entities(heads)), c)
        moved = into_ball(mobius_add(head, from_tangent(self.first_shift(relations), c), c), c)
        turned = _rotated(moved, self.angles(relations))
        return into_ball(mobius_add(turned, from_tangent(self.shift(relations), c), c), c)


class AttH(_RelationBall):
    """Chami et al. (2020): attention between a rotation and a reflection of the head, then a shift in the ball."""

    def __init__(self, num_entities: int, num_relations: int, dim: int, *, dropout: float = 0.0) -> None:
        super().__init__(num_entities, num_relations, dim, dropout=dropout)
        self.mirrors = nn.Embedding(2 * num_relations, dim // 2)
        self.context = nn.Embedding(2 * num_relations, dim)
        nn.init.uniform_(self.mirrors.weight, -torch.pi, torch.pi)
        nn.init.normal_(self.context.weight, std=1e-3)

    def question(self, heads: Tensor, relations: Tensor) -> Tensor:
        c, head = self.c(relations), self.dropout(self.entities(heads))
        both = torch.stack(
            (_rotated(head, self.mirrors(relations), reflect=True), _rotated(head, self.angles(relations))), dim=1
        )
        weight = torch.softmax((both * self.context(relations)[:, None]).sum(-1) * head.shape[-1] ** -0.5, dim=1)
        mixed = from_tangent((weight[..., None] * both).sum(1), c)
        return into_ball(mobius_add(mixed, from_tangent(self.shift(relations), c), c), c)


def _rotated(x: Tensor, angles: Tensor, *, reflect: bool = False) -> Tensor:
    """Rotation, or reflection, in the plane of each pair of coordinates."""
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
    cos, sin = angles.cos(), angles.sin()
    pair = (a * cos + b * sin, a * sin - b * cos) if reflect else (a * cos - b * sin, a * sin + b * cos)
    return torch.stack(pair, dim=-1).flatten(-2)
