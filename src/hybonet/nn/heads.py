"""Output layers: classes as points, and edges as distances."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.kernels.norm_clipping import clip_norms
from hybonet.nn.embedding import LorentzEmbedding
from hybonet.nn.module import LorentzModule


class LorentzDistanceHead(LorentzModule):
    r"""Logits of a point for each class: :math:`-d_L^2(x, c_i) + b_i` with class points :math:`c_i` on the sheet.

    One GEMM gives all pairs: :math:`2\langle x, c_i\rangle_L - 2/K + b_i`. ``weight`` holds the class points' space
    coordinates, as in :class:`LorentzEmbedding`; :meth:`points` are the points.

    Args:
        in_features: ambient coordinates.
        num_classes: how many class points.
        bias: a bias for each class.
        init_std: spread of the class points, as in :class:`LorentzEmbedding`.

    Shapes: ``(..., in_features) -> (..., num_classes)``.

    Example:
        >>> head = LorentzDistanceHead(8, 3)
        >>> head(head.manifold.random_normal(5, 8)).shape
        torch.Size([5, 3])
    """

    manifold_parameters = ("weight",)

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        bias: bool = True,
        *,
        init_std: float | None = None,
        manifold: Lorentz | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(manifold)
        if not isinstance(bias, bool):
            raise ValueError(f"expected bias to be True or False, got {bias!r}; a manifold is passed as manifold=...")
        if num_classes < 1 or in_features < 2:
            raise ValueError(
                f"expected at least 1 class and 2 ambient coordinates, got num_classes={num_classes}, "
                f"in_features={in_features}"
            )
        self.in_features, self.num_classes = in_features, num_classes
        self.init_std = in_features**-0.5 if init_std is None else init_std
        self.weight = nn.Parameter(torch.empty(num_classes, in_features, device=device, dtype=dtype))
        self.bias = nn.Parameter(torch.empty(num_classes, device=device, dtype=dtype)) if bias else None
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw the class points anew and clear the bias."""
        like = self.weight
        self.weight.copy_(
            self.manifold.random_normal(*like.shape, std=self.init_std, dtype=like.dtype, device=like.device)
        )
        self.weight[:, 0] = 0.0
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    @classmethod
    def from_embedding(cls, embedding: LorentzEmbedding, bias: bool = True) -> LorentzDistanceHead:
        """A head whose class points start at (and are then trained apart from) the rows of an embedding.

        Example:
            >>> head = LorentzDistanceHead.from_embedding(LorentzEmbedding(100, 8))
            >>> head
            LorentzDistanceHead(
              8, 100, bias=True
              (manifold): Lorentz(K=-1)
            )
        """
        table = embedding.weight.detach()
        head = cls(
            table.shape[1],
            table.shape[0],
            bias,
            manifold=embedding.manifold,
            device=table.device,
            dtype=table.dtype,
        )
        with torch.no_grad():
            head.weight.copy_(table)
        return head

    def forward(self, x: Tensor) -> Tensor:
        self.manifold.validate(x, self.in_features)
        if self.bias is None:
            return F.linear(_mirrored(x), self.points()) - 2.0 / self.manifold.K
        return F.linear(_mirrored(x), self.points(), self.bias - 2.0 / self.manifold.K)

    def points(self) -> Tensor:
        """The class points, ``(num_classes, in_features)``.

        Example:
            >>> LorentzDistanceHead(8, 3).points().shape
            torch.Size([3, 8])
        """
        return clip_norms(self.weight, None, self.manifold)

    def inner_form(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Two matrices whose products are the logits plus 2/K, for losses that never hold them all.

        Shapes: ``(N, in_features) -> (N, k), (num_classes, k)``; the bias rides along as a coordinate.

        Example:
            >>> import torch
            >>> head = LorentzDistanceHead(8, 3)
            >>> x = head.manifold.random_normal(5, 8)
            >>> question, classes = head.inner_form(x)
            >>> torch.allclose(question @ classes.T, head(x) - 2.0, atol=1e-5)
            True
        """
        self.manifold.validate(x, self.in_features)
        if self.bias is None:
            return _mirrored(x), self.points()
        question = torch.cat((_mirrored(x), x.new_ones(len(x), 1)), dim=-1)
        return question, torch.cat((self.points(), self.bias[:, None]), dim=-1)

    def extra_repr(self) -> str:
        return f"{self.in_features}, {self.num_classes}, bias={self.bias is not None}"


def _mirrored(x: Tensor) -> Tensor:
    """What gives 2 <x, c> in a plain product with c; points are fewer than classes as a rule, so they are the side to
    mirror.
    """
    return torch.cat((-2.0 * x[..., :1], 2.0 * x[..., 1:]), dim=-1)


class FermiDiracDecoder(nn.Module):
    r"""Probability of an edge from a squared distance: :math:`p = 1 / (e^{(d^2 - r)/t} + 1)`.

    Args:
        r: squared distance at which p = 1/2.
        t: temperature > 0.
        learnable: train r and t (t as its logarithm).

    ``forward`` takes squared distances of any shape; ``logits`` gives :math:`(r - d^2)/t` for a numerically safe
    ``binary_cross_entropy_with_logits``.

    Example:
        >>> import torch
        >>> FermiDiracDecoder(r=2.0, t=1.0)(torch.tensor([0.0, 2.0, 50.0]))
        tensor([8.8080e-01, 5.0000e-01, 1.4252e-21])
    """

    radius: Tensor
    log_temperature: Tensor

    def __init__(
        self,
        r: float = 2.0,
        t: float = 1.0,
        *,
        learnable: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if not t > 0:
            raise ValueError(f"expected temperature t > 0, got {t}")
        self.initial = (float(r), math.log(t))
        self.learnable = learnable
        for name in ("radius", "log_temperature"):
            value = torch.empty((), device=device, dtype=dtype)
            if learnable:
                self.register_parameter(name, nn.Parameter(value))
            else:
                self.register_buffer(name, value)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Back to the r and t of the constructor."""
        with torch.no_grad():
            for value, start in zip((self.radius, self.log_temperature), self.initial, strict=True):
                value.fill_(start)

    def logits(self, square: Tensor) -> Tensor:
        """Log-odds of an edge."""
        return (self.radius - square) / self.log_temperature.exp()

    def forward(self, square: Tensor) -> Tensor:
        return torch.sigmoid(self.logits(square))

    def extra_repr(self) -> str:
        return f"r={self.radius.item():.4g}, t={self.log_temperature.exp().item():.4g}, learnable={self.learnable}"
