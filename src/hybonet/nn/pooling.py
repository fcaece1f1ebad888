"""From a sequence of points to one point."""

from __future__ import annotations

from torch import Tensor

from hybonet.geometry import to_sheet
from hybonet.nn.module import LorentzModule, wide_in_autocast


class LorentzCentroidPooling(LorentzModule):
    r"""Centroid of the points of each sequence, :math:`\mathrm{centroid}(x_1 \dots x_L)`.

    ``mask`` is True where a position is padding (to be ignored), as ``key_padding_mask``; ``weights`` are non-negative.
    A sequence that is all padding gives the origin. Shapes: ``x (N, L, d)``, ``mask, weights (N, L) -> (N, d)``.

    Example:
        >>> import torch
        >>> pool = LorentzCentroidPooling()
        >>> x = pool.manifold.random_normal(2, 5, 4)
        >>> mask = torch.tensor([[False] * 5, [True] * 5])
        >>> pool(x, mask)[1]
        tensor([1., 0., 0., 0.])
    """

    def forward(self, x: Tensor, mask: Tensor | None = None, weights: Tensor | None = None) -> Tensor:
        self.check_input(x)
        for name, given in (("mask", mask), ("weights", weights)):
            if given is not None and given.shape != x.shape[:-1]:
                raise ValueError(f"expected {name} of shape {tuple(x.shape[:-1])}, got {tuple(given.shape)}")
        share = x.new_ones(x.shape[:-1]) if weights is None else weights.to(x.dtype)
        if mask is not None:
            share = share.masked_fill(mask, 0.0)
            x = x.masked_fill(mask.unsqueeze(-1), 0.0)  # whatever stands in a padded place, NaN too, does not count
        total = share.sum(-1, keepdim=True)
        share = share / total.where(total > 0, total.new_ones(()))
        return to_sheet(wide_in_autocast((share.unsqueeze(-2) @ x).squeeze(-2)), K=self.manifold.K)
