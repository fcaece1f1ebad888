"""Counterparts of PyTorch Geometric's modules that average, sum or concatenate points."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch_geometric.nn.aggr import Aggregation

from hybonet.geometry import Lorentz, to_sheet
from hybonet.geometry.numerics import working
from hybonet.nn import LorentzLinear, LorentzModule


class LorentzCentroidAggregation(LorentzModule, Aggregation):
    r"""The centroid of each group of points, for ``MessagePassing(aggr=…)`` and as the pooling of nodes by graph.

    Means and sums of points are no points (``global_mean_pool``, ``aggr="mean"``); a centroid is their sum, scaled to
    the manifold. An empty group gives the origin.

    Shapes: points ``(N, d)``, groups ``index (N,) -> (groups, d)``.

    Example:
        >>> from hybonet.interop.pyg import LorentzCentroidAggregation
        >>> pool = LorentzCentroidAggregation()
        >>> x = pool.manifold.random_normal(6, 4)
        >>> graphs = pool(x, torch.tensor([0, 0, 0, 1, 1, 1]))
        >>> graphs.shape, pool.manifold.check_point(graphs)
        (torch.Size([2, 4]), True)
    """

    def forward(
        self,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
        dim: int = -2,
    ) -> Tensor:
        self.check_input(x)
        total = self.reduce(working(x), index, ptr, dim_size, dim, reduce="sum")  # type: ignore[operator]
        return to_sheet(total, K=self.manifold.K).to(x.dtype)


class OntoManifold(LorentzModule):
    """The centroid from a sum, or a mean, of points: behind layers whose results another library adds up.

    ``to_hetero`` and ``HeteroConv`` add what the types of edges bring to a node. With this module behind each
    convolution the result is the centroid of all.

    Shapes: ``(..., d) -> (..., d)``.

    Example:
        >>> from hybonet.interop.pyg import OntoManifold
        >>> again = OntoManifold()
        >>> x, y = again.manifold.random_normal(2, 5, 4)
        >>> torch.allclose(again(x + y), again.manifold.centroid(torch.stack((x, y), dim=-2)), atol=1e-4)
        True
    """

    def forward(self, x: Tensor) -> Tensor:
        return to_sheet(x, K=self.manifold.K)


class LorentzJumpingKnowledge(LorentzModule):
    r"""All layers' points of a node as one, as ``JumpingKnowledge`` has it for vectors.

    * ``mode="centroid"``: their centroid with learned weights :math:`\mathrm{softmax}(w)`, which start even.
    * ``mode="cat"``: a Lorentz linear layer of all of them side by side, each with its own time coordinate.

    Shapes: ``num_layers`` times ``(N, channels) -> (N, channels)``.

    Example:
        >>> from hybonet.interop.pyg import LorentzJumpingKnowledge
        >>> jump = LorentzJumpingKnowledge("cat", 4, 3)
        >>> jump(list(jump.manifold.random_normal(3, 6, 4))).shape
        torch.Size([6, 4])
    """

    def __init__(self, mode: str, channels: int, num_layers: int, *, manifold: Lorentz | None = None) -> None:
        super().__init__(manifold)
        if mode not in ("centroid", "cat"):
            raise ValueError(f"expected mode 'centroid' or 'cat', got {mode!r}; maxima of points are no points")
        self.mode, self.channels, self.num_layers = mode, channels, num_layers
        self.weight = nn.Parameter(torch.zeros(num_layers)) if mode == "centroid" else None
        self.linear = None
        if mode == "cat":
            self.linear = LorentzLinear(num_layers * channels, channels, in_heads=num_layers, manifold=self.manifold)

    def reset_parameters(self) -> None:
        """Even weights, or the linear layer anew."""
        if self.weight is not None:
            nn.init.zeros_(self.weight)
        if self.linear is not None:
            self.linear.reset_parameters()

    def forward(self, xs: Sequence[Tensor]) -> Tensor:
        if len(xs) != self.num_layers:
            raise ValueError(f"expected the points of {self.num_layers} layers, got {len(xs)}")
        for number, x in enumerate(xs, start=1):
            self.check_input(x, self.channels, name=f"layer {number}")
        if self.linear is not None:
            return self.linear(torch.cat(tuple(xs), dim=-1))
        assert self.weight is not None
        shares = torch.softmax(self.weight, dim=0).to(xs[0].dtype)
        return self.manifold.centroid(torch.stack(tuple(xs), dim=-2), shares)

    def extra_repr(self) -> str:
        return f"{self.mode!r}, {self.channels}, num_layers={self.num_layers}"
