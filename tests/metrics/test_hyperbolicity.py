"""δ of graphs whose δ is known, and against looking at every four nodes."""

from importlib import import_module
from itertools import combinations

import numpy as np
import pytest
import torch
from torch import Tensor

from hybonet.data import disease_tree, load_graph, named
from hybonet.metrics import hyperbolicity
from hybonet.metrics.hyperbolicity import _draw, components, hop_distances


def cycle(size: int) -> Tensor:
    return torch.tensor([[i, (i + 1) % size] for i in range(size)])


def grid(rows: int, columns: int) -> Tensor:
    right = [[r * columns + c, r * columns + c + 1] for r in range(rows) for c in range(columns - 1)]
    down = [[r * columns + c, (r + 1) * columns + c] for r in range(rows - 1) for c in range(columns)]
    return torch.tensor(right + down)


def random_graph(nodes: int, edges: int, seed: int) -> Tensor:
    pairs = torch.randint(nodes, (edges, 2), generator=torch.Generator().manual_seed(seed))
    return pairs[pairs[:, 0] != pairs[:, 1]]


def brute_force(edges: Tensor, nodes: int) -> tuple[float, float]:
    """Largest and mean δ over every four nodes that paths join, distances by repeated relaxation."""
    distance = np.where(np.eye(nodes), 0, np.inf)
    for a, b in edges.tolist():
        distance[a, b] = distance[b, a] = 1
    for middle in range(nodes):
        distance = np.minimum(distance, distance[:, [middle]] + distance[[middle]])
    found = []
    for a, b, c, d in combinations(range(nodes), 4):
        sums = sorted(
            (distance[a, b] + distance[c, d], distance[a, c] + distance[b, d], distance[a, d] + distance[b, c])
        )
        if np.isfinite(sums[2]):
            found.append((sums[2] - sums[1]) / 2)
    return max(found, default=0), float(np.mean(found)) if found else 0


@pytest.mark.parametrize("nodes", [1, 2, 5, 300, 2000])
def test_trees_have_none(nodes: int) -> None:
    edges = disease_tree(nodes).edges if nodes > 1 else torch.empty(0, 2, dtype=torch.long)
    found = hyperbolicity(edges, nodes)
    assert (found.delta, found.mean, found.exact, found.relative) == (0, 0, True, 0)
    assert "those of a tree" in found.meaning()


@pytest.mark.parametrize("size", range(3, 26))
def test_cycles_have_a_quarter_of_their_length(size: int) -> None:
    # For n = 4k + 1 the best four nodes miss by a half: δ is k - 1/2; otherwise floor(n/4).
    expected = size // 4 - (0.5 if size % 4 == 1 else 0)
    found = hyperbolicity(cycle(size), size)
    assert (found.delta, found.exact) == (expected, True)
    assert found.diameter == size // 2


@pytest.mark.parametrize("side", [2, 3, 6, 8])
def test_square_grids_have_their_side(side: int) -> None:
    assert hyperbolicity(grid(side, side), side**2).delta == side - 1


def test_complete_graphs_have_none() -> None:
    assert hyperbolicity(torch.combinations(torch.arange(7)), 7).delta == 0


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("edges", [8, 16, 30])
def test_against_every_four_nodes(edges: int, seed: int) -> None:
    pairs = random_graph(16, edges, seed)
    delta, mean = brute_force(pairs, 16)
    found = hyperbolicity(pairs, 16)
    assert found.delta == delta
    assert found.mean == pytest.approx(mean, abs=0.02)
    sampled = hyperbolicity(pairs, 16, samples=20_000)
    assert sampled.delta == delta, "1,820 quadruples are all drawn"
    assert not sampled.exact


@pytest.mark.parametrize("seed", range(20))
def test_a_search_that_can_end_after_every_pair_finds_the_worst(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("hybonet.metrics.hyperbolicity"), "_CHUNK", 1)
    edges = random_graph(15, 22, seed)
    assert hyperbolicity(edges, 15).delta == brute_force(edges, 15)[0]


def test_pendant_trees_do_not_change_it() -> None:
    ring = cycle(12)
    tails = torch.tensor([[0, 12], [12, 13], [13, 14], [5, 15], [15, 16], [15, 17]])
    assert hyperbolicity(torch.cat((ring, tails)), 18).delta == hyperbolicity(ring, 12).delta == 3


def test_components_count_by_the_largest_and_isolated_nodes_not_at_all() -> None:
    edges = torch.cat((cycle(8), cycle(12) + 8))
    found = hyperbolicity(edges, 25)
    assert (found.delta, found.diameter) == (3, 6)
    assert hyperbolicity(edges, 25, samples=5000).delta == 3


def test_large_graphs_are_sampled_and_say_what_that_is_worth() -> None:
    edges = grid(13, 13)
    found = hyperbolicity(edges, 169, samples=None)
    assert not found.exact
    assert found.delta <= 12
    assert found.diameter == 24
    assert "50,000 random quadruples: with 95% confidence at most 0.006 %" in found.confidence()
    assert "far from a tree" in found.meaning()
    again, other = hyperbolicity(edges, 169, samples=300), hyperbolicity(edges, 169, samples=300, seed=1)
    assert again == hyperbolicity(edges, 169, samples=300)
    assert again.mean != other.mean
    with pytest.raises(ValueError, match="at least one sample, got 0"):
        hyperbolicity(edges, 169, samples=0)


def test_quadruples_are_uniform_over_components() -> None:
    component = components(torch.cat((cycle(5), cycle(6) + 5)), 12)
    drawn = np.sort(_draw(component, 100_000, np.random.default_rng(0)), axis=1)
    quadruples, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(quadruples) == 5 + 15, "of five and of six nodes"
    assert counts.min() > 0.9 * 5000
    assert counts.max() < 1.1 * 5000


@pytest.mark.parametrize("seed", range(3))
def test_distances_against_scipy(seed: int) -> None:
    graph = pytest.importorskip("scipy.sparse.csgraph")
    edges = random_graph(700, 900, seed)  # more than one block of sources, and several components
    adjacency = np.zeros((700, 700))
    adjacency[tuple(edges.numpy().T)] = 1
    expected = graph.shortest_path(adjacency, directed=False, unweighted=True)
    expected[np.isinf(expected)] = -1
    assert np.array_equal(hop_distances(edges, 700).numpy(), expected)
    some = torch.tensor([5, 600, 5])
    assert np.array_equal(hop_distances(edges, 700, some).numpy(), expected[[5, 600, 5]])
    count, labels = graph.connected_components(adjacency, directed=False)
    ours = components(edges, 700)
    assert len(ours.unique()) == count
    assert all(len(ours[torch.from_numpy(labels == label)].unique()) == 1 for label in range(count))


@pytest.mark.parametrize(("name", "delta", "diameter"), [("disease_lp", 0, 8), ("airport", 1, 12)])
def test_published_deltas(name: str, delta: float, diameter: int) -> None:
    if named(name).folder() is None:
        pytest.skip(f"{name} is not on the search path (HYBONET_DATA)")
    graph = load_graph(name)
    found = hyperbolicity(graph.edges, graph.num_nodes)
    assert (found.delta, found.diameter) == (delta, diameter)
