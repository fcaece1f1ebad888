"""Dropout as a module; see :mod:`hybonet.kernels.dropout`."""

from __future__ import annotations

from torch import Tensor, nn

from hybonet.kernels.dropout import dropout, kept

__all__ = ["Dropout", "dropout", "kept"]


class Dropout(nn.Dropout):
    """``nn.Dropout`` by :func:`dropout`."""

    def forward(self, input: Tensor) -> Tensor:
        return dropout(input, self.p, self.training)
