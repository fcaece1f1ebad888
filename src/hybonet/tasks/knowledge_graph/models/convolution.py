"""ConvE: head and relation as an image, convolved, projected and compared with the tail."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hybonet.nn.dropout import Dropout
from hybonet.tasks.knowledge_graph.models.inner_product import InnerProductModel, with_bias, with_offset
from hybonet.tasks.knowledge_graph.models.triple_model import BiasedVectorModel


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
