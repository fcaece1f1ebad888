"""DistMult, ComplEx, TuckER and ConvE: the score is an inner product of the tail with what head and relation make."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hybonet.nn.dropout import Dropout
from hybonet.tasks.knowledge_graph.models.inner_product import InnerProductModel, with_bias, with_offset
from hybonet.tasks.knowledge_graph.models.triple_model import BiasedVectorModel, VectorModel


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


class ConvE(InnerProductModel, BiasedVectorModel):
    """Dettmers et al. (2018): a 3×3 convolution over the stacked vectors of head and relation.

    Args:
        sizes: entities, relations, and dimensions per entity; the image is ``2 · dim / width`` high.
        width: of the image; the largest power of two up to the root of ``2 · dim`` that divides ``dim`` by default.
        channels: filters.
        dropout: on the image, the feature maps and the question.
    """

    def __init__(self, *sizes: int, width: int | None = None, channels: int = 32, dropout: float = 0.2) -> None:
        super().__init__(*sizes)
        dim = self.entities.embedding_dim
        self.width = width or max(2**i for i in range(12) if dim % 2**i == 0 and 4**i <= 2 * dim)
        height = 2 * dim // self.width
        if dim % self.width or height < 3 or self.width < 3:
            raise ValueError(
                f"expected dim {dim} to make an image of at least 3 by 3, got width {self.width}; use a dim such as 32"
            )
        self.relations = nn.Embedding(2 * self.num_relations, dim)
        for table in (self.entities, self.relations):
            nn.init.xavier_normal_(table.weight)
        self.layers = nn.Sequential(
            nn.BatchNorm2d(1),
            Dropout(dropout),
            nn.Conv2d(1, channels, 3),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Dropout2d(dropout),
            nn.Flatten(),
            nn.Linear(channels * (height - 2) * (self.width - 2), dim),
            Dropout(dropout),
            nn.BatchNorm1d(dim),
            nn.ReLU(),
        )

    def question(self, heads: Tensor, relations: Tensor) -> Tensor:
        halves = [
            table.view(len(heads), 1, -1, self.width) for table in (self.entities(heads), self.relations(relations))
        ]
        return with_offset(self.layers(torch.cat(halves, dim=2)), self.biases(self.head_bias, heads))

    def candidates(self, entities: Tensor | None) -> Tensor:
        return with_bias(self.points(entities), self.biases(self.tail_bias, entities))
