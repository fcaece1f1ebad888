"""Between Euclidean features and points."""

from __future__ import annotations

from typing import Literal

import torch.nn.functional as F
from torch import Tensor

from hybonet.geometry import Lorentz
from hybonet.kernels.sparse_points import is_sparse_rows, sparse_exp0
from hybonet.nn.module import LorentzModule


class EuclideanToLorentz(LorentzModule):
    r"""Lift Euclidean features to points with one more coordinate.

    ``method="exp"``: the features are a tangent vector at the origin, :math:`x = \exp_o(0, f)`, so their length is the
    geodesic radius. ``method="space"``: they are the space part, time is rebuilt; their length is then sinh of the
    radius.

    Shapes: ``(..., n) -> (..., n + 1)``. A matrix in compressed rows (torch's CSR) stays one, for ``method="exp"`` and
    a fixed curvature; there is no gradient to it.

    Example:
        >>> import torch
        >>> EuclideanToLorentz()(torch.tensor([0.6, 0.8]))
        tensor([1.5431, 0.7051, 0.9402])
    """

    def __init__(self, method: Literal["exp", "space"] = "exp", *, manifold: Lorentz | None = None) -> None:
        super().__init__(manifold)
        if method not in ("exp", "space"):
            raise ValueError(f"expected method 'exp' or 'space', got {method!r}")
        self.method = method

    def forward(self, features: Tensor) -> Tensor:
        if is_sparse_rows(features):
            if self.method == "space" or self.manifold.learnable:
                raise ValueError(
                    "expected dense features with method='space' or a learnable curvature, got a sparse matrix; give "
                    "features.to_dense()"
                )
            return sparse_exp0(features, K=self.manifold.K)
        return (
            self.manifold.lift(features) if self.method == "space" else self.manifold.expmap0(F.pad(features, (1, 0)))
        )

    def extra_repr(self) -> str:
        return f"method={self.method}"


class LorentzToEuclidean(LorentzModule):
    r"""Euclidean features of points, one coordinate fewer: the inverse of :class:`EuclideanToLorentz`.

    ``method="log"``: :math:`\log_o(x)_s`; ``method="space"``: :math:`x_s`. Shapes: ``(..., d) -> (..., d - 1)``.

    Example:
        >>> import torch
        >>> LorentzToEuclidean()(EuclideanToLorentz()(torch.tensor([0.6, 0.8])))
        tensor([0.6000, 0.8000])
    """

    def __init__(self, method: Literal["log", "space"] = "log", *, manifold: Lorentz | None = None) -> None:
        super().__init__(manifold)
        if method not in ("log", "space"):
            raise ValueError(f"expected method 'log' or 'space', got {method!r}")
        self.method = method

    def forward(self, x: Tensor) -> Tensor:
        self.check_input(x)
        return x[..., 1:] if self.method == "space" else self.manifold.logmap0(x)[..., 1:]

    def extra_repr(self) -> str:
        return f"method={self.method}"
