"""Gromov's δ: how far the distances of a graph are from those of a tree.

Of four nodes, add the distances of each of the three ways to pair them; δ of the four is half the difference between
the largest sum and the second. It is 0 for every four nodes of a tree. δ of a graph is the largest over all four nodes
that paths join, and small δ beside the diameter means that hyperbolic space fits the graph.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

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
    """The smallest node that each node is joined to by a path; shape (nodes,)."""
    label = torch.arange(num_nodes)
    first, second = edges.unbind(1) if len(edges) else (label[:0], label[:0])
    while True:
        lower = torch.minimum(label[first], label[second])
        new = label.scatter_reduce(0, first, lower, "amin").scatter_reduce(0, second, lower, "amin")
        new = new[new]  # follow the pointers, which halves long paths
        if torch.equal(new, label):
            return label
        label = new


#: A component with more nodes outside its pendant trees is sampled unless told otherwise: time grows like n⁴.
EXACT_NODES = 150
DEFAULT_SAMPLES = 50_000
_CONFIDENCE = 0.95
#: Sums compared at a time.
_CHUNK = 1 << 21


@dataclass(frozen=True)
class Hyperbolicity:
    """δ of a graph, and how it was found."""

    #: Largest δ found: that of the graph if ``exact``, else a lower bound.
    delta: float
    #: Mean δ of random four nodes, and half the width of its 95 % confidence interval.
    mean: float
    mean_margin: float
    #: Longest distance found, and whether all were looked at.
    diameter: int
    diameter_exact: bool
    exact: bool
    #: Quadruples drawn, for the mean and, unless exact, for δ.
    samples: int

    @property
    def relative(self) -> float:
        """2δ over the diameter: 0 for a tree, at most 1."""
        return 2 * self.delta / self.diameter if self.diameter else 0.0

    def confidence(self) -> str:
        """What the figure is worth, in a sentence."""
        if self.exact:
            return "exact: no four nodes have a larger δ"
        share = 1 - (1 - _CONFIDENCE) ** (1 / self.samples)
        return (
            f"a lower bound from {self.samples:,} random quadruples: with {_CONFIDENCE:.0%} confidence at most "
            f"{100 * share:.2g} % of all quadruples have a larger δ"
        )

    def meaning(self) -> str:
        """What it says about hyperbolic space for this graph, in a sentence."""
        if self.exact and self.delta == 0:
            return "distances are those of a tree: hyperbolic space embeds it with as little distortion as one likes"
        if self.relative <= 0.25:
            return "close to a tree: hyperbolic space should need fewer dimensions than Euclidean space"
        if self.relative <= 0.5:
            return "partly like a tree: hyperbolic space may help; compare with Euclidean space, or learn the curvature"
        return "far from a tree: expect little of negative curvature; compare with Euclidean space"


def hyperbolicity(edges: Tensor, num_nodes: int, *, samples: int | None = None, seed: int = 0) -> Hyperbolicity:
    """δ of an undirected graph; of its components the largest counts.

    Exact where that is quick (each component has at most 150 nodes outside pendant trees, which do not matter), else
    the largest over random quadruples, drawn uniformly from those that paths join.

    Args:
        edges: shape (n, 2).
        samples: quadruples to draw; giving it asks for a sample even of a small graph. 50,000 by default.

    Example:
        >>> ring = torch.tensor([[i, (i + 1) % 8] for i in range(8)])
        >>> found = hyperbolicity(ring, 8)
        >>> found.delta, found.diameter, found.relative, found.exact
        (2.0, 4, 1.0, True)
    """
    if samples is not None and samples < 1:
        raise ValueError(f"expected at least one sample, got {samples}; give more, or leave it out")
    component = components(edges, num_nodes)
    exact = _exact_delta(edges, num_nodes, component) if samples is None else None
    drawn = _draw(component, samples or DEFAULT_SAMPLES, np.random.default_rng(seed))
    deltas, diameter, sources = _sampled_deltas(edges, num_nodes, drawn)
    mean = float(deltas.mean()) if len(deltas) else 0.0
    margin = 1.96 * float(deltas.std()) / math.sqrt(len(deltas)) if len(deltas) else 0.0
    if exact is None and not len(deltas):
        exact = 0.0  # no component has four nodes
    return Hyperbolicity(
        delta=exact if exact is not None else float(deltas.max()),
        mean=mean,
        mean_margin=margin,
        diameter=diameter,
        diameter_exact=sources == num_nodes,
        exact=exact is not None,
        samples=len(deltas),
    )


def four_point_delta(distances: Tensor) -> float:
    """The exact δ of a finite metric space given by its distances; shape (n, n).

    Pairs are taken by falling distance: 2δ of four points is at most the shorter distance in their largest sum, so the
    search ends when the next pair is no longer than 2δ of the worst four so far.
    """
    distance = distances.numpy()
    first, second = np.triu_indices(len(distance), 1)
    order = np.argsort(-distance[first, second], kind="stable")
    first, second = first[order], second[order]
    length = distance[first, second]
    worst, row = 0, 0
    while row < len(length) and length[row] > worst:
        # So many rows r at once, each with all pairs up to the last of them, that r (row + r) is about a chunk.
        end = min(len(length), row + max(1, (math.isqrt(row**2 + 4 * _CHUNK) - row) // 2))
        a, b = first[row:end, None], second[row:end, None]
        c, d = first[None, :end], second[None, :end]
        others = np.maximum(distance[a, c] + distance[b, d], distance[a, d] + distance[b, c])
        worst = max(worst, int((length[row:end, None] + length[None, :end] - others).max()))
        row = end
    return worst / 2


def _exact_delta(edges: Tensor, num_nodes: int, component: Tensor) -> float | None:
    """δ if every component is small enough without its pendant trees, else None."""
    core = _without_pendant_trees(edges, num_nodes)
    members = component[core[:, 0]]
    found = 0.0
    for label in members.unique().tolist():
        own = core[members == label]
        nodes, numbered = own.unique(return_inverse=True)
        if len(nodes) > EXACT_NODES:
            return None
        found = max(found, four_point_delta(hop_distances(numbered.reshape(-1, 2), len(nodes))))
    return found


def _without_pendant_trees(edges: Tensor, num_nodes: int) -> Tensor:
    """Edges left when nodes with a single edge are removed until there are none.

    δ of a graph is the largest of its blocks (parts that no single node cuts), and a pendant edge is a block of δ 0.
    """
    while len(edges):
        kept = torch.bincount(edges.flatten(), minlength=num_nodes)[edges].min(1).values > 1
        if bool(kept.all()):
            break
        edges = edges[kept]
    return edges


def _draw(component: Tensor, count: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Uniform quadruples of different nodes of one component; shape (count, 4), or (0, 4) if there are none."""
    order = component.argsort(stable=True).numpy()
    sizes = torch.unique_consecutive(component[order], return_counts=True)[1].numpy()
    starts = sizes.cumsum() - sizes
    wide = sizes.astype(np.float64)
    weights = wide * (wide - 1) * (wide - 2) * (wide - 3)
    if weights.sum() == 0:
        return np.empty((0, 4), dtype=np.int64)
    chosen = random.choice(len(sizes), count, p=weights / weights.sum())
    picks = np.empty((count, 4), dtype=np.int64)
    for place in range(4):  # the k-th of those left: count up past the earlier picks in rising order
        pick = random.integers(0, sizes[chosen] - place)
        for earlier in np.sort(picks[:, :place], axis=1).T:
            pick += pick >= earlier
        picks[:, place] = pick
    return order[starts[chosen, None] + picks]


