"""DistMult, ComplEx and TuckER: a relation makes a linear map of the head, the score is an inner product."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hybonet.tasks.knowledge_graph.models.inner_product import InnerProductModel
from hybonet.tasks.knowledge_graph.models.triple_model import VectorModel


class _Bilinear(InnerProductModel, VectorModel):
    """Entities and relations as plain vectors, scores as inner products with a question."""

    def __init__(
        self, num_entities: int, num_relations: int, dim: int, *, relation_dim: int | None = None, dropout: float = 0.0
    ) -> None:
        super().__init__(num_entities, num_relations, dim, dropout=dropout)
        self.relations = nn.Embedding(2 * num_relations, relation_dim or dim)
        for table in (self.entities, self.relations):
            nn.init.normal_(table.weight, std=dim**-0.5)


class DistMult(_Bilinear):
    r"""Yang et al. (2015): :math:`s = \sum_k h_k r_k t_k`."""

    def question(self, heads: Tensor, relations: Tensor) -> Tensor:
        return self.dropout(self.entities(heads) * self.relations(relations))


class ComplEx(_Bilinear):
    r"""Trouillon et al. (2016): :math:`s = \mathrm{Re} \sum_k h_k r_k \bar t_k`.

    ``dim`` counts real numbers, two for each complex one: all real parts, then all imaginary ones.
    """

    two_make = "complex one"

    def question(self, heads: Tensor, relations: Tensor) -> Tensor:
        (a, b), (c, d) = self.entities(heads).chunk(2, dim=-1), self.relations(relations).chunk(2, dim=-1)
        return self.dropout(torch.cat((a * c - b * d, a * d + b * c), dim=-1))


class TuckER(_Bilinear):
    r"""Balažević et al. (2019): :math:`s = \mathcal{W} \times_1 h \times_2 r \times_3 t`, with batch normalisation.

    Args:
        relation_dim: dimensions per relation; ``dim`` by default.
        dropout: on the head, on its map and on the question.
    """

    def __init__(
        self, *sizes: int, relation_dim: int | None = None, dropout: float = 0.2, normalise: bool = True
    ) -> None:
        super().__init__(*sizes, relation_dim=relation_dim, dropout=dropout)
        dim = self.entities.embedding_dim
        self.core = nn.Parameter(torch.empty(self.relations.embedding_dim, dim, dim).uniform_(-1, 1))
        self.of_head = nn.BatchNorm1d(dim) if normalise else nn.Identity()
        self.of_question = nn.BatchNorm1d(dim) if normalise else nn.Identity()

    def question(self, heads: Tensor, relations: Tensor) -> Tensor:
        width = self.core.shape[1]
        head = self.dropout(self.of_head(self.entities(heads)))
        maps = self.dropout((self.relations(relations) @ self.core.flatten(1)).view(-1, width, width))
        return self.dropout(self.of_question(torch.bmm(head[:, None], maps).squeeze(1)))
