"""Output layers: classes as points, and edges as distances."""

from __future__ import annotations

import math
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.geometry.fused import Fused
from hybonet.geometry.numerics import Curvature, origin_time
from hybonet.kernels.geodesic_softmax import geodesic_softmax_loss
from hybonet.kernels.inner_softmax import Places, inner_softmax_loss
from hybonet.kernels.norm_clipping import clip_norms, mirrored, products_with_points
from hybonet.nn.embedding import LorentzEmbedding
from hybonet.nn.module import LorentzModule, vectors_of_scalars, wide_in_autocast
from hybonet.nn.scales import CLASS_GAIN, NORM_LENGTH, class_scale


class LorentzDistanceHead(LorentzModule):
    r"""Logits of a point for each class: minus a scaled distance to a class point, and a bias.

    * ``distance="squared"``: :math:`-\beta e^\theta\, d_L^2(x, c_i) + b_i`, by one GEMM; much as a linear layer.
    * ``distance="geodesic"``: :math:`-\gamma e^\theta\, d(x, c_i) + b_i`. It grows like the logarithm of coordinates,
      which suits trees: with ``tied`` it names a word's hypernyms better than linear layers do.

    β and γ are those of :mod:`hybonet.nn.scales`, and θ is learned. In the paper's form (squared) both factors are 1.

    Args:
        in_features: ambient coordinates.
        num_classes: how many class points.
        bias: ``"origin"`` (the default but in the paper's form): :math:`b_i` is the logit at the origin o, so that
            class points far out are not punished: the distance of o is taken off that of x. True: as above.
        distance: see above.
        form: ``"scaled"`` or ``"paper"``; as in :class:`LorentzEmbedding`, with class points in units of R.
        tied: an embedding whose rows are the class points, too. Its form is the head's.
        init_std: spread of the class points at the start.

    Shapes: ``(..., in_features) -> (..., num_classes)``.

    Example:
        >>> head = LorentzDistanceHead(8, 3)
        >>> head(head.manifold.random_normal(5, 8)).shape
        torch.Size([5, 3])
    """

    manifold_parameters: tuple[str, ...] = ("weight",)

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        bias: bool | Literal["origin"] | None = None,
        *,
        distance: Literal["squared", "geodesic"] = "squared",
        form: Literal["scaled", "paper"] = "scaled",
        tied: LorentzEmbedding | None = None,
        init_std: float | None = None,
        manifold: Lorentz | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if tied is not None:
            form, manifold = tied.form, manifold or tied.manifold
            if tied.weight.shape != (num_classes, in_features) or not manifold.same_as(tied.manifold):
                raise ValueError(
                    f"expected tied with {num_classes} rows of {in_features} coordinates on {manifold}, got "
                    f"{tuple(tied.weight.shape)} on {tied.manifold}"
                )
        super().__init__(manifold)
        bias = (form == "paper" or "origin") if bias is None else bias
        for name, given, choices in (
            ("bias", bias, (True, False, "origin")),
            ("distance", distance, ("squared", "geodesic")),
            ("form", form, ("scaled", "paper")),
        ):
            if not any(given is choice or (isinstance(given, str) and given == choice) for choice in choices):
                raise ValueError(
                    f"expected {name} to be {', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}, got {given!r}; "
                    "a manifold is passed as manifold=..."
                )
        if num_classes < 1 or in_features < 2:
            raise ValueError(
                f"expected at least 1 class and 2 ambient coordinates, got num_classes={num_classes}, "
                f"in_features={in_features}"
            )
        self.in_features, self.num_classes = in_features, num_classes
        self.distance, self.form, self.tied = distance, form, tied is not None
        self.at_origin = bias == "origin"
        self.init_std = in_features**-0.5 if init_std is None and form == "paper" else init_std
        self.max_norm = None if tied is None else tied.max_norm
        #: What 1 in ``weight`` is, in units of R; the paper's form has absolute ones.
        self.length = NORM_LENGTH if tied is not None else 1.0
        if form == "scaled":
            self.manifold_parameters = ()
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        self.weight = nn.Parameter(torch.empty(num_classes, in_features, **factory)) if tied is None else tied.weight
        self.bias = nn.Parameter(torch.empty(num_classes, **factory)) if bias else None
        # A vector, since FSDP2 shards no scalars.
        self.log_scale = nn.Parameter(torch.empty(1, **factory)) if form == "scaled" else None
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw the class points anew, unless they are an embedding's; clear the bias, and e^θ = 2."""
        if not self.tied:
            like = self.weight
            if self.form == "paper":
                std: Any = self.init_std
                points = self.manifold.random_normal(*like.shape, std=std, dtype=like.dtype, device=like.device)
                like.copy_(points)
            else:
                std = (3 * (self.in_features - 1)) ** -0.5 if self.init_std is None else self.init_std
                nn.init.uniform_(like, -std * 3**0.5, std * 3**0.5)
            like[:, 0] = 0.0
        if self.bias is not None:
            nn.init.zeros_(self.bias)
        if self.log_scale is not None:
            nn.init.constant_(self.log_scale, math.log(CLASS_GAIN))

    @classmethod
    def from_embedding(cls, embedding: LorentzEmbedding, bias: bool | None = None) -> LorentzDistanceHead:
        """A head whose class points start at (and are then trained apart from) the rows of an embedding.

        Example:
            >>> head = LorentzDistanceHead.from_embedding(LorentzEmbedding(100, 8))
            >>> head
            LorentzDistanceHead(
              8, 100, bias=origin, distance=squared, form=scaled
              (manifold): Lorentz(K=-1)
            )
        """
        table = embedding.weight.detach()
        rows, size = table.shape
        options: dict[str, Any] = {"manifold": embedding.manifold, "device": table.device, "dtype": table.dtype}
        head = cls(size, rows, bias, form=embedding.form, **options)
        head.length, head.max_norm = NORM_LENGTH if embedding.form == "scaled" else 1.0, embedding.max_norm
        with torch.no_grad():
            head.weight.copy_(table)
        return head

    def forward(self, x: Tensor) -> Tensor:
        self.check_input(x, self.in_features, like=self.weight)
        if not torch.is_autocast_enabled(x.device.type):
            return self._logits(x)
        with torch.autocast(x.device.type, enabled=False):  # products of times, which are large, nearly cancel
            return self._logits(x.float())

    def _logits(self, x: Tensor) -> Tensor:
        K = self.manifold.K
        if self.distance == "geodesic":
            points = self.points()
            near = _geodesics(F.linear(mirrored(x, 0.5 * K), points), K)
            if self.at_origin:
                near = near - self._from_origin(points)
            return near * -self._scale() if self.bias is None else self.bias - near * self._scale()
        return products_with_points(
            x,
            self.weight,
            self.bias,
            self.manifold,
            factor=2.0 * self._scale(),
            length=self._row_length(),
            origin=origin_time(K) if self.at_origin else 0.0,
            constant=0.0 if self.at_origin else -1.0 / K,
            max_norm=self.max_norm,
        )

    def cross_entropy(
        self, x: Tensor, target: Tensor, *, ignore_index: int = -100, label_smoothing: float = 0.0
    ) -> Tensor:
        """``F.cross_entropy`` of the logits, which are never held together: for thousands of classes faster than a
        linear layer with torch's. Differentiable once.

        Shapes: ``(..., in_features), (...) -> ()``: the mean over targets that are not ``ignore_index``.

        Example:
            >>> import torch
            >>> head = LorentzDistanceHead(8, 3, distance="geodesic")
            >>> x, target = head.manifold.random_normal(5, 8), torch.tensor([0, 2, 1, 1, -100])
            >>> torch.allclose(head.cross_entropy(x, target), F.cross_entropy(head(x), target), atol=1e-4)
            True
        """
        self.check_input(x, self.in_features)
        if target.shape != x.shape[:-1]:
            raise ValueError(
                f"expected a target of shape {tuple(x.shape[:-1])}, the number of a class for each point, got "
                f"{tuple(target.shape)}"
            )
        if not 0.0 <= label_smoothing <= 1.0:
            raise ValueError(f"expected label_smoothing between 0 and 1, got {label_smoothing}")
        with torch.autocast(x.device.type, enabled=False):
            wide, target = x.reshape(-1, self.in_features).to(self.weight.dtype), target.flatten()
            counts = target != ignore_index
            weight = counts.to(wide.dtype) / counts.sum()
            target = target.where(counts, 0)
            if self.distance == "geodesic":
                return self._geodesic_loss(wide, target, weight, label_smoothing)
            question, classes = self.inner_form(wide)
            true = (question * classes[target]).sum(-1)
            row = torch.arange(len(target), device=target.device)
            loss = inner_softmax_loss(question, classes, true, weight=weight, left_out=Places(row, target))
            if label_smoothing:
                loss = loss + label_smoothing * (weight * (true - question @ classes.mean(0))).sum()
            return loss

    def _geodesic_loss(self, x: Tensor, target: Tensor, weight: Tensor, smoothing: float) -> Tensor:
        K, points = self.manifold.K, self.points()
        scale = torch.as_tensor(self._scale() * origin_time(K), dtype=x.dtype, device=x.device)
        bias = points.new_zeros(self.num_classes) if self.bias is None else self.bias
        if self.at_origin:
            bias = bias + self._scale() * self._from_origin(points)
        return geodesic_softmax_loss(mirrored(x, K), points, scale, bias, target, weight, smoothing=smoothing)

    def _from_origin(self, points: Tensor) -> Tensor:
        K = self.manifold.K
        return _geodesics(0.5 * K * -origin_time(K) * points[:, 0], K)

    def _scale(self) -> float | Tensor:
        """What distances are multiplied by."""
        if self.log_scale is None:
            return 1.0
        geodesic = self.distance == "geodesic"
        return self.log_scale.squeeze().exp() * class_scale(
            self.in_features, self.length, geodesic=geodesic, K=self.manifold.K
        )

    def points(self) -> Tensor:
        """The class points, ``(num_classes, in_features)``.

        Example:
            >>> LorentzDistanceHead(8, 3).points().shape
            torch.Size([3, 8])
        """
        rows = self.weight * self._row_length() if self.form == "scaled" else self.weight
        return clip_norms(rows, self.max_norm, self.manifold)

    def _row_length(self) -> Curvature:
        """What 1 in ``weight`` is in space coordinates."""
        return self.length * origin_time(self.manifold.K) if self.form == "scaled" else 1.0

    def inner_form(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Two matrices whose products are the logits up to a constant, for losses that never hold them all; of squared
        distances alone.

        Shapes: ``(N, in_features) -> (N, k), (num_classes, k)``; the bias rides along as a coordinate.

        Example:
            >>> import torch
            >>> head = LorentzDistanceHead(8, 3)
            >>> x = head.manifold.random_normal(5, 8)
            >>> question, classes = head.inner_form(x)
            >>> torch.allclose(question @ classes.T, head(x), atol=1e-5)
            True
        """
        if self.distance == "geodesic":
            raise ValueError("geodesic distances are no inner products; use distance='squared'")
        self.check_input(x, self.in_features)
        question = mirrored(x, 2.0 * self._scale(), origin_time(self.manifold.K) if self.at_origin else 0.0)
        if self.bias is None:
            return question, self.points()
        question = torch.cat((question, x.new_ones(len(x), 1)), dim=-1)
        return question, torch.cat((self.points(), self.bias[:, None]), dim=-1)

    def extra_repr(self) -> str:
        bias = "origin" if self.at_origin else self.bias is not None
        text = f"{self.in_features}, {self.num_classes}, bias={bias}, distance={self.distance}, form={self.form}"
        return text + (", tied=True" if self.tied else "")


class _Geodesics(Fused):
    """w -> arccosh(2w), where w = K<x, c>/2. Nearer than rounding of products can tell, the slope is bounded."""

    generate_vmap_rule = True

    @staticmethod
    def forward(w: Tensor) -> Tensor:
        u = (w - 0.5).clamp_min_(0.0)  # sinh² of half the distance
        return torch.addcmul(u, u, u).sqrt_().add_(u).mul_(2.0).log1p_()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (w,) = ctx.saved_tensors
        u = (w - 0.5).clamp_min(8.0 * torch.finfo(w.dtype).eps)
        return grad * torch.addcmul(u, u, u).rsqrt()


def _geodesics(half: Tensor, K: Curvature) -> Tensor:
    """Geodesic distances of points from K<x, c>/2."""
    return _Geodesics.apply(wide_in_autocast(half)) * origin_time(K)


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
            value = torch.empty(1, device=device, dtype=dtype)  # a vector, since FSDP2 shards no scalars
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
        return (self.radius.squeeze() - square) / self.log_temperature.squeeze().exp()

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        """Files of older versions hold scalars."""
        vectors_of_scalars(self, state_dict, prefix)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def forward(self, square: Tensor) -> Tensor:
        return torch.sigmoid(self.logits(square))

    def extra_repr(self) -> str:
        return f"r={self.radius.item():.4g}, t={self.log_temperature.exp().item():.4g}, learnable={self.learnable}"