def _sampled_deltas(edges: Tensor, num_nodes: int, drawn: NDArray[np.int64]) -> tuple[NDArray[np.float64], int, int]:
    """δ of each quadruple, the longest distance seen, and the sources it was looked for from."""
    pairs = np.concatenate([drawn[:, [i, j]] for i, j in ((0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2))])
    small = num_nodes <= DEFAULT_SAMPLES // 2  # then every source is searched from, for the diameter
    sources = np.arange(num_nodes) if small else np.unique(pairs[:, 0])
    order = np.argsort(pairs[:, 0], kind="stable")
    sorted_first = pairs[order, 0]
    length = np.empty(len(pairs), dtype=np.int64)
    diameter = 0
    for begin, block in distance_blocks(edges, num_nodes, torch.from_numpy(sources)):
        diameter = max(diameter, int(block.max()))
        inside = sources[begin : begin + len(block)]
        here = order[slice(*np.searchsorted(sorted_first, (inside[0], inside[-1] + 1)))]
        length[here] = block[np.searchsorted(inside, pairs[here, 0]), pairs[here, 1]]
    sums = np.sort(length.reshape(6, -1)[[0, 2, 4]] + length.reshape(6, -1)[[1, 3, 5]], axis=0)
    return (sums[2] - sums[1]) / 2, diameter, len(sources)
