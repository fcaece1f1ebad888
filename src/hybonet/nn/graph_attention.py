"""Lorentz attention over the neighbours in a graph."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch_geometric.typing import Adj, OptTensor
from torch_geometric.utils import scatter

from hybonet.geometry import Lorentz, to_sheet
from hybonet.geometry.numerics import working
from hybonet.kernels.sparse_edges import sparse_attention
from hybonet.kernels.sparse_product import compressed
from hybonet.nn.dropout import dropout
from hybonet.nn.lazy_linear import linear_or_lazy
from hybonet.nn.linear import Activation, LorentzLinear, head_features, linear_options
from hybonet.nn.message_passing import Edges, LorentzMessagePassing, Nodes


class LorentzGraphAttention(LorentzMessagePassing):
    r"""The neighbourhood attention of `"Fully Hyperbolic Neural Networks" <https://arxiv.org/abs/2105.14686>`_,

    .. math::
        \mathbf{x}^{\prime}_i = \mathrm{centroid}_{j \in \mathcal{N}(i) \cup \{ i \}} \left( \nu_{j,i},\ \mathbf{v}_j
        \right), \qquad \nu_{j,i} = \underset{j \in \mathcal{N}(i) \cup \{ i \}}{\mathrm{softmax}} \left(
        -\frac{d^2_{\mathcal{L}}(\mathbf{q}_i, \mathbf{k}_j)}{\sqrt{n}} \right)

    where q, k and v are :class:`~hybonet.nn.LorentzLinear` layers of the points and n is the number of coordinates of a
    head. Edge weights :math:`e_{j,i} \ge 0` multiply :math:`\nu_{j,i}`. The denominator of the softmax is never
    computed: a centroid does not change when all weights of a node are multiplied by a positive number. A node without
    neighbours, itself included, gets the origin (which goes through the output map, if there is one).

    Args:
        in_channels (int or tuple): Ambient coordinates of each point, time included, or :obj:`-1` to take them from the
            first input. A tuple means sources and targets of two kinds.
        out_channels (int): Ambient coordinates of each output point, whatever the heads.
        heads (int, optional): Number of heads. (default: :obj:`1`)
        concat (bool, optional): If :obj:`True`, heads share ``out_channels`` evenly, each with its own time coordinate,
            and a Lorentz linear layer maps all of them to a point, as in
            :class:`~hybonet.nn.LorentzMultiheadAttention`; a single head needs no such map. If :obj:`False`, every
            head has ``out_channels``, and the result is their centroid. (default: :obj:`True`)
        add_self_loops (bool, optional): Every target that has no edge from itself counts as its own neighbour; with
            targets of another kind than the sources, every one does that is given. (default: :obj:`True`)
        bias (bool, optional): Bias of the linear layers. (default: :obj:`True`)
        attention_dropout (float, optional): Probability of dropping an edge's weight. (default: :obj:`0`)
        activation, dropout, scale (optional): h, the probability of dropping an input coordinate, and λ of the
            :class:`~hybonet.nn.LorentzLinear` layers on the input.
        manifold (Lorentz, optional): where the points are; K = -1 by default.
        linear (dict, optional): further options of :class:`~hybonet.nn.LorentzLinear`.

    Shapes:
        - **input:** as :class:`~hybonet.nn.LorentzGraphConv`
        - **output:** points :math:`(|\mathcal{V}_t|, F_{out})`

    Example:
        >>> import torch
        >>> attention = LorentzGraphAttention(16, 8, heads=2)
        >>> attention
        LorentzGraphAttention(16, 8, heads=2)
        >>> x = attention.manifold.random_normal(4, 16)
        >>> out = attention(x, torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
        >>> out.shape, attention.manifold.check_point(out)
        (torch.Size([4, 8]), True)
    """

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        heads: int = 1,
        concat: bool = True,
        add_self_loops: bool = True,
        bias: bool = True,
        *,
        attention_dropout: float = 0.0,
        activation: Activation | str | None = None,
        dropout: float = 0.0,
        scale: float = 10.0,
        manifold: Lorentz | None = None,
        linear: dict[str, Any] | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(in_channels, out_channels, add_self_loops=add_self_loops, manifold=manifold)
        if not 0.0 <= attention_dropout <= 1.0:
            raise ValueError(f"expected attention_dropout probability between 0 and 1, got {attention_dropout}")
        self.heads, self.concat, self.attention_dropout = heads, concat, attention_dropout
        shared = out_channels if concat else out_channels * heads
        self.head_channels = head_features(shared, heads, name="out_channels", heads_name="heads")
        width = heads * self.head_channels
        options = linear_options(self.manifold, {"form": "paper", "scale": scale, **(linear or {})}, device, dtype)
        on_input = {**options, "activation": activation, "dropout": dropout, "num_heads": heads}
        source, target = in_channels if isinstance(in_channels, tuple) else (in_channels, in_channels)
        self.q_proj = linear_or_lazy(target, width, bias, **on_input)
        self.k_proj = linear_or_lazy(source, width, bias, **on_input)
        self.v_proj = linear_or_lazy(source, width, bias, **on_input)
        self.k_dst = self.v_dst = None
        if add_self_loops and not self.of_one_kind:
            self.k_dst = linear_or_lazy(target, width, bias, **on_input)
            self.v_dst = linear_or_lazy(target, width, bias, **on_input)
        mapped = concat and heads > 1
        self.out_proj = LorentzLinear(width, out_channels, bias, **options, in_heads=heads) if mapped else None

    def reset_parameters(self) -> None:
        """Reset the linear layers."""
        super().reset_parameters()
        for layer in (self.q_proj, self.k_proj, self.v_proj, self.k_dst, self.v_dst, self.out_proj):
            if layer is not None:
                layer.reset_parameters()

    def forward(
        self, x: Nodes, edge_index: Adj, edge_weight: OptTensor = None, size: tuple[int, int] | None = None
    ) -> Tensor:
        source, target = self._sources_and_targets(x)
        edges = self._edges(edge_index, edge_weight, source, target, size)
        k, v = self.k_proj(source), self.v_proj(source)
        if edges.alone is not None:
            k, v, edges = self._with_own(k, v, target, edges)
        q = working(self.q_proj(self._asking(source, target, edges.size[1])))
        # d² is 2/K - 2<q, k>_L, of which a softmax drops the constant, and <q, k>_L = (-q_t, q_s)·k.
        q = torch.cat((-q[..., :1], q[..., 1:]), dim=-1) * (2.0 / math.sqrt(self.head_channels))
        total = self._attended(q, working(k), working(v), edges)
        heads = to_sheet(total, K=self.manifold.K).to(v.dtype)
        if not self.concat:
            return to_sheet(working(heads).sum(-2), K=self.manifold.K).to(v.dtype)
        return heads.flatten(-2) if self.out_proj is None else self.out_proj(heads.flatten(-2))

    def _attended(self, q: Tensor, k: Tensor, v: Tensor, edges: Edges) -> Tensor:
        """The weighted sums of values, ``(targets, heads, coordinates)``, each up to a positive factor."""
        index, weight = edges.index, edges.weight
        if self._by_products(weight, q) and 0 < index.shape[1] <= len(q) * len(
            k
        ):  # the limit is that of torch's kernel
            values = q.new_ones(index.shape[1]) if weight is None else weight
            matrix = compressed(index[1], index[0], values.to(q.dtype), (len(q), len(k)))
            dropping = self.training and self.attention_dropout > 0.0
            kept = dropout(q.new_ones(self.heads, index.shape[1]), self.attention_dropout) if dropping else None
            q, k, v = (points.transpose(0, 1).contiguous() for points in (q, k, v))
            return sparse_attention(q, k, v, matrix, kept).transpose(0, 1)
        # propagate_type: (q: Tensor, k: Tensor, v: Tensor, edge_weight: OptTensor)
        return self.propagate(index, q=q, k=k, v=v, edge_weight=weight, size=(k.shape[0], q.shape[0]))

    def _asking(self, source: Tensor, target: OptTensor, count: int) -> Tensor:
        """The points that queries are made of: the targets', who are the first sources if they are not given."""
        if target is None and (count > source.shape[0] or not self.of_one_kind):
            raise ValueError(
                f"expected the points of {count} targets beside those of {len(source)} sources, got None: queries are "
                "made of them"
            )
        if target is not None:
            return target
        return source if count == source.shape[0] else source[:count]  # compressed rows cannot be cut

    def _with_own(self, k: Tensor, v: Tensor, target: OptTensor, edges: Edges) -> tuple[Tensor, Tensor, Edges]:
        """Keys, values and edges, with an edge from every target to itself; of weight 0 where there was one before."""
        count, device = edges.size[1], edges.index.device
        start = 0
        if target is not None:
            start = k.shape[0]
            k = torch.cat((k, (self.k_proj if self.k_dst is None else self.k_dst)(target)))
            v = torch.cat((v, (self.v_proj if self.v_dst is None else self.v_dst)(target)))
        every = torch.arange(count, device=device)
        index = torch.cat((edges.index, torch.stack((every + start, every))), dim=1)
        alone = edges.alone.squeeze(-1)  # type: ignore[union-attr]
        weight = alone.new_ones(edges.index.shape[1]) if edges.weight is None else edges.weight
        return k, v, replace(edges, index=index, weight=torch.cat((weight, alone)))

    def message(
        self,
        q_i: Tensor,
        k_j: Tensor,
        v_j: Tensor,
        edge_weight: OptTensor,
        index: Tensor,
        size_i: int | None,
    ) -> Tensor:
        """An edge's value times its weight, up to a factor of the target's own."""
        logits = (q_i * k_j).sum(-1)
        counted = logits.detach()
        if edge_weight is not None:
            counted = counted.masked_fill(edge_weight.detach().unsqueeze(-1) == 0, -math.inf)
        largest = scatter(counted, index, dim=0, dim_size=size_i, reduce="max")
        below = logits - largest.index_select(0, index)
        # Only edges of weight 0 lie above the largest. No clamp: at its bound its gradient depends on torch's version.
        weights = below.masked_fill(below > 0.0, 0.0).exp()
        if edge_weight is not None:
            weights = weights * edge_weight.unsqueeze(-1)
        weights = dropout(weights, self.attention_dropout, self.training)
        return weights.unsqueeze(-1) * v_j

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, heads={self.heads})"
