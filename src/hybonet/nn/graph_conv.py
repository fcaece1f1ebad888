"""The Lorentz graph convolution: a Lorentz linear layer, then the centroid of the neighbours."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch_geometric.typing import Adj, OptTensor
from torch_geometric.utils import spmm

from hybonet.geometry import Lorentz, to_sheet
from hybonet.geometry.numerics import working
from hybonet.kernels.sparse_product import compressed, sparse_product, transposed
from hybonet.nn.lazy_linear import linear_or_lazy
from hybonet.nn.linear import Activation, linear_options
from hybonet.nn.message_passing import Edges, LorentzMessagePassing, Nodes, rows_up_to


class _Graph(NamedTuple):
    """A graph as a step needs it: what to propagate along, with which weights, and which targets have no self-loop."""

    adjacency: Tensor
    weight: Tensor | None
    transpose: Tensor | None
    alone: Tensor | None
    size: tuple[int, int]


class LorentzGraphConv(LorentzMessagePassing):
    r"""The graph convolution of `"Fully Hyperbolic Neural Networks" <https://arxiv.org/abs/2105.14686>`_,

    .. math::
        \mathbf{x}^{\prime}_i = \mathrm{centroid}_{j \in \mathcal{N}(i) \cup \{ i \}} \left( e_{j,i},\
        \mathrm{HL}(\mathbf{x}_j) \right) = \sqrt{-1/K}\ \frac{\mathbf{s}_i}{\left| \|\mathbf{s}_i\|_{\mathcal{L}}
        \right|}, \qquad \mathbf{s}_i = \sum_j e_{j,i}\, \mathrm{HL}(\mathbf{x}_j)

    with :class:`~hybonet.nn.LorentzLinear` for HL and weights :math:`e_{j,i} \ge 0` of the edges from j to i (1 if none
    are given). A centroid does not change when all weights of a node are multiplied by a positive number, so the
    adjacency needs no normalisation: that by rows, by which the paper's code divides, is the same layer. A node without
    neighbours, itself included, gets the origin.

    Args:
        in_channels (int or tuple): Ambient coordinates of each point, time included, or :obj:`-1` to take them from the
            first input. A tuple means sources and targets of two kinds, each with a linear layer of its own.
        out_channels (int): Ambient coordinates of each output point.
        add_self_loops (bool, optional): Every target that has no edge from itself counts as its own neighbour with
            weight 1; with targets of another kind than the sources, every one does that is given.
            (default: :obj:`True`)
        cached (bool, optional): Keep the graph of the first call, ready for use, and take it for all others, whatever
            they bring: for training on one graph. :meth:`reset_parameters` forgets it, and copies of the layer start
            without it. (default: :obj:`False`)
        bias (bool, optional): Bias of the linear layers. (default: :obj:`True`)
        activation, dropout, scale (optional): h, the probability of dropping an input coordinate, and λ of
            :class:`~hybonet.nn.LorentzLinear`.
        manifold (Lorentz, optional): where the points are; K = -1 by default.
        linear (dict, optional): further options of :class:`~hybonet.nn.LorentzLinear`, e.g.
            ``{"form": "paper_code"}``.

    Shapes:
        - **input:** points :math:`(|\mathcal{V}|, F_{in})` or a pair of sources and targets (which may be
          :obj:`None`), edge indices :math:`(2, |\mathcal{E}|)` or a sparse matrix ``adj_t``
          :math:`(|\mathcal{V}_t|, |\mathcal{V}_s|)` (torch's CSR, CSC or COO, or a ``torch_sparse.SparseTensor``) whose
          values are the weights, edge weights :math:`(|\mathcal{E}|)` *(optional)*
        - **output:** points :math:`(|\mathcal{V}_t|, F_{out})`

    Example:
        >>> import torch
        >>> conv = LorentzGraphConv(16, 8)
        >>> x = conv.manifold.random_normal(4, 16)
        >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> out = conv(x, edge_index)
        >>> out.shape, conv.manifold.check_point(out)
        (torch.Size([4, 8]), True)
        >>> adj_t = torch.sparse_coo_tensor(edge_index.flip(0), torch.ones(4), (4, 4)).to_sparse_csr()
        >>> torch.allclose(conv(x, adj_t), out, atol=1e-5)
        True
    """

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        add_self_loops: bool = True,
        cached: bool = False,
        bias: bool = True,
        *,
        activation: Activation | str | None = None,
        dropout: float = 0.0,
        scale: float = 10.0,
        manifold: Lorentz | None = None,
        linear: dict[str, Any] | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(in_channels, out_channels, add_self_loops=add_self_loops, manifold=manifold)
        self.cached = cached
        own = {"form": "paper", "activation": activation, "dropout": dropout, "scale": scale}
        options = linear_options(self.manifold, {**own, **(linear or {})}, device, dtype)
        source, target = in_channels if isinstance(in_channels, tuple) else (in_channels, None)
        self.lin = linear_or_lazy(source, out_channels, bias, **options)
        self.lin_dst = None
        if target is not None and add_self_loops:
            self.lin_dst = linear_or_lazy(target, out_channels, bias, **options)
        self._cached_graph: _Graph | None = None

    def reset_parameters(self) -> None:
        """Reset the linear layers and forget a cached graph."""
        super().reset_parameters()
        self.lin.reset_parameters()
        if self.lin_dst is not None:
            self.lin_dst.reset_parameters()
        self._cached_graph = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cached_graph": None}  # torch cannot copy its sparse matrices

    def forward(
        self, x: Nodes, edge_index: Adj, edge_weight: OptTensor = None, size: tuple[int, int] | None = None
    ) -> Tensor:
        source, target = self._sources_and_targets(x)
        points = self.lin(source)
        h = working(points)  # in half precision a sum of many would lose its small summands
        graph = self._cached_graph
        if graph is None:
            graph = self._ready(self._edges(edge_index, edge_weight, source, target, size), h)
            if self.cached:
                self._cached_graph = graph
        # propagate_type: (x: Tensor, edge_weight: OptTensor, transpose: OptTensor)
        total = self.propagate(
            graph.adjacency, x=h, edge_weight=graph.weight, transpose=graph.transpose, size=graph.size
        )
        if graph.alone is not None:
            own = self._own(h, target, graph.size[1])
            total = total if own is None else torch.addcmul(total, own, graph.alone)
        return to_sheet(total, K=self.manifold.K).to(points.dtype)

    def _ready(self, edges: Edges, h: Tensor) -> _Graph:
        matrix, weight = edges.matrix, edges.weight
        by_products = self._by_products(weight, h)
        if matrix is None and by_products:
            values = h.new_ones(edges.index.shape[1]) if weight is None else weight
            matrix = compressed(edges.index[1], edges.index[0], values, edges.size[::-1])
        if matrix is None:
            return _Graph(edges.index, weight, None, edges.alone, edges.size)
        matrix = matrix.to(h.dtype)
        transpose = transposed(matrix) if self.cached and by_products else None
        return _Graph(matrix, None, transpose, edges.alone, edges.size)

    def _own(self, h: Tensor, target: OptTensor, count: int) -> OptTensor:
        """What the targets bring to their own neighbourhoods."""
        if target is not None:
            return working((self.lin if self.lin_dst is None else self.lin_dst)(target))
        return rows_up_to(h, count) if self.of_one_kind else None

    def message(self, x_j: Tensor, edge_weight: OptTensor) -> Tensor:
        """An edge's summand."""
        return x_j if edge_weight is None else edge_weight.unsqueeze(-1) * x_j

    def message_and_aggregate(self, adj_t: Adj, x: Tensor, transpose: OptTensor) -> Tensor:
        """All sums as one product with the sparse matrix."""
        if adj_t.device.type != "cpu" or adj_t.requires_grad:
            return spmm(adj_t, x)
        return sparse_product(adj_t, x, transpose)
