"""What the graph layers share: PyTorch Geometric's message passing, and a graph in any of the forms it gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.nn import MessagePassing
from torch_geometric.typing import SparseTensor

from hybonet.geometry import Lorentz
from hybonet.kernels.sparse_product import entries
from hybonet.nn.module import LorentzModule

#: Points of the nodes, or of sources and targets; and the graph as an edge index or as a sparse matrix.
Nodes = Tensor | tuple[Tensor, Tensor | None]

_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


@dataclass(frozen=True)
class Edges:
    """A checked graph as a list of edges.

    Attributes:
        index: sources and targets, ``(2, E)``, int64.
        weight: ``(E,)``, or None for ones.
        size: how many sources and targets.
        alone: 1 for a target that has no edge from itself, else 0, ``(targets, 1)``; None if that is of no interest.
        matrix: the same edges in compressed rows, if they came as a matrix.
    """

    index: Tensor
    weight: Tensor | None
    size: tuple[int, int]
    alone: Tensor | None
    matrix: Tensor | None


class LorentzMessagePassing(LorentzModule, MessagePassing):
    """Base of the layers on graphs; it knows sizes, checks what comes in, and adds a node to its own neighbours.

    Example:
        >>> from hybonet.nn import LorentzGraphConv
        >>> issubclass(LorentzGraphConv, LorentzMessagePassing)
        True
    """

    propagate: Callable[..., Tensor]

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        *,
        add_self_loops: bool,
        manifold: Lorentz | None,
    ) -> None:
        super().__init__(manifold, aggr="sum", node_dim=0)
        for size in in_channels if isinstance(in_channels, tuple) else (in_channels,):
            if size < 2 and size != -1:
                raise ValueError(
                    f"expected in_channels of at least 2 (time and one of space), or -1 to take it from the first "
                    f"input, got {in_channels}"
                )
        self.in_channels, self.out_channels = in_channels, out_channels
        self.add_self_loops = add_self_loops

    @property
    def of_one_kind(self) -> bool:
        """Whether sources and targets are nodes of one kind, so that an edge from i to i is a self-loop."""
        return not isinstance(self.in_channels, tuple)

    def _sources_and_targets(self, x: Nodes) -> tuple[Tensor, Tensor | None]:
        source, target = (x, None) if isinstance(x, Tensor) else x
        for name, points in (("source", source), ("target", target)):
            if points is not None and points.dim() != 2:
                raise ValueError(
                    f"expected {name} points of shape (nodes, ambient coordinates), got {tuple(points.shape)}; "
                    "several graphs at once are one graph to PyTorch Geometric, see its Batch"
                )
        return source, target

    def _edges(
        self, graph: Any, weight: Tensor | None, source: Tensor, target: Tensor | None, size: tuple[int, int] | None
    ) -> Edges:
        """The graph as edges, whatever form it came in."""
        matrix = None
        if is_matrix(graph):
            if weight is not None:
                raise ValueError("expected no edge_weight beside a sparse adj_t: its values are the weights")
            matrix = compressed_rows(graph)
            targets, sources, weight = entries(matrix)
            index, shape = torch.stack((sources, targets)).long(), (matrix.shape[1], matrix.shape[0])
        else:
            index = plain_index(graph)
            shape = size or (source.shape[0], (source if target is None else target).shape[0])
        weight = None if weight is None else weight.to(torch.promote_types(source.dtype, torch.float32))
        self._check(index, weight, source, target, shape)
        return Edges(index, weight, shape, self._alone(index, shape, source), matrix)

    def _by_products(self, weight: Tensor | None, like: Tensor) -> bool:
        """Whether products with a sparse matrix may take the place of a message for every edge.

        On a CPU sorting the edges and a few products cost less than rows for all edges, written and read. But messages
        there must be where somebody looks at them, and for a gradient of the weights.
        """
        looked_at = self.explain or self._message_forward_pre_hooks or self._message_forward_hooks
        fixed = weight is None or not weight.requires_grad
        return like.device.type == "cpu" and fixed and not looked_at and not torch.compiler.is_compiling()

    def _check(
        self, index: Tensor, weight: Tensor | None, source: Tensor, target: Tensor | None, size: tuple[int, int]
    ) -> None:
        given = (source.shape[0], size[1] if target is None else target.shape[0])
        if given != tuple(size):
            raise ValueError(
                f"expected {size[0]} source and {size[1]} target points, as many as the graph has, got {given[0]} "
                f"and {given[1]}; a sparse adj_t has a row for each target and a column for each source"
            )
        if weight is not None and weight.shape != index.shape[1:]:
            raise ValueError(f"expected one edge_weight an edge, ({index.shape[1]},), got {tuple(weight.shape)}")
        if not torch.compiler.is_compiling() and index.device.type == "cpu" and index.shape[1]:
            for name, ends, count in zip(("source", "target"), index, size, strict=True):
                low, high = (int(end) for end in ends.aminmax())
                if low < 0 or high >= count:
                    raise ValueError(
                        f"expected {name}s in edge_index between 0 and {count - 1}, one for each of {count} nodes, got "
                        f"{low if low < 0 else high}"
                    )
        if self.manifold.check and weight is not None and not bool((weight >= 0).all()):
            raise ValueError(
                f"expected edge weights of zero or more, got {weight.min().item():.6g}; a centroid has no others"
            )

    def _alone(self, index: Tensor, size: tuple[int, int], like: Tensor) -> Tensor | None:
        if not self.add_self_loops:
            return None
        # Shapes do not depend on how many self-loops there are, so that it compiles: other edges mark a spare row.
        alone = torch.ones(size[1] + 1, dtype=torch.promote_types(like.dtype, torch.float32), device=like.device)
        if self.of_one_kind:
            alone[torch.where(index[0] == index[1], index[1], size[1])] = 0.0
        return alone[: size[1], None]


def rows_up_to(x: Tensor, count: int) -> Tensor:
    """The first rows of x; zeros after its last.

    Example:
        >>> import torch
        >>> rows_up_to(torch.ones(2, 1), 3).flatten()
        tensor([1., 1., 0.])
    """
    return x[:count] if count <= x.shape[0] else F.pad(x, (0, 0) * (x.dim() - 1) + (0, count - x.shape[0]))


def is_matrix(graph: Any) -> bool:
    """Whether a graph is given as a sparse matrix, torch's or torch_sparse's.

    Example:
        >>> import torch
        >>> is_matrix(torch.eye(2).to_sparse()), is_matrix(torch.tensor([[0], [1]]))
        (True, False)
    """
    return isinstance(graph, SparseTensor) or (isinstance(graph, Tensor) and graph.layout != torch.strided)


def compressed_rows(graph: Any) -> Tensor:
    """A sparse matrix of any layout in torch's compressed rows."""
    if isinstance(graph, SparseTensor):
        return graph.to_torch_sparse_csr_tensor()
    if graph.dim() != 2:
        raise ValueError(f"expected a sparse adj_t of shape (targets, sources), got {tuple(graph.shape)}")
    return graph.to_sparse_csr()


