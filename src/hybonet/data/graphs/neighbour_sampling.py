"""Sub-graphs around some nodes of a large graph, by sampling neighbours: plain torch, no compiled helper."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class SubGraph(NamedTuple):
    """Nodes of a graph, those asked for first, and edges between them as places in that list."""

    #: Numbers of the nodes in the whole graph, ``(n,)``.
    nodes: Tensor
    #: From neighbour to node, ``(2, e)``.
    edge_index: Tensor


class NeighbourSampler:
    """Samples neighbourhoods of an undirected graph held in compressed rows."""

    def __init__(self, edges: Tensor, num_nodes: int) -> None:
        both = torch.cat((edges, edges.flip(1)))
        self._compress(both[:, 0], both[:, 1], num_nodes)

    @classmethod
    def directed(cls, edge_index: Tensor, num_nodes: int) -> tuple[NeighbourSampler, Tensor]:
        """A sampler of the sources of given edges ``(2, e)``, and the columns in which its edges stand there."""
        sampler = cls.__new__(cls)
        return sampler, sampler._compress(edge_index[1], edge_index[0], num_nodes)

    def _compress(self, targets: Tensor, sources: Tensor, num_nodes: int) -> Tensor:
        """Fill the rows; returns the order of the edges in them."""
        # Rows are found by sorting their numbers alone; 32 bits hold the nodes of any graph that fits in memory.
        order = targets.argsort(stable=True)
        self.starts = torch.zeros(num_nodes + 1, dtype=torch.long)
        torch.cumsum(torch.bincount(targets, minlength=num_nodes), 0, out=self.starts[1:])
        self.neighbours = sources[order].to(torch.int32 if num_nodes <= torch.iinfo(torch.int32).max else torch.long)
        self._place = torch.full((num_nodes,), -1, dtype=torch.long)
        return order

    def sample(self, nodes: Tensor, hops: int, fan_out: int, generator: torch.Generator | None = None) -> SubGraph:
        """The given (different) nodes with sampled neighbours, their neighbours and so on.

        A node with at most ``fan_out`` neighbours gets them all; another draws as many with replacement, and one drawn
        twice counts once. A node's neighbours are sampled once, when it is first met.
        """
        return self.sample_edges(nodes, hops, fan_out, generator)[0]

    def sample_edges(
        self, nodes: Tensor, hops: int, fan_out: int, generator: torch.Generator | None = None
    ) -> tuple[SubGraph, Tensor]:
        """As :meth:`sample`, and where the edges ``(e,)`` stand in the compressed rows."""
        place, found, frontier = self._place, [nodes], nodes
        place[nodes] = torch.arange(len(nodes))
        count = len(nodes)
        sources, targets, drawn = [], [], []
        for _ in range(hops):
            target, at = self._draw(frontier, fan_out, generator)
            source = self.neighbours[at].long()
            new = source[place[source] < 0].unique()
            place[new] = torch.arange(count, count + len(new))
            count += len(new)
            found.append(new)
            sources.append(place[source])
            targets.append(place[target])
            drawn.append(at)
            frontier = new
        every = torch.cat(found)
        place[every] = -1  # as it was, for the next
        return SubGraph(every, torch.stack((torch.cat(sources), torch.cat(targets)))), torch.cat(drawn)

    def _draw(self, nodes: Tensor, fan_out: int, generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
        """Nodes, and where neighbours of theirs stand in the compressed rows, side by side."""
        start, degree = self.starts[nodes], self.starts[nodes + 1] - self.starts[nodes]
        few = degree <= fan_out
        count = degree[few]
        offsets = torch.arange(int(count.sum())) - (count.cumsum(0) - count).repeat_interleave(count)
        at = start[few].repeat_interleave(count) + offsets
        target = nodes[few].repeat_interleave(count)
        if bool(few.all()):
            return target, at
        many = ~few
        draws = torch.rand(int(many.sum()), fan_out, generator=generator, dtype=torch.float64)
        drawn = (draws * degree[many, None]).long().sort(dim=1).values
        fresh = torch.ones_like(drawn, dtype=torch.bool)
        fresh[:, 1:] = drawn[:, 1:] != drawn[:, :-1]
        at = torch.cat((at, (start[many, None] + drawn)[fresh]))
        target = torch.cat((target, nodes[many, None].expand_as(drawn)[fresh]))
        return target, at
