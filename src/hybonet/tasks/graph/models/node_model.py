"""What every model on graphs has: points (or vectors) of the nodes, links by their distances, and classes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.nn import FermiDiracDecoder


class NodeModel(nn.Module):
    """Base of the models that predict links and classes on a graph.

    A model fills in :meth:`encode_features`, :meth:`squared_distance`, :meth:`squared_distances` and ``head``. It is
    given features of the nodes, or, if it was built without any, the nodes' numbers, for which it learns features of
    its own.

    Args:
        num_features: columns of the features; 0 if the nodes have none, which takes ``num_nodes``.
        num_classes: classes of the nodes; 0 if only links are to be predicted.
        num_nodes: of the graph, where features are learned.
        learned_features: how many of them a node has.
        radius, temperature, learn_decoder: r, t and whether they are trained, of
            :class:`~hybonet.nn.FermiDiracDecoder`.
    """

    #: From points to scores of the classes; None where there are no classes.
    head: nn.Module | None

    def __init__(
        self,
        num_features: int,
        num_classes: int = 0,
        *,
        num_nodes: int = 0,
        learned_features: int = 15,
        radius: float = 2.0,
        temperature: float = 1.0,
        learn_decoder: bool = False,
    ) -> None:
        super().__init__()
        if num_features < 1 and num_nodes < 1:
            raise ValueError(
                f"expected num_features of at least 1, got {num_features}; for nodes without features give num_nodes, "
                "and features are learned"
            )
        self.table = None if num_features else nn.Embedding(num_nodes, learned_features)
        if self.table is not None:
            nn.init.normal_(self.table.weight, std=learned_features**-0.5)
        self.num_features = num_features or learned_features
        self.num_classes = num_classes
        self.decoder = FermiDiracDecoder(radius, temperature, learnable=learn_decoder)

    def encode(self, x: Tensor, edges: Any) -> Tensor:
        """Points of the nodes: ``(nodes, features)`` (or numbers ``(nodes,)``) and an edge index ``-> (nodes, dim)``.

        ``edges`` holds both directions of every edge, no self-loops.
        """
        if (self.table is None) != x.is_floating_point():
            wanted = f"features (nodes, {self.num_features})" if self.table is None else "numbers of the nodes (nodes,)"
            raise ValueError(f"expected {wanted}, got {x.dtype} of shape {tuple(x.shape)}")
        return self.encode_features(x if self.table is None else self.table(x), edges)

    def encode_features(self, x: Tensor, edges: Any) -> Tensor:
        """Points of nodes that have features."""
        raise NotImplementedError

    def squared_distance(self, z: Tensor, pairs: Tensor) -> Tensor:
        """Squared distances of pairs of nodes ``(n, 2) -> (n,)``."""
        raise NotImplementedError

    def squared_distances(self, some: Tensor, z: Tensor) -> Tensor:
        """Squared distances of some nodes to all, by one matrix product, ``(s, dim), (nodes, dim) -> (s, nodes)``."""
        raise NotImplementedError

    def class_logits(self, z: Tensor) -> Tensor:
        """Scores of the classes, ``(nodes, dim) -> (nodes, classes)``."""
        if self.head is None:
            raise ValueError("expected a model of classes, got one of links; build it with num_classes")
        return self.head(z)

    def link_logits(self, z: Tensor, pairs: Tensor) -> Tensor:
        """Log-odds of links, ``(r - d²)/t``, for pairs of nodes ``(n, 2) -> (n,)``."""
        return self.decoder.logits(self.squared_distance(z, pairs))

    def forward(self, x: Tensor, edges: Any, *, pairs: Tensor | None = None, nodes: Tensor | None = None) -> Tensor:
        """Log-odds of links for ``pairs``, or scores of the classes for ``nodes`` (all by default)."""
        z = self.encode(x, edges)
        if pairs is not None:
            return self.link_logits(z, pairs)
        return self.class_logits(z if nodes is None else z[nodes])


class EuclideanGraphModel(NodeModel):
    """Base of models whose nodes are plain vectors: Euclidean distances, and a linear layer for classes."""

    def __init__(self, dim: int, num_features: int, num_classes: int = 0, **options: Any) -> None:
        super().__init__(num_features, num_classes, **options)
        self.head = nn.Linear(dim, num_classes) if num_classes else None

    def squared_distance(self, z: Tensor, pairs: Tensor) -> Tensor:
        first, second = ends_of(z, pairs)
        return (first - second).square().sum(-1)

    def squared_distances(self, some: Tensor, z: Tensor) -> Tensor:
        return torch.cdist(some, z).square()


def ends_of(z: Tensor, pairs: Tensor) -> tuple[Tensor, Tensor]:
    """The points at the two ends of pairs."""
    return z.index_select(0, pairs[:, 0]), z.index_select(0, pairs[:, 1])


def lorentzian_square(manifold: Lorentz, first: Tensor, second: Tensor, *, exact: bool) -> Tensor:
    """Squared Lorentzian distances of points, ``(n, dim), (n, dim) -> (n,)``.

    Training takes the plain form at a fraction of the cost: its rounding is far below what a step changes.
    """
    if exact:
        return manifold.sqdist(first, second)
    return 2.0 / manifold.K - 2.0 * manifold.inner(first, second)
