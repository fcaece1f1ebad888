"""TransE and RotatE: a relation moves the head, and the tail should be where it arrives."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hybonet.nn.dropout import Dropout
from hybonet.tasks.knowledge_graph.models.sum_of_moduli import LEAST, sum_of_moduli
from hybonet.tasks.knowledge_graph.models.triple_model import VectorModel


class TransE(VectorModel):
    r"""Bordes et al. (2013): :math:`s = \gamma - \lVert h + r - t \rVert_1`.

    Args:
        num_entities, num_relations: without reciprocals.
        dim: dimensions per entity.
        margin: γ.
        norm: 1 or 2, of the distance.
        dropout: on the question.

    Example:
        >>> import torch
        >>> TransE(10, 2, 8)(torch.tensor([1, 2]), torch.tensor([0, 3])).shape
        torch.Size([2, 10])
    """

    def __init__(
        self,
        num_entities: int,
        num_relations: int,
        dim: int,
        *,
        margin: float = 9.0,
        norm: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(num_entities, num_relations, dim)
        self.margin, self.norm = margin, norm
        self.relations = nn.Embedding(2 * num_relations, dim)
        self.dropout = Dropout(dropout)
        for table in (self.entities, self.relations):
            nn.init.xavier_uniform_(table.weight)

    def question(self, heads: Tensor, relations: Tensor) -> Tensor:
        return self.dropout(self.entities(heads) + self.relations(relations))

    def match(self, question: Tensor, relations: Tensor, candidates: Tensor) -> Tensor:
        if candidates.dim() == 2:
            return self.margin - torch.cdist(question, candidates, p=self.norm)
        return self.margin - (question[:, None] - candidates).norm(p=self.norm, dim=-1)


class RotatE(VectorModel):
    r"""Sun et al. (2019): :math:`s = \gamma - \lVert h \circ e^{i\theta_r} - t \rVert`, the sum of complex moduli.

    As in the authors' code; PyKEEN takes the root of their squares' sum instead.

    Args:
        num_entities, num_relations: without reciprocals.
        dim: real dimensions per entity, two for each complex one.
        margin: γ.
        dropout: on the question.

    Example:
        >>> import torch
        >>> RotatE(10, 2, 8)(torch.tensor([1, 2]), torch.tensor([0, 3])).shape
        torch.Size([2, 10])
    """

    def __init__(
        self, num_entities: int, num_relations: int, dim: int, *, margin: float = 9.0, dropout: float = 0.0
    ) -> None:
        if dim % 2:
            raise ValueError(f"expected an even dim, two numbers for each complex one, got {dim}; use {dim + 1}")
        super().__init__(num_entities, num_relations, dim)  # all real parts, then all imaginary ones
        self.margin = margin
        self.angles = nn.Embedding(2 * num_relations, dim // 2)
        self.dropout = Dropout(dropout)
        nn.init.xavier_uniform_(self.entities.weight)
        nn.init.uniform_(self.angles.weight, -torch.pi, torch.pi)

    def question(self, heads: Tensor, relations: Tensor) -> Tensor:
        real, imaginary = self.entities(heads).chunk(2, dim=-1)
        cos, sin = self.angles(relations).cos(), self.angles(relations).sin()
        return self.dropout(torch.cat((real * cos - imaginary * sin, real * sin + imaginary * cos), dim=-1))

    def match(self, question: Tensor, relations: Tensor, candidates: Tensor) -> Tensor:
        if candidates.dim() == 3:
            return self.margin - _moduli(question[:, None] - candidates)
        return self.margin - sum_of_moduli(question, candidates)


def _moduli(difference: Tensor) -> Tensor:
    real, imaginary = difference.chunk(2, dim=-1)
    return (real.square() + imaginary.square()).clamp_min(LEAST).sqrt().sum(-1)
