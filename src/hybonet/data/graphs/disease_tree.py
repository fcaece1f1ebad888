"""Trees along which a disease spreads: graphs like Disease of HGCN (Chami et al., 2019), of any size.

What is imitated was measured on the published graph of 2,665 nodes: inner nodes have one to eleven children, each
number equally often; only children of infected nodes are infected, 56 % of them; the first ten features are noise
around 0.25 for the infected and 0.5 for the others; the last is a node's place in the plane drawing of the tree,
from -1 to 1, so that it tells branches apart.
"""

from __future__ import annotations

import hashlib

import numpy as np
import torch
from numpy.typing import NDArray

from hybonet.data.graphs.graph_data import GraphData, numbered_nodes
from hybonet.data.graphs.hgcn_files import DISEASE_SHARES

_NOISE = 0.8
_INFECTED_MEAN, _HEALTHY_MEAN = 0.25, 0.5


def disease_tree(
    num_nodes: int = 600,
    *,
    seed: int = 0,
    most_children: int = 11,
    infection: float = 0.56,
    susceptibility_features: int = 10,
    label_noise: float = 0.0,
    name: str = "disease-tree",
) -> GraphData:
    """A random tree, an infection that starts at its root and spreads from parents to children, and noisy features.

    Args:
        num_nodes: of the tree.
        seed: the same seed gives the same tree, labels and features.
        most_children: inner nodes have 1 to so many children.
        infection: the chance that an infected node infects a child.
        susceptibility_features: columns that tell infected from healthy nodes, each a little; one more column tells
            branches apart.
        label_noise: the share of labels that are turned around after the spreading.
        name: the graph's source.

    Example:
        >>> graph = disease_tree(1000, seed=3)
        >>> graph.statistics()
        {'nodes': 1000, 'edges': 999, 'features': 11, 'classes': 2}
        >>> parent, child = graph.edges.T
        >>> bool((graph.labels[parent] >= graph.labels[child]).all())  # the infection comes from the parent
        True
    """
    _check(num_nodes, most_children, infection, susceptibility_features, label_noise)
    random = np.random.default_rng(seed)
    parents, levels, position = _grow(num_nodes, most_children, random)
    infected = np.zeros(num_nodes, dtype=np.int64)
    infected[0] = 1
    caught = random.random(num_nodes) < infection
    for begin, end in levels[1:]:  # a level needs the one above
        infected[begin:end] = infected[parents[begin:end]] & caught[begin:end]
    mean = np.where(infected == 1, _INFECTED_MEAN, _HEALTHY_MEAN)[:, None]
    features = mean + _NOISE * random.standard_normal((num_nodes, susceptibility_features))
    turned = random.permutation(num_nodes)[: round(label_noise * num_nodes)]
    infected[turned] = 1 - infected[turned]
    edges = np.stack((parents[1:], np.arange(1, num_nodes)), axis=1)
    table = np.concatenate((features, position[:, None]), axis=1).astype(np.float32)
    digest = hashlib.sha256(edges.tobytes() + table.tobytes() + infected.tobytes()).hexdigest()
    return GraphData.build(
        numbered_nodes(num_nodes),
        torch.from_numpy(edges),
        features=torch.from_numpy(table),
        labels=torch.from_numpy(infected),
        classes=("healthy", "infected"),
        published_shares=DISEASE_SHARES,
        source=name,
        sha256={"generated": digest},
        notes=(f"generated with seed {seed}",),
    )


def _check(num_nodes: int, most_children: int, infection: float, features: int, label_noise: float) -> None:
    for what, value, least in (("nodes", num_nodes, 2), ("children", most_children, 1), ("features", features, 0)):
        if value < least:
            raise ValueError(f"expected at least {least} {what}, got {value}; give more")
    for what, share in (("infection", infection), ("label_noise", label_noise)):
        if not 0 <= share <= 1:
            raise ValueError(f"expected {what} from 0 to 1, got {share}; give a share")


def _grow(
    num_nodes: int, most_children: int, random: np.random.Generator
) -> tuple[NDArray[np.int64], list[tuple[int, int]], NDArray[np.float64]]:
    """Each node's parent, the levels as ranges of nodes, and each node's place between -1 and 1, level by level."""
    parents = np.zeros(num_nodes, dtype=np.int64)
    left, width = np.full(num_nodes, -1.0), np.full(num_nodes, 2.0)
    levels = [(0, 1)]
    while levels[-1][1] < num_nodes:
        begin, end = levels[-1]
        counts = random.integers(1, most_children + 1, end - begin)
        parent = np.repeat(np.arange(begin, end), counts)
        order = np.arange(len(parent)) - np.repeat(counts.cumsum() - counts, counts)
        share = width[parent] / np.repeat(counts, counts)
        # A last level that is only partly needed loses children at random, lest the tree lean to one side.
        kept = np.sort(random.permutation(len(parent))[: num_nodes - end])
        new = slice(end, end + len(kept))
        parents[new] = parent[kept]
        left[new] = (left[parent] + order * share)[kept]
        width[new] = share[kept]
        levels.append((end, end + len(kept)))
    return parents, levels, left + width / 2
