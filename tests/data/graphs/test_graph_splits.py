"""Splits: what is held out, what training may draw, and the leaks of the released protocol."""

import numpy as np
import pytest
import torch
from torch import Tensor

from hybonet.data import GraphData, LinkSplit, load_graph, named, split_links, split_nodes
from hybonet.data.graphs.disease_tree import disease_tree
from hybonet.data.graphs.graph_data import NodeSplit, numbered_nodes


def random_graph(nodes: int = 40, edges: int = 120, loops: tuple[int, ...] = (), seed: int = 0) -> GraphData:
    pairs = torch.randint(nodes, (edges, 2), generator=torch.Generator().manual_seed(seed))
    pairs = torch.cat((pairs[pairs[:, 0] != pairs[:, 1]], torch.tensor([[n, n] for n in loops]).reshape(-1, 2).long()))
    return GraphData.build(numbered_nodes(nodes), pairs)


def as_set(pairs: Tensor) -> set[tuple[int, int]]:
    return {(a, b) for a, b in pairs.tolist()}


def drawn(split: LinkSplit, count: int = 50_000) -> set[tuple[int, int]]:
    return as_set(split.training_negatives(count, torch.Generator().manual_seed(1)))


@pytest.mark.parametrize("protocol", ["standard", "paper_code"])
def test_links_are_held_out_once_and_seeded(protocol: str) -> None:
    graph = random_graph()
    split = split_links(graph, protocol=protocol)
    count = len(graph.edges)
    assert len(split.valid) == len(split.valid_negatives) == int(0.05 * count)
    assert len(split.test) == len(split.test_negatives) == int(0.10 * count)
    parts = [as_set(part) for part in (split.train, split.valid, split.test)]
    assert set.union(*parts) == as_set(graph.edges)
    assert sum(map(len, parts)) == count
    negatives = as_set(split.valid_negatives) | as_set(split.test_negatives)
    assert len(negatives) == len(split.valid) + len(split.test)
    assert not negatives & as_set(graph.edges)
    again, other = split_links(graph, protocol=protocol), split_links(graph, protocol=protocol, seed=5)
    assert torch.equal(split.test, again.test)
    assert torch.equal(split.test_negatives, again.test_negatives)
    assert not torch.equal(split.test, other.test)


def test_standard_training_negatives_are_exactly_the_pairs_that_tell_nothing() -> None:
    graph = random_graph(nodes=20, edges=50)
    split = split_links(graph, valid=0.1, test=0.2)
    evaluated = set.union(*(as_set(p) for p in (split.valid, split.test, split.valid_negatives, split.test_negatives)))
    every_pair = {(a, b) for a in range(20) for b in range(a + 1, 20)}
    assert drawn(split) == every_pair - as_set(split.train) - evaluated


def test_released_training_negatives_hold_all_that_is_evaluated() -> None:
    graph = random_graph(nodes=20, edges=50)
    split = split_links(graph, protocol="paper_code", valid=0.1, test=0.2)
    every_pair = {(a, b) for a in range(20) for b in range(a, 20)}
    assert drawn(split) == every_pair - as_set(split.train)
    for leak in (split.valid, split.test, split.valid_negatives, split.test_negatives):
        assert as_set(leak) <= drawn(split)


@pytest.mark.parametrize("protocol", ["standard", "paper_code"])
def test_training_negatives_are_uniform(protocol: str) -> None:
    split = split_links(random_graph(nodes=12, edges=12), protocol=protocol, valid=0.1, test=0.1)
    pairs = split.training_negatives(60_000, torch.Generator().manual_seed(0))
    counts = torch.unique(pairs, dim=0, return_counts=True)[1].double()
    chi_square = float(((counts - counts.mean()) ** 2 / counts.mean()).sum())
    assert chi_square < 2 * len(counts)
    assert torch.equal(pairs, split.training_negatives(60_000, torch.Generator().manual_seed(0)))


@pytest.mark.parametrize("loops", [(), (3, 17)])
def test_released_links_are_those_of_the_published_procedure(loops: tuple[int, ...]) -> None:
    """The procedure in plain numpy: all upper-triangle pairs listed row by row, edges shuffled, then the others."""
    graph = random_graph(loops=loops)
    adjacency = np.zeros((40, 40), dtype=bool)
    adjacency[tuple(graph.edges.numpy().T)] = True
    adjacency[list(loops), list(loops)] = True
    np.random.seed(1234)
    edges = np.argwhere(np.triu(adjacency))
    np.random.shuffle(edges)
    others = np.argwhere(np.triu(~adjacency))
    np.random.shuffle(others)
    num_valid, num_test = int(0.05 * len(edges)), int(0.1 * len(edges))
    split = split_links(graph, protocol="paper_code")
    assert np.array_equal(split.valid, edges[:num_valid])
    assert np.array_equal(split.test, edges[num_valid : num_valid + num_test])
    assert np.array_equal(split.train, edges[num_valid + num_test :])
    assert np.array_equal(split.valid_negatives, others[:num_valid])
    assert np.array_equal(split.test_negatives, others[num_valid : num_valid + num_test])


