"""TransE and RotatE: a relation moves the head, and the tail should be where it arrives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from hybonet.tasks.knowledge_graph.models.triple_model import VectorModel

#: Pairs at once: their numbers stay in a processor's cache from one operation to the next.
_AT_ONCE = 1 << 17
#: Least square of a modulus: the gradient stays finite where two points coincide.
LEAST = 1e-12


def sum_of_moduli(x: Tensor, y: Tensor) -> Tensor:
    """Distances :math:`\\sum_j |x_j - y_j|` of complex vectors, all pairs, ``(B, 2n), (C, 2n) -> (B, C)``.

    Vectors have all their real parts first, then all imaginary ones. Differences are never held all at once, in the
    backward neither.

    Example:
        >>> import torch
        >>> sum_of_moduli(torch.tensor([[3.0, 4.0]]), torch.zeros(2, 2))
        tensor([[5., 5.]])
    """
    return _SumOfModuli.apply(x, y)


class _SumOfModuli(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> Tensor:
        ctx.save_for_backward(x, y)
        total = x.new_zeros(len(x), len(y))
        columns = y.T.contiguous()
        for rows in _blocks(x, y):
            for real, imaginary, _ in _differences(x[rows], columns):
                total[rows] += real.square_().addcmul_(imaginary, imaginary).clamp_min_(LEAST).sqrt_()
        return total

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        x, y = ctx.saved_tensors
        of_x, columns = torch.empty_like(x), y.T.contiguous()
        of_columns = torch.zeros_like(columns)
        for rows in _blocks(x, y):
            for real, imaginary, places in _differences(x[rows], columns):
                modulus = (real * real).addcmul_(imaginary, imaginary).clamp_min_(LEAST).sqrt_()
                share = torch.div(gradient[rows], modulus, out=modulus)
                for part, place in zip((real, imaginary), places, strict=True):
                    part *= share
                    of_x[rows, place] = part.sum(1)
                    of_columns[place] -= part.sum(0)
        return of_x, of_columns.T


def _blocks(x: Tensor, y: Tensor) -> Iterator[slice]:
    """Rows of x whose pairs are worked on together."""
    count = max(1, _AT_ONCE // max(1, len(y)))
    return (slice(start, start + count) for start in range(0, len(x), count))


def _differences(x: Tensor, columns: Tensor) -> Iterator[tuple[Tensor, Tensor, tuple[int, int]]]:
    """Real and imaginary parts of the pairs' differences, one coordinate after the other, and where they stand."""
    half = x.shape[1] // 2
    for j in range(half):
        places = (j, half + j)
        real, imaginary = (x[:, place, None] - columns[place] for place in places)
        yield real, imaginary, places


class TransE(VectorModel):
    r"""Bordes et al. (2013): :math:`s = \gamma - \lVert h + r - t \rVert_1`.

    Args:
        margin: γ.
        norm: 1 or 2, of the distance.
    """

    def __init__(self, *sizes: int, margin: float = 9.0, norm: int = 1, dropout: float = 0.0) -> None:
        super().__init__(*sizes, dropout=dropout)
        self.margin, self.norm = margin, norm
        self.relations = nn.Embedding(2 * self.num_relations, self.entities.embedding_dim)
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

    As in the authors' code; PyKEEN takes the root of their squares' sum instead. All real parts come first.
    """

    two_make = "complex one"

    def __init__(self, *sizes: int, margin: float = 9.0, dropout: float = 0.0) -> None:
        super().__init__(*sizes, dropout=dropout)
        self.margin = margin
        self.angles = nn.Embedding(2 * self.num_relations, self.entities.embedding_dim // 2)
        nn.init.xavier_uniform_(self.entities.weight)
        nn.init.uniform_(self.angles.weight, -torch.pi, torch.pi)

    def question(self, heads: Tensor, relations: Tensor) -> Tensor:
        real, imaginary = self.entities(heads).chunk(2, dim=-1)
        cos, sin = self.angles(relations).cos(), self.angles(relations).sin()
        return self.dropout(torch.cat((real * cos - imaginary * sin, real * sin + imaginary * cos), dim=-1))

    def match(self, question: Tensor, relations: Tensor, candidates: Tensor) -> Tensor:
        if candidates.dim() == 3:
            real, imaginary = (question[:, None] - candidates).chunk(2, dim=-1)
            return self.margin - (real.square() + imaginary.square()).clamp_min(LEAST).sqrt().sum(-1)
        return self.margin - sum_of_moduli(question, candidates)
