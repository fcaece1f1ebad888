"""Distances in a graph, in edges, from many nodes at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

#: The distance of nodes that no path joins.
UNREACHED = -1
#: Sources searched from at the same time, 64 in a machine word.
_BLOCK = 512


def hop_distances(edges: Tensor, num_nodes: int, sources: Tensor | None = None) -> Tensor:
    """Edges on the shortest path from each source to every node, -1 where there is none; shape (sources, nodes), int16.

    Args:
        edges: undirected, shape (n, 2).
        num_nodes: isolated ones included.
        sources: nodes to start from; all by default.

    Example:
        >>> hop_distances(torch.tensor([[0, 1], [1, 2]]), 4).tolist()
        [[0, 1, 2, -1], [1, 0, 1, -1], [2, 1, 0, -1], [-1, -1, -1, 0]]
    """
    chosen = torch.arange(num_nodes) if sources is None else sources
    found = np.empty((len(chosen), num_nodes), dtype=np.int16)
    for begin, block in distance_blocks(edges, num_nodes, chosen):
        found[begin : begin + len(block)] = block
    return torch.from_numpy(found)


def distance_blocks(edges: Tensor, num_nodes: int, sources: Tensor) -> Iterator[tuple[int, NDArray[np.int16]]]:
    """The rows of :func:`hop_distances` some at a time, with the number of the first, for graphs too large for all."""
    ends = np.concatenate((edges.numpy(), edges.numpy()[:, ::-1]))
    # Every node is its own neighbour: what was reached stays reached, and no node's list is empty.
    ends = np.concatenate((ends, np.repeat(np.arange(num_nodes)[:, None], 2, axis=1)))
    order = np.argsort(ends[:, 0], kind="stable")
    neighbours = ends[order, 1]
    starts = np.searchsorted(ends[order, 0], np.arange(num_nodes))
    for begin in range(0, len(sources), _BLOCK):
        yield begin, _search(neighbours, starts, sources[begin : begin + _BLOCK].numpy())


def _search(neighbours: NDArray[np.int64], starts: NDArray[np.int64], sources: NDArray[np.int64]) -> NDArray[np.int16]:
    """Breadth first, one bit a source: a step is an OR over each node's neighbours."""
    words = -(-len(sources) // 64)
    reached = np.zeros((len(starts), words * 8), dtype=np.uint8)
    column = np.arange(len(sources))
    np.bitwise_or.at(reached, (sources, column // 8), (128 >> column % 8).astype(np.uint8))
    packed = reached.view(np.uint64)
    steps = np.zeros((len(starts), len(sources)), dtype=np.int16)
    while True:
        further = np.bitwise_or.reduceat(packed[neighbours], starts, axis=0)
        if np.array_equal(further, packed):
            break
        steps += _missing(packed, len(sources))  # a node's distance is the number of steps that it waits
        packed = further
    steps[_missing(packed, len(sources)).astype(bool)] = UNREACHED
    return steps.T


def _missing(packed: NDArray[np.uint64], count: int) -> NDArray[np.uint8]:
    return np.unpackbits(~packed.view(np.uint8), axis=1, count=count)


def components(edges: Tensor, num_nodes: int) -> Tensor:
    """The smallest node that each node is joined to by a path; shape (nodes,).

    Example:
        >>> components(torch.tensor([[0, 2], [1, 3]]), 5).tolist()
        [0, 1, 0, 1, 4]
    """
    label = torch.arange(num_nodes)
    first, second = edges.unbind(1) if len(edges) else (label[:0], label[:0])
    while True:
        lower = torch.minimum(label[first], label[second])
        new = label.scatter_reduce(0, first, lower, "amin").scatter_reduce(0, second, lower, "amin")
        new = new[new]  # follow the pointers, which halves long paths
        if torch.equal(new, label):
            return label
        label = new