def plain_index(graph: Any) -> Tensor:
    """An edge index as a plain int64 tensor, or a ``ValueError`` that says what is wrong with it.

    Example:
        >>> import torch
        >>> plain_index(torch.tensor([[0, 1], [1, 2], [2, 0]]))
        Traceback (most recent call last):
        ValueError: expected edge_index of shape (2, edges), sources above targets, got (3, 2); transpose it with .t()
    """
    if not isinstance(graph, Tensor):
        raise ValueError(f"expected edge_index as a (2, edges) tensor or a sparse adj_t, got {type(graph).__name__}")
    if graph.dtype not in _INTEGERS:
        raise ValueError(
            f"expected edge_index of integers, got {graph.dtype} of shape {tuple(graph.shape)}; a matrix of all pairs "
            "is passed as adj.t().to_sparse_csr()"
        )
    if graph.dim() != 2 or graph.shape[0] != 2:
        remedy = "; transpose it with .t()" if graph.dim() == 2 and graph.shape[1] == 2 else ""
        raise ValueError(
            f"expected edge_index of shape (2, edges), sources above targets, got {tuple(graph.shape)}{remedy}"
        )
    # PyG's EdgeIndex refuses what a plain tensor does; the compiler knows no as_subclass, and has tensors of its own.
    plain = type(graph) is Tensor or torch.compiler.is_compiling()
    return (graph if plain else graph.as_subclass(Tensor)).long()
