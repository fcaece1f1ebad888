"""HyperNN++: convolutional translation in the Poincaré ball (Shimizu et al., 2021)."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.geometry.numerics import safe_sqrt
from hybonet.geometry.poincare_ball import INSIDE, from_chord, from_tangent, into_ball, mobius_add, to_tangent
from hybonet.nn.dropout import dropout
from hybonet.nn.module import wide_in_autocast
from hybonet.tasks.translation.models.convolution_translator import ConvolutionTranslator, LookUp, windows
from hybonet.tasks.translation.models.transformer_translator import masked_softmax
from hybonet.tasks.translation.models.translation_model import Memory

#: Signed distances beyond are cut: at this one a point is as near the border as float32 allows.
_FARTHEST = 12.0


class PoincareDistances(nn.Module):
    r"""Signed, scaled distances of a point to hyperplanes, one for each output; ``(..., in) -> (..., out)``.

    .. math:: v_k(x) = \frac{2 |z_k|}{\sqrt c} \mathrm{asinh}\big(\lambda_x \sqrt c \langle x, \hat z_k\rangle
        \cosh(2\sqrt c\, r_k) - (\lambda_x - 1) \sinh(2 \sqrt c\, r_k)\big)

    with :math:`\lambda_x = 2 / (1 - c|x|^2)`: the multinomial logistic regression of the ball, and the first half of
    its linear layer.
    """

    c: Tensor

    def __init__(self, in_features: int, out_features: int, c: Tensor, std: float | None = None) -> None:
        super().__init__()
        self.register_buffer("c", c)
        std = in_features**-0.5 if std is None else std
        self.weight = nn.Parameter(std * torch.randn(out_features, in_features))
        self.offset = nn.Parameter(torch.zeros(out_features))

    def forward(self, x: Tensor) -> Tensor:
        x = wide_in_autocast(x)
        root = self.c.sqrt()
        length = self.weight.norm(dim=-1).clamp_min(1e-15)
        factor = 2 / (1 - self.c * x.square().sum(-1, keepdim=True)).clamp_min(1e-10)
        turn = 2 * root * self.offset
        along = F.linear(x, self.weight / length[:, None] * (root * torch.cosh(turn))[:, None])
        return 2 / root * length * torch.asinh(factor * along - (factor - 1) * torch.sinh(turn))


class PoincareLinear(PoincareDistances):
    r"""The ball's linear layer: the point whose signed distances to the axes are those to the hyperplanes.

    :math:`y = w / (1 + \sqrt{1 + c|w|^2})`, :math:`w_k = \sinh(\sqrt c\, v_k(x)) / \sqrt c`. Weights start with the
    published variance 1/(2 · in · out): residuals add up, and the border is near.
    """

    def __init__(self, in_features: int, out_features: int, c: Tensor) -> None:
        super().__init__(in_features, out_features, c, std=(2 * in_features * out_features) ** -0.5)

    def forward(self, x: Tensor) -> Tensor:
        root = self.c.sqrt()
        w = torch.sinh((root * super().forward(x)).clamp(-_FARTHEST, _FARTHEST)) / root
        return into_ball(w / (1 + (1 + self.c * w.square().sum(-1, keepdim=True)).sqrt()), self.c)


def log_beta(size: int) -> float:
    """Logarithm of the Beta function of (size/2, 1/2)."""
    return math.lgamma(size / 2) + math.lgamma(0.5) - math.lgamma((size + 1) / 2)


class PoincareConvolution(nn.Module):
    """A window of points to one, through β-concatenation, :class:`PoincareLinear` and a gate in the tangent space.

    β-concatenation joins tangent vectors at the centre, each scaled by the ratio of Beta functions of the dimensions,
    so that the expected norm does not grow with the window. Shapes: ``(N, T + width - 1, h) -> (N, T, h)``.
    """

    def __init__(self, hidden: int, width: int, dropout: float, c: Tensor) -> None:
        super().__init__()
        self.width, self.dropout = width, dropout
        self.linear = PoincareLinear(width * hidden, 2 * hidden, c)
        self.joined = math.exp(log_beta(width * hidden) - log_beta(hidden))
        self.parted = math.exp(log_beta(hidden) - log_beta(2 * hidden))

    def forward(self, padded: Tensor) -> Tensor:
        c = self.linear.c
        tangent = dropout(to_tangent(padded, c), self.dropout, self.training)
        out = self.linear(from_tangent(self.joined * windows(tangent, self.width), c))
        value, gate = (self.parted * to_tangent(out, c)).chunk(2, dim=-1)
        return from_tangent(value * torch.sigmoid(gate), c)


class PoincareLookUp(LookUp):
    r"""Attention of a decoder layer to the source: weights :math:`\mathrm{softmax}_j(-\tau\, d(q_i, k_j))`, gathered in
    the gyromidpoint of the values. Heads are made by β-splitting, and joined by β-concatenation.

    Shapes: states ``(N, T, h)``, embedded tokens ``(N, T, d)`` ``-> (N, T, h)`` and the weights if asked for.
    """

    def __init__(self, dim: int, hidden: int, heads: int, dropout: float, c: Tensor) -> None:
        super().__init__(dim, hidden, heads, dropout, partial(PoincareLinear, c=c))
        self.parted = math.exp(log_beta(dim // heads) - log_beta(dim))
        self.log_sharpness = nn.Parameter(torch.zeros(heads, 1, 1))

    def _split(self, x: Tensor) -> Tensor:
        """``(N, T, d) -> (N, heads, T, d / heads)``."""
        c = self.into.c
        return from_tangent((self.parted * to_tangent(x, c)).unflatten(-1, (self.heads, -1)).transpose(1, 2), c)

    def gather(self, states: Tensor, tokens: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
        assert memory.values is not None
        c = self.into.c
        question = into_ball(mobius_add(self.into(states), tokens, c), c)
        q, k, v = (self._split(x) for x in (question, memory.states, memory.values))
        distance = safe_sqrt(squared_distances(q, k, c))
        weights = masked_softmax(-self.log_sharpness.exp() * distance, ~memory.padding[:, None, None, :])
        found = to_tangent(gyromidpoint(dropout(weights, self.dropout, self.training), v, c), c)
        return self.back(from_tangent(found.transpose(1, 2).flatten(2) / self.parted, c)), weights


def squared_distances(x: Tensor, y: Tensor, c: Tensor) -> Tensor:
    """All pairs, ``(..., n, d), (..., m, d) -> (..., n, m)``, by one product."""
    xx, yy = x.square().sum(-1)[..., :, None], y.square().sum(-1)[..., None, :]
    return from_chord((xx + yy - 2 * x @ y.transpose(-1, -2)).clamp_min(0.0), xx, yy, c)


def gyromidpoint(weights: Tensor, points: Tensor, c: Tensor) -> Tensor:
    r"""Weighted midpoints, ``(..., n, m), (..., m, d) -> (..., n, d)``:
    :math:`\frac12 \otimes \frac{\sum_j \nu_j \lambda_j v_j}{\sum_j \nu_j (\lambda_j - 1)}`. No weight gives the centre.
    """
    factor = 2 / (1 - c * points.square().sum(-1, keepdim=True)).clamp_min(1e-10)
    total = (weights @ (factor - 1)).clamp_min(1e-15)
    middle = into_ball(weights @ (factor * points) / total, c)
    room = (1 - c * middle.square().sum(-1, keepdim=True)).clamp_min(1 - INSIDE**2)
    return middle / (1 + room.sqrt())


class PoincareTranslator(ConvolutionTranslator):
    """:class:`ConvolutionTranslator` with every part in the ball, as the published model is; the same arguments.

    Embeddings are tangent vectors at the centre, of length about 1; states are Poincaré coordinates; residuals are
    Möbius sums; the output layer is the ball's multinomial logistic regression.
    """

    c: Tensor

    def build_layers(self, hidden: int, **kinds: Any) -> None:
        self.register_buffer("c", torch.ones(()))
        linear, convolution, look_up, head = (
            partial(kind, c=self.c) for kind in (PoincareLinear, PoincareConvolution, PoincareLookUp, PoincareDistances)
        )
        super().build_layers(hidden, linear=linear, convolution=convolution, look_up=look_up, head=head)

    def embed(self, table: nn.Module, tokens: Tensor, offset: int = 0) -> Tensor:
        return from_tangent(wide_in_autocast(super().embed(table, tokens, offset)) * self.dim**-0.5, self.c)

    def join(self, x: Tensor, y: Tensor) -> Tensor:
        return into_ball(mobius_add(x, y, self.c), self.c)
