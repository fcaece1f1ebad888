"""Splits of a network for link prediction and node classification, in two protocols.

``standard`` is ours and leaks nothing; ``paper_code`` is what HGCN (Chami et al., 2019) and the works after it did,
draw for draw, for comparison. They differ in two places.

*Negatives of link prediction.* The published training negatives come from all pairs that are no training edge: the
held-out edges, self pairs, and the very negatives that the model is judged by. A model that remembers those knows the
answers. Standard training negatives come from pairs of different nodes that are no training edge and no pair of valid
or test, edge or not. Leaving out the held-out edges alone would be a leak of its own: evaluation negatives would be
trained as negatives and held-out edges never, so memory would tell them apart. With both left out, training tells of
neither.

*Nodes of Airport.* The released split was written for two classes: nodes of class 1, 2 or 3 are shuffled as one half,
nodes of class 0, 2 or 3 as the other, so that classes 2 and 3 are drawn twice and 43 to 46 % of the test nodes are
training nodes as well. The standard split draws each node once, class by class.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hybonet.data.graphs.graph_data import UNLABELLED, GraphData, NodeSplit

GraphProtocol = Literal["standard", "paper_code"]
#: Shares of valid and test where the graph has none of its own.
LINK_SHARES, _NODE_SHARES = (0.05, 0.10), (0.15, 0.15)
#: The seed that the published splits are made with.
SPLIT_SEED = 1234


@dataclass(frozen=True, eq=False)
class LinkSplit:
    """Edges to train on, and edges with equally many negatives to choose by and to report on; each of shape (n, 2).

    Example:
        >>> from hybonet.data import load_graph
        >>> split = split_links(load_graph("disease-small"))
        >>> [len(part) for part in (split.train, split.valid, split.valid_negatives, split.test, split.test_negatives)]
        [511, 29, 29, 59, 59]
        >>> split.training_negatives(3, torch.Generator().manual_seed(0)).shape
        torch.Size([3, 2])
    """

    protocol: GraphProtocol
    num_nodes: int
    train: Tensor
    valid: Tensor
    test: Tensor
    valid_negatives: Tensor
    test_negatives: Tensor
    #: Pairs that training must not draw, as sorted keys.
    _barred: Tensor = field(repr=False)

    def training_negatives(self, count: int, generator: torch.Generator | None = None) -> Tensor:
        """Pairs to train on as non-edges, drawn uniformly with replacement; shape (count, 2), smaller node first."""
        drawn = [torch.empty(0, 2, dtype=torch.long)]
        missing = count
        while missing > 0:
            pairs = self._uniform_pairs(missing + missing // 4 + 16, generator)
            pairs = pairs[~_contains(self._barred, pairs[:, 0] * self.num_nodes + pairs[:, 1])][:missing]
            missing -= len(pairs)
            drawn.append(pairs)
        return torch.cat(drawn)

    def _uniform_pairs(self, count: int, generator: torch.Generator | None) -> Tensor:
        # A grid of n by n+1 covers every pair i <= j twice, so a uniform cell is a uniform pair.
        row = torch.randint(self.num_nodes, (count,), generator=generator)
        column = torch.randint(self.num_nodes + 1, (count,), generator=generator)
        above = column > row
        pairs = torch.stack((torch.where(above, row, column), torch.where(above, column - 1, row)), dim=1)
        return pairs if self.protocol == "paper_code" else pairs[pairs[:, 0] != pairs[:, 1]]


def split_links(
    graph: GraphData,
    *,
    protocol: GraphProtocol = "standard",
    valid: float = LINK_SHARES[0],
    test: float = LINK_SHARES[1],
    seed: int = SPLIT_SEED,
) -> LinkSplit:
    """Hold out edges at random, with as many pairs that are no edges.

    Both protocols hold out the same edges of a graph without self loops. ``paper_code`` enumerates all pairs of nodes
    as the published code does, which takes 16 bytes per pair.

    Args:
        graph: whose edges to split.
        protocol: see the module.
        valid, test: shares of the edges, rounded down.
        seed: of the split; the published one is 1234.

    Example:
        >>> from hybonet.data import load_graph
        >>> graph = load_graph("disease-small")
        >>> split = split_links(graph, valid=0.1, test=0.2)
        >>> kept = torch.cat((split.train, split.valid, split.test))
        >>> len(kept) == len(graph.edges) and len(kept.unique(dim=0)) == len(kept)
        True
    """
    _check(protocol, valid, test)
    count = graph.num_nodes
    random = np.random.RandomState(seed)
    edges = graph.edges.numpy()
    if protocol == "paper_code" and len(graph.self_loops):  # the published code takes a self loop for an edge
        loops = graph.self_loops.numpy()
        edges = np.concatenate((edges, np.stack((loops, loops), axis=1)))
        edges = edges[np.lexsort((edges[:, 1], edges[:, 0]))]
    num_valid, num_test = int(len(edges) * valid), int(len(edges) * test)
    possible = count * (count - 1) // 2 - len(graph.edges)
    if 2 * (num_valid + num_test) > possible:
        raise ValueError(
            f"{graph.source}: expected enough pairs without an edge for {num_valid + num_test:,} negatives and "
            f"training, got {possible:,}; hold out fewer edges (valid=, test=), or give a graph of fewer: "
            "where nearly all pairs are linked, there is little to predict"
        )
    order = np.arange(len(edges))
    random.shuffle(order)
    shuffled = torch.from_numpy(edges[order])
    held, train = shuffled[: num_valid + num_test], shuffled[num_valid + num_test :]
    if protocol == "paper_code":
        negatives = _enumerated_negatives(edges, count, num_valid + num_test, random)
        barred = _sorted_keys(train, count)
    else:
        negatives = _drawn_negatives(edges, count, num_valid + num_test, random)
        barred = _sorted_keys(torch.cat((train, held, negatives)), count)
    return LinkSplit(
        protocol,
        count,
        train,
        held[:num_valid],
        held[num_valid:],
        negatives[:num_valid],
        negatives[num_valid:],
        barred,
    )


def split_nodes(
    graph: GraphData,
    *,
    protocol: GraphProtocol = "standard",
    valid: float | None = None,
    test: float | None = None,
    seed: int = SPLIT_SEED,
) -> NodeSplit:
    """Nodes to train on, to choose by and to report on.

    A split that was published with the graph is taken as it is (Cora, CiteSeer, PubMed). Otherwise ``paper_code``
    splits as HGCN did, and so does ``standard`` where that is sound: two classes and published shares (Disease); valid
    and test then have equally many nodes of both classes. Else ``standard`` splits every class by the same shares.

    Args:
        graph: with labels; unlabelled nodes are in no part.
        protocol: see the module.
        valid, test: shares to hold out; the graph's published ones by default, else 15 % each.
        seed: of the split; the published one is 1234.

    Example:
        >>> from hybonet.data import load_graph
        >>> split = split_nodes(load_graph("disease-small"))
        >>> split.sizes, split.repeated_in_train()
        ((428, 24, 148), 0.0)
    """
    if graph.labels is None:
        raise ValueError(f"{graph.source}: expected labels to split nodes by, got none; give some")
    chosen = graph.published_shares or _NODE_SHARES
    valid, test = chosen[0] if valid is None else valid, chosen[1] if test is None else test
    _check(protocol, valid, test)
    if graph.split is not None:
        return graph.split
    labels = graph.labels.numpy()
    two_known_halves = len(graph.classes) == 2 and graph.published_shares is not None
    if protocol == "paper_code" or (two_known_halves and not (labels == UNLABELLED).any()):
        return _published_split(labels, valid, test, seed)
    return _stratified_split(labels, valid, test, seed)


def _published_split(labels: NDArray[np.int64], valid: float, test: float, seed: int) -> NodeSplit:
    """As published: labels other than 0 are one half, labels other than 1 the other, and the smaller sets the sizes."""
    random = np.random.RandomState(seed)
    halves = [np.flatnonzero(labels != 0), np.flatnonzero(labels != 1)]
    for half in halves:
        random.shuffle(half)
    smaller = min(len(half) for half in halves)
    num_valid, num_test = round(valid * smaller), round(test * smaller)

    def part(begin: int, end: int | None) -> Tensor:
        return torch.from_numpy(np.concatenate([half[begin:end] for half in halves]))

    return NodeSplit(part(num_valid + num_test, None), part(0, num_valid), part(num_valid, num_valid + num_test))


def _stratified_split(labels: NDArray[np.int64], valid: float, test: float, seed: int) -> NodeSplit:
    random = np.random.RandomState(seed)
    parts: list[list[NDArray[np.int64]]] = [[], [], []]
    spare: list[NDArray[np.int64]] = []
    left = 0
    for label in np.unique(labels[labels != UNLABELLED]):
        nodes = np.flatnonzero(labels == label)
        random.shuffle(nodes)
        sizes = [round(valid * len(nodes)), round(test * len(nodes))]
        if not any(sizes):
            spare, left = [*spare, nodes[1:]], left + len(nodes)
            nodes = nodes[:1]
        for place, piece in zip((1, 2, 0), np.split(nodes, np.cumsum(sizes)), strict=True):
            parts[place].append(piece)
    # Classes too small for shares of their own give them together; one node of each stays in train.
    if spare:
        nodes = np.concatenate(spare)
        random.shuffle(nodes)
        bounds = np.cumsum([round(valid * left), round(test * left)])
        for place, piece in zip((1, 2, 0), np.split(nodes, bounds), strict=True):
            parts[place].append(piece)
    train, held_valid, held_test = (torch.from_numpy(np.concatenate(pieces)) for pieces in parts)
    return NodeSplit(train, held_valid, held_test)


def _check(protocol: str, valid: float, test: float) -> None:
    if protocol not in get_args(GraphProtocol):
        raise ValueError(f"expected the protocol standard or paper_code, got {protocol!r}; choose one of these")
    if not (valid >= 0 and test >= 0 and valid + test < 1):
        raise ValueError(
            f"expected shares of at least 0 that leave some to train on, got {valid} and {test}; lower them"
        )


def _enumerated_negatives(edges: NDArray[np.int64], count: int, wanted: int, random: np.random.RandomState) -> Tensor:
    """The first of all pairs i <= j without an edge, shuffled as the published code shuffles them."""
    rows = np.arange(count)
    offsets = rows * (count + 1) - (rows * count - rows * (rows - 1) // 2)
    keys = np.arange(count * (count + 1) // 2) + np.repeat(offsets, count - rows)
    keys = np.delete(keys, np.searchsorted(keys, edges[:, 0] * count + edges[:, 1]))
    random.shuffle(keys)
    return torch.from_numpy(np.stack((keys[:wanted] // count, keys[:wanted] % count), axis=1))


def _drawn_negatives(edges: NDArray[np.int64], count: int, wanted: int, random: np.random.RandomState) -> Tensor:
    """Different pairs i < j without an edge, uniform."""
    taken = edges[:, 0] * count + edges[:, 1]
    found = np.empty(0, dtype=np.int64)
    while len(found) < wanted:
        ends = np.sort(random.randint(count, size=(2 * wanted + 16, 2)), axis=1)
        keys = (ends[:, 0] * count + ends[:, 1])[ends[:, 0] != ends[:, 1]]
        keys = np.concatenate((found, keys[~np.isin(keys, taken)]))
        found = keys[np.sort(np.unique(keys, return_index=True)[1])]  # first of each, in the order drawn
    found = found[:wanted]
    return torch.from_numpy(np.stack((found // count, found % count), axis=1))


def _sorted_keys(pairs: Tensor, count: int) -> Tensor:
    return (pairs[:, 0] * count + pairs[:, 1]).unique()


def _contains(keys: Tensor, wanted: Tensor) -> Tensor:
    if not len(keys):
        return torch.zeros_like(wanted, dtype=torch.bool)
    return keys[torch.searchsorted(keys, wanted).clamp_max(len(keys) - 1)] == wanted
