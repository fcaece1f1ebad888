"""Euclidean graph networks that HyboNet is compared with: PyTorch Geometric's own layers, ReLU between them."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GCNConv, SAGEConv, SGConv

from hybonet.kernels.sparse_points import dropped
from hybonet.kernels.sparse_product import compressed
from hybonet.tasks.graph.models.node_model import EuclideanGraphModel


class LayeredGraphModel(EuclideanGraphModel):
    """Layers one after the other, with dropout before each and ReLU between them.

    A model fills in :meth:`layer`. Features may be a matrix in compressed rows, which is drawn from, and only then made
    dense: random numbers for all zeros of a bag of words take far longer than a layer.
    """

    def __init__(
        self, num_features: int, num_classes: int = 0, dim: int = 16, layers: int = 2, *, dropout: float = 0.0,
        cached: bool = False, heads: int = 1, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(dim, num_features, num_classes, learned_features=dim, **options)
        self.dropout, self.cached, self.heads = dropout, cached, heads
        widths = [self.num_features, *[dim] * layers]
        self.layers = nn.ModuleList(self.layer(*widths[number : number + 2]) for number in range(layers))

    def layer(self, wide: int, dim: int) -> nn.Module:
        """A layer from so many dimensions per node to so many."""
        raise NotImplementedError

    def encode_features(self, x: Tensor, edges: Any) -> Tensor:
        for number, layer in enumerate(self.layers):
            x = dropped(F.relu(x) if number else x, self.dropout, self.training)
            x = self.apply_layer(layer, x.to_dense(), edges)
        return x

    def apply_layer(self, layer: nn.Module, x: Tensor, edges: Any) -> Tensor:
        """One layer on the graph."""
        return layer(x, edges)


class GCN(LayeredGraphModel):
    """Graph convolutional network (Kipf and Welling, 2017)."""

    def layer(self, wide: int, dim: int) -> nn.Module:
        return GCNConv(wide, dim, cached=self.cached)


class GAT(LayeredGraphModel):
    """Graph attention network (Veličković et al., 2018); ``heads`` share the dimensions."""

    def layer(self, wide: int, dim: int) -> nn.Module:
        if dim % self.heads:
            raise ValueError(f"expected dim ({dim}) to be a multiple of heads, got heads={self.heads}; choose others")
        return GATConv(wide, dim // self.heads, heads=self.heads, dropout=self.dropout)


class _GathersFirst:
    """For models that gather their neighbours' features before they map them to fewer."""

    cached: bool
    _matrix: Tensor | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_matrix": None}

    def neighbours(self, edges: Tensor, x: Tensor) -> Tensor:
        """The edges, as a sparse matrix if there is but one graph: a copy of the features per edge would be large."""
        if not self.cached:
            return edges
        if self._matrix is None:
            self._matrix = compressed(edges[1], edges[0], x.new_ones(edges.shape[1]), (len(x), len(x)))
        return self._matrix


class SAGE(_GathersFirst, LayeredGraphModel):
    """GraphSAGE with the mean of the neighbours (Hamilton et al., 2017)."""

    def layer(self, wide: int, dim: int) -> nn.Module:
        return SAGEConv(wide, dim)

    def apply_layer(self, layer: nn.Module, x: Tensor, edges: Any) -> Tensor:
        return layer(x, self.neighbours(edges, x))


class MLP(LayeredGraphModel):
    """No graph at all: what the features alone can tell."""

    def layer(self, wide: int, dim: int) -> nn.Module:
        return nn.Linear(wide, dim)

    def apply_layer(self, layer: nn.Module, x: Tensor, edges: Any) -> Tensor:
        return layer(x)


class SGC(_GathersFirst, EuclideanGraphModel):
    """Simplified graph convolution (Wu et al., 2019): propagate ``layers`` times, then one linear map."""

    def __init__(
        self, num_features: int, num_classes: int = 0, dim: int = 16, layers: int = 2, *, dropout: float = 0.0,
        cached: bool = False, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(dim, num_features, num_classes, learned_features=dim, **options)
        self.dropout, self.cached = dropout, cached
        # Propagated features may be kept only if they do not change: neither learned nor dropped at random.
        self.convolution = SGConv(
            self.num_features, dim, K=layers, cached=cached and self.table is None and not dropout
        )

    def encode_features(self, x: Tensor, edges: Any) -> Tensor:
        x = dropped(x, self.dropout, self.training).to_dense()
        return self.convolution(x, self.neighbours(edges, x))
