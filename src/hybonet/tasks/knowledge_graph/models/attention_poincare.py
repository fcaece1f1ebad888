"""RotH and AttH: rotations and reflections in a Poincaré ball whose curvature each relation learns."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.geometry.poincare_ball import INSIDE, from_chord, from_tangent, into_ball, mobius_add
from hybonet.tasks.knowledge_graph.models.triple_model import BiasedVectorModel, inner, squared_norms


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
