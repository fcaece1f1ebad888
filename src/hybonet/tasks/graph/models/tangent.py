"""Hyperbolic graph networks before HyboNet, each in its essential form: linear maps and activations in the tangent
space at the origin, and a way of their own to put neighbours together.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.utils import add_remaining_self_loops, scatter, softmax

from hybonet.geometry import Lorentz
from hybonet.geometry.distance import geodesic_of
from hybonet.kernels.sparse_edges import EdgePattern, edge_products, edge_sums, sparse_attention
from hybonet.kernels.sparse_product import are_sampled, compressed, entries, sparse_product, transposed
from hybonet.nn import EuclideanToLorentz, LorentzDistanceHead, LorentzToEuclidean, TangentLinear
from hybonet.tasks.graph.models.node_model import NodeModel, ends_of, lorentzian_square


class TangentGraphModel(NodeModel):
    """Tangent linear layers, neighbours put together by :meth:`aggregate`, ReLU in the tangent space between layers.

    Args:
        as GraphNetwork; the manifold may learn its curvature.
    """

    #: Whether the linear layers have a bias.
    bias = True

    def __init__(
        self, num_features: int, num_classes: int = 0, dim: int = 16, layers: int = 2, *, dropout: float = 0.0,
        cached: bool = False, manifold: Lorentz | None = None, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(num_features, num_classes, learned_features=dim - 1, **options)
        self.manifold, self.cached = Lorentz() if manifold is None else manifold, cached
        self.lift = EuclideanToLorentz(manifold=self.manifold)
        self.flat = LorentzToEuclidean(manifold=self.manifold)
        widths = [self.num_features + 1, *[dim] * layers]
        self.layers = nn.ModuleList(
            TangentLinear(widths[number], dim, self.bias, manifold=self.manifold, dropout=dropout)
            for number in range(layers)
        )
        self.head = self.build_head(dim, num_classes) if num_classes else None
        self._graph: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_graph": None}

    def build_head(self, dim: int, num_classes: int) -> nn.Module:
        """Classes by a linear layer in the tangent space, as HGCN has it."""
        return nn.Sequential(self.flat, nn.Linear(dim - 1, num_classes))

    def encode_features(self, x: Tensor, edges: Any) -> Tensor:
        points = self.lift(x)
        graph = self._prepared(edges, points.shape[0], points.dtype)
        for number, layer in enumerate(self.layers):
            if number:
                points = self.lift(F.relu(self.flat(points)))
            points = self.aggregate(layer(points), graph)
        return points

    def _prepared(self, edges: Tensor, count: int, dtype: torch.dtype) -> Any:
        if self._graph is not None and self.cached:
            return self._graph
        self._graph = self.prepare(add_remaining_self_loops(edges, num_nodes=count)[0], count, dtype)
        return self._graph

    def prepare(self, edges: Tensor, count: int, dtype: torch.dtype) -> Any:
        """The graph, self-loops included, as :meth:`aggregate` takes it."""
        return edges

    def aggregate(self, points: Tensor, graph: Any) -> Tensor:
        """Every node's neighbours put together."""
        raise NotImplementedError

    def squared_distance(self, z: Tensor, pairs: Tensor) -> Tensor:
        return self.geodesic(*ends_of(z, pairs)).square()

    def geodesic(self, first: Tensor, second: Tensor) -> Tensor:
        """Distances of points, ``(n, dim), (n, dim) -> (n,)``."""
        square = lorentzian_square(self.manifold, first, second, exact=not self.training)
        return geodesic_of(square, K=self.manifold.K)

    def squared_distances(self, some: Tensor, z: Tensor) -> Tensor:
        return self.manifold.cdist(some, z).square()


class HGCN(TangentGraphModel):
    """Hyperbolic graph convolution (Chami et al., 2019): the mean of the neighbours in the tangent space."""

    def prepare(self, edges: Tensor, count: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        degrees = torch.bincount(edges[1], minlength=count).to(dtype)
        matrix = compressed(edges[1], edges[0], degrees.reciprocal()[edges[1]], (count, count))
        return matrix, transposed(matrix)

    def aggregate(self, points: Tensor, graph: tuple[Tensor, Tensor]) -> Tensor:
        return self.lift(sparse_product(graph[0], self.flat(points), graph[1]))


class HAT(TangentGraphModel):
    """Hyperbolic graph attention (Zhang et al., 2021): neighbours weighed by distance, summed in the tangent space."""

    def prepare(self, edges: Tensor, count: int, dtype: torch.dtype) -> EdgePattern:
        return EdgePattern.of(edges, count)

    def aggregate(self, points: Tensor, graph: EdgePattern) -> Tensor:
        points, tangent = points.contiguous(), self.flat(points).contiguous()
        if not are_sampled(points):
            weight = self._weights(self.geodesic(points[graph.rows], points[graph.columns]), graph)
            return self.lift(scatter(weight[:, None] * tangent[graph.columns], graph.rows, dim_size=len(points)))
        square = 2.0 / self.manifold.K - 2.0 * edge_products(_for_products(points), points, graph)
        return self.lift(edge_sums(self._weights(geodesic_of(square, K=self.manifold.K), graph), tangent, graph))

    def _weights(self, distance: Tensor, graph: EdgePattern) -> Tensor:
        return softmax(-distance, graph.rows, num_nodes=len(graph.starts) - 1)


class LGCN(TangentGraphModel):
    """Lorentzian graph convolution (Zhang et al., 2021): linear maps without bias, and the centroid of the neighbours,
    weighed by squared Lorentzian distance; classes by distances to points.
    """

    bias = False

    def build_head(self, dim: int, num_classes: int) -> nn.Module:
        return LorentzDistanceHead(dim, num_classes, manifold=self.manifold, form="paper")

    def prepare(self, edges: Tensor, count: int, dtype: torch.dtype) -> Tensor:
        ones = torch.ones(edges.shape[1], dtype=dtype, device=edges.device)
        return compressed(edges[1], edges[0], ones, (count, count))

    def aggregate(self, points: Tensor, graph: Tensor) -> Tensor:
        points = points.contiguous()
        if not are_sampled(points):
            target, source, _ = entries(graph)
            square = lorentzian_square(self.manifold, points[source], points[target], exact=not self.training)
            weight = softmax(-square, target, num_nodes=len(points))
            return self.manifold.to_sheet(scatter(weight[:, None] * points[source], target, dim_size=len(points)))
        # -d² is 2<x, y>_L but for a constant.
        total = sparse_attention(2.0 * _for_products(points)[None], points[None], points[None], graph)
        return self.manifold.to_sheet(total[0])

    def squared_distance(self, z: Tensor, pairs: Tensor) -> Tensor:
        return lorentzian_square(self.manifold, *ends_of(z, pairs), exact=not self.training)

    def squared_distances(self, some: Tensor, z: Tensor) -> Tensor:
        return self.manifold.csqdist(some, z)


def _for_products(points: Tensor) -> Tensor:
    """(-x_t, x_s), whose ordinary product with y is <x, y>_L."""
    return torch.cat((-points[:, :1], points[:, 1:]), dim=-1)
