"""The paper's graph network: features lifted to points, Lorentz graph layers, distances for links and classes."""

from __future__ import annotations

from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.nn import EuclideanToLorentz, LorentzDistanceHead, TangentLinear
from hybonet.nn.graph_attention import LorentzGraphAttention
from hybonet.nn.graph_conv import LorentzGraphConv
from hybonet.tasks.graph.models.node_model import NodeModel, ends_of, lorentzian_square

GraphLayer = Literal["convolution", "attention", "tangent"]


class GraphNetwork(NodeModel):
    r"""HyboNet on graphs: :math:`x^0 = \exp_o(0, f)`, then graph layers from points to points.

    Links are predicted by the Fermi–Dirac decoder of squared Lorentzian distances, classes by the distances to a point
    of each class.

    Args:
        dim: ambient coordinates of a node's point.
        layer: ``"convolution"`` (:class:`~hybonet.nn.LorentzGraphConv`), ``"attention"``
            (:class:`~hybonet.nn.LorentzGraphAttention`), or ``"tangent"``: the convolution with its linear map in the
            tangent space at the origin, for comparison.
        heads: of the attention.
        activation, dropout: of the linear layers; there is no activation before the first.
        scale, time_gate: λ of the linear layers, and their form, which says what their time gate reads; see
            :class:`~hybonet.nn.LorentzLinear`.
        cached: train on one graph with the same features in every call, and make what follows from them but once.
    """

    def __init__(
        self,
        num_features: int,
        num_classes: int = 0,
        dim: int = 16,
        layers: int = 2,
        *,
        layer: GraphLayer = "convolution",
        heads: int = 1,
        activation: str | None = None,
        dropout: float = 0.0,
        scale: float = 10.0,
        time_gate: Literal["paper", "paper_code"] = "paper",
        cached: bool = False,
        manifold: Lorentz | None = None,
        **options: Any,
    ) -> None:
        if layer not in get_args(GraphLayer):
            raise ValueError(
                f"expected a layer of {', '.join(get_args(GraphLayer))}, got {layer!r}; choose one of these"
            )
        if layers < 1:
            raise ValueError(f"expected at least one layer, got layers={layers}; without a graph use MLP")
        super().__init__(num_features, num_classes, learned_features=dim - 1, **options)
        self.manifold = Lorentz() if manifold is None else manifold
        self.cached = cached
        self.lift = EuclideanToLorentz(manifold=self.manifold)
        self.layers = nn.ModuleList()
        for number in range(layers):
            width = self.num_features + 1 if number == 0 else dim
            shared: dict[str, Any] = {"activation": activation if number else None, "dropout": dropout}
            if layer == "tangent":
                convolution = LorentzGraphConv(width, dim, cached=cached, manifold=self.manifold)
                convolution.lin = TangentLinear(width, dim, manifold=self.manifold, **shared)  # type: ignore[assignment]
                self.layers.append(convolution)
                continue
            shared |= {"scale": scale, "linear": {"form": time_gate}, "manifold": self.manifold}
            if layer == "attention":
                self.layers.append(LorentzGraphAttention(width, dim, heads=heads, **shared))
            else:
                self.layers.append(LorentzGraphConv(width, dim, cached=cached, **shared))
        if layer != "tangent":
            self._widen(dim)
        self.head = LorentzDistanceHead(dim, num_classes, manifold=self.manifold, form="paper") if num_classes else None
        self._lifted: Tensor | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lifted": None}

    @torch.no_grad()
    def _widen(self, dim: int) -> None:
        """Let the first maps start as large as the others, within ±1/√dim.

        Features may have thousands of columns; weights within ±1/√columns would be smaller than a step of Adam, which
        the normalised form, that sees only their direction, turns into jumps.
        """
        for name, weight in self.layers[0].named_parameters():
            if name.endswith("weight") and weight.dim() == 2 and "out_proj" not in name:
                weight.mul_((weight.shape[1] / dim) ** 0.5)

    def encode_features(self, x: Tensor, edges: Any) -> Tensor:
        points = self._points(x)
        for layer in self.layers:
            points = layer(points, edges)
        return points

    def _points(self, x: Tensor) -> Tensor:
        """Features as points; of a training on one graph they are the same in every step, unless they are learned."""
        # Learned features ask for no gradient while a model is measured, so that x.requires_grad alone does not tell.
        if not self.cached or self.table is not None or x.requires_grad or self.manifold.learnable:
            return self.lift(x)
        if self._lifted is None:
            self._lifted = self.lift(x)
        return self._lifted

    def squared_distance(self, z: Tensor, pairs: Tensor) -> Tensor:
        return lorentzian_square(self.manifold, *ends_of(z, pairs), exact=not self.training)

    def squared_distances(self, some: Tensor, z: Tensor) -> Tensor:
        return self.manifold.csqdist(some, z)
