"""HAtt: a Transformer that is hyperbolic in its attention alone (Gulcehre et al., 2018)."""

from __future__ import annotations

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.nn.attention import causal_mask
from hybonet.nn.dropout import dropout
from hybonet.nn.module import wide_in_autocast
from hybonet.tasks.translation.models.euclidean_translator import EuclideanTranslator
from hybonet.tasks.translation.models.transformer_layers import MultiheadAttention, masked_softmax


class HyperbolicAttention(MultiheadAttention):
    r"""Weights :math:`\mathrm{softmax}_j(-\beta\, d(q_i, k_j))` by geodesic distance, and the Einstein midpoint of the
    values.

    Queries, keys and values are made by ordinary linear maps and go to the hyperboloid by the exponential map at the
    origin (length as radius, as in the pseudo-polar coordinates of the original); the midpoint, which in Lorentz
    coordinates is the centroid, comes back by the logarithm. Vectors are divided by √d on the way out and multiplied on
    the way back, so that radii start near 1. β is learned, one a head.
    """

    def __init__(self, dim: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__(dim, heads, dropout)
        self.manifold = Lorentz()
        self.log_sharpness = nn.Parameter(torch.zeros(heads, 1, 1))

    def _points(self, x: Tensor) -> Tensor:
        return self.manifold.expmap0(F.pad(wide_in_autocast(x) * x.shape[-1] ** -0.5, (1, 0)))

    def weights(self, q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
        distance = self.manifold.cdist(self._points(q), self._points(k))
        return masked_softmax(-self.log_sharpness.exp() * distance, mask)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, is_causal: bool) -> Tensor:
        weights = self.weights(q, k, causal_mask(q, k, mask) if is_causal else mask)
        weights = dropout(weights, self.dropout, self.training)
        middle = self.manifold.to_sheet(weights @ self._points(v))
        return (self.manifold.logmap0(middle)[..., 1:] * v.shape[-1] ** 0.5).to(v.dtype)


class HyperbolicAttentionTranslator(EuclideanTranslator):
    """HAtt: the Euclidean Transformer with :class:`HyperbolicAttention`; the arguments are the same.

    Example:
        >>> model = HyperbolicAttentionTranslator(100, 120, 16, layers=2, heads=2)
        >>> model(torch.tensor([[5, 6, 3, 0]]), torch.tensor([[2, 7, 8]])).shape
        torch.Size([1, 3, 120])
    """

    attention: ClassVar[type[MultiheadAttention]] = HyperbolicAttention
