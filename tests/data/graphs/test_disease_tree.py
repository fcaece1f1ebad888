"""Generated disease trees: trees, spreading as described, the same for the same seed."""

import numpy as np
import pytest
import torch

from hybonet.data import disease_tree, load_graph
from hybonet.data.graphs.writing import write_network
from hybonet.metrics import hyperbolicity


@pytest.mark.parametrize("nodes", [2, 3, 50, 3000])
def test_it_is_a_tree_of_the_size_asked_for(nodes: int) -> None:
    graph = disease_tree(nodes, seed=1)
    assert graph.num_nodes == nodes
    assert len(graph.edges) == nodes - 1
    assert graph.repeated_edges == 0
    assert torch.equal(graph.edges[:, 1].sort().values, torch.arange(1, nodes)), "every node but the root has a parent"
    found = hyperbolicity(graph.edges, nodes)
    assert (found.delta, found.exact) == (0, True)
    children = torch.bincount(graph.edges[:, 0])
    assert children.max() <= 11


def test_infection_spreads_only_from_parents_as_often_as_asked() -> None:
    graph = disease_tree(20_000, seed=0, infection=0.7)
    parent, child = graph.edges.T
    assert graph.labels[0] == 1
    assert not graph.labels[child][graph.labels[parent] == 0].any()
    assert float(graph.labels[child][graph.labels[parent] == 1].double().mean()) == pytest.approx(0.7, abs=0.02)


def test_features_tell_states_and_branches_apart() -> None:
    graph = disease_tree(20_000, seed=0)
    infected = graph.labels == 1
    assert float(graph.features[infected, :10].mean()) == pytest.approx(0.25, abs=0.03)
    assert float(graph.features[~infected, :10].mean()) == pytest.approx(0.5, abs=0.01)
    position = graph.features[:, -1]
    assert float(position.min()) >= -1
    assert float(position.max()) <= 1
    parent, child = graph.edges.T
    assert np.corrcoef(position[parent], position[child])[0, 1] > 0.95


def test_seeds_and_options_matter() -> None:
    one, again, other = disease_tree(200), disease_tree(200), disease_tree(200, seed=1)
    assert one.sha256 == again.sha256
    assert torch.equal(one.features, again.features)
    assert one.sha256 != other.sha256
    noisy = disease_tree(200, label_noise=0.25)
    assert int((noisy.labels != one.labels).sum()) == 50
    assert disease_tree(100, susceptibility_features=3).num_features == 4
    assert torch.bincount(disease_tree(100, most_children=1).edges.flatten()).max() == 2, "a path"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_nodes": 1}, "at least 2 nodes, got 1"),
        ({"most_children": 0}, "at least 1 children, got 0"),
        ({"infection": 1.5}, "infection from 0 to 1, got 1.5"),
        ({"label_noise": -1}, "label_noise from 0 to 1"),
    ],
)
def test_impossible_trees_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        disease_tree(**options)


def test_written_files_give_the_same_graph_back(tmp_path) -> None:
    graph = disease_tree(80, seed=4)
    edges, features, labels = write_network(graph, tmp_path)
    back = load_graph(edges, features=features, labels=labels)
    assert torch.equal(back.edges, graph.edges)
    assert torch.equal(back.features, graph.features)
    assert torch.equal(back.labels, graph.labels)
    assert back.classes == graph.classes
    assert back.notes == ()