def test_both_protocols_hold_out_the_same_edges_without_self_loops() -> None:
    graph = random_graph()
    standard, released = split_links(graph), split_links(graph, protocol="paper_code")
    assert torch.equal(standard.test, released.test)
    assert torch.equal(standard.train, released.train)


def test_impossible_wishes_are_refused() -> None:
    complete = GraphData.build(numbered_nodes(6), torch.combinations(torch.arange(6)))
    with pytest.raises(ValueError, match=r"expected enough pairs without an edge .* got 0; hold out fewer"):
        split_links(complete, valid=0.2, test=0.2)
    with pytest.raises(ValueError, match=r"expected the protocol standard or paper_code, got 'honest'"):
        split_links(random_graph(), protocol="honest")
    with pytest.raises(ValueError, match=r"leave some to train on, got 0.5 and 0.5"):
        split_links(random_graph(), valid=0.5, test=0.5)
    with pytest.raises(ValueError, match=r"expected labels to split nodes by, got none"):
        split_nodes(random_graph())


# Nodes -------------------------------------------------------------------------------------------------------------


def labelled(labels: list[int], **parts: object) -> GraphData:
    classes = tuple(str(number) for number in range(max(labels) + 1))
    edges = torch.tensor([[0, 1]])
    return GraphData(numbered_nodes(len(labels)), edges, labels=torch.tensor(labels), classes=classes, **parts)


def test_stratified_nodes_are_disjoint_and_complete() -> None:
    labels = [0] * 100 + [1] * 40 + [2] * 20 + [-1] * 5
    split = split_nodes(labelled(labels))
    together = torch.cat((split.train, split.valid, split.test))
    assert sorted(together.tolist()) == list(range(160)), "each labelled node once, no unlabelled one"
    for part, counts in ((split.valid, [15, 6, 3]), (split.test, [15, 6, 3]), (split.train, [70, 28, 14])):
        assert torch.bincount(torch.tensor(labels)[part]).tolist() == counts
    assert not torch.equal(split.test, split_nodes(labelled(labels), seed=1).test)


def test_a_published_split_is_taken_as_it_is() -> None:
    given = NodeSplit(torch.tensor([0]), torch.tensor([1]), torch.tensor([2]))
    graph = labelled([0, 1, 0, 1], split=given)
    assert split_nodes(graph) is given
    assert split_nodes(graph, protocol="paper_code") is given


def test_two_classes_are_balanced_as_published() -> None:
    graph = disease_tree(400, seed=2)
    standard, released = split_nodes(graph), split_nodes(graph, protocol="paper_code")
    smaller = min(graph.class_counts().values())
    for part, share in ((standard.valid, 0.1), (standard.test, 0.6)):
        assert torch.bincount(graph.labels[part]).tolist() == [round(share * smaller)] * 2
    together = torch.cat((standard.train, standard.valid, standard.test))
    assert len(together.unique()) == len(together) == 400
    for ours, theirs in zip(vars(standard).values(), vars(released).values(), strict=True):
        assert torch.equal(ours, theirs)


def test_released_split_of_several_classes_repeats_nodes() -> None:
    graph = labelled([0] * 30 + [1] * 60 + [2] * 40 + [3] * 10)
    assert split_nodes(graph, protocol="paper_code").repeated_in_train() > 0.2
    assert split_nodes(graph).repeated_in_train() == 0


def test_airport_as_published_repeats_43_to_46_percent_of_its_test_nodes() -> None:
    if named("airport").folder() is None:
        pytest.skip("airport is not on the search path (HYBONET_DATA)")
    graph = load_graph("airport")
    shares = [split_nodes(graph, protocol="paper_code", seed=seed).repeated_in_train() for seed in (0, 1, 2, 3, 1234)]
    assert all(0.425 < share < 0.465 for share in shares)
    honest = split_nodes(graph)
    assert honest.repeated_in_train() == 0
    assert honest.sizes == (2232, 478, 478)


def test_classes_of_a_few_nodes_are_held_out_together_and_none_leaves_train() -> None:
    edges = torch.tensor([[n, n + 1] for n in range(59)])
    labels = torch.arange(60) // 3
    graph = GraphData.build(numbered_nodes(60), edges, labels=labels, classes=tuple(f"c{n}" for n in range(20)))
    split = split_nodes(graph)
    assert split.sizes == (42, 9, 9)
    assert len(torch.cat((split.train, split.valid, split.test)).unique()) == 60
    assert len(labels[split.train].unique()) == 20
