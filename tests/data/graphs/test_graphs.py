"""GraphData: what it accepts, counts and prepares for models."""

import pytest
import torch

from hybonet.data import GraphData, degree_features, row_normalised
from hybonet.data.graphs.graph_data import numbered_nodes
from hybonet.data.graphs.node_features import sparse_rows


def test_building_counts_what_it_leaves_out() -> None:
    pairs = torch.tensor([[2, 1], [1, 2], [1, 2], [3, 3], [3, 3], [0, 1]])
    graph = GraphData.build(numbered_nodes(5), pairs)
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.self_loops.tolist() == [3]
    assert graph.repeated_edges == 3
    assert graph.statistics() == {"nodes": 5, "edges": 2, "features": 0, "classes": 0}
    assert len(graph.edges) + len(graph.self_loops) + graph.repeated_edges == len(pairs)


def test_an_empty_graph_is_a_graph() -> None:
    graph = GraphData.build(numbered_nodes(3), torch.empty(0, 2, dtype=torch.long))
    assert graph.edge_index().shape == (2, 0)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            {"edges": torch.tensor([[0, 1]], dtype=torch.int32)},
            r"LongTensor \(n, 2\), got shape \(1, 2\) of torch.int32",
        ),
        ({"edges": torch.tensor([[1, 0]])}, "smaller first"),
        ({"edges": torch.tensor([[0, 2], [0, 1]])}, "sorted unique pairs of 3 nodes"),
        ({"edges": torch.tensor([[0, 3]])}, "sorted unique pairs of 3 nodes"),
        ({"features": torch.ones(2, 4)}, r"shape \(3, n\), got \(2, 4\)"),
        ({"labels": torch.tensor([0, 1, 2]), "classes": ("a", "b")}, "3 labels from -1 to 1"),
        ({"labels": torch.tensor([0.0, 1, 1]), "classes": ("a", "b")}, "of torch.float32"),
    ],
)
def test_inconsistent_parts_are_refused(parts: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GraphData(numbered_nodes(3), **{"edges": torch.tensor([[0, 1]]), **parts})


def test_row_normalisation_is_the_same_dense_and_sparse() -> None:
    dense = torch.tensor([[1.0, 3.0, 0.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 2.0], [2.0, 0.0, -2.0]])
    csr = sparse_rows(
        torch.tensor([0, 2, 2, 4, 6]),
        torch.tensor([0, 1, 0, 2, 0, 2]),
        torch.tensor([1.0, 3.0, -1.0, 2.0, 2.0, -2.0]),
        (4, 3),
    )
    assert torch.equal(csr.to_dense(), dense)
    expected = torch.tensor([[0.25, 0.75, 0.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    assert torch.equal(row_normalised(dense), expected)
    normalised = row_normalised(csr)
    assert normalised.layout == torch.sparse_csr
    assert torch.equal(normalised.to_dense(), expected)


def test_degrees_are_capped_and_followed_by_a_constant() -> None:
    star = torch.tensor([[0, leaf] for leaf in range(1, 8)])
    features = degree_features(star, 9)
    assert features.shape == (9, 7)
    assert features[0].tolist() == [0, 0, 0, 0, 0, 1, 1]
    assert features[1].tolist() == [0, 1, 0, 0, 0, 0, 1]
    assert features[8].tolist() == [1, 0, 0, 0, 0, 0, 1]


def test_inputs_keep_labels_and_held_out_edges_away() -> None:
    graph = GraphData.from_edges(
        [("a", "b"), ("b", "c")],
        features=torch.tensor([[1.0, 1.0, 2.0], [2.0, 2.0, 4.0], [3.0, 1.0, 4.0]]),
        label_columns=(2,),
        normalise_rows=True,
        add_degrees=True,
    )
    nodes = graph.inputs("node_classification")
    assert nodes.shape == (3, 2 + 7)
    assert nodes[:, :2].tolist() == [[0.5, 0.5], [0.5, 0.5], [0.75, 0.25]]
    assert nodes[1, 2:].tolist() == [0, 0, 1, 0, 0, 0, 1]
    links = graph.inputs("link_prediction", edges=graph.edges[:1])
    assert links.shape == (3, 3 + 7)
    assert links[:, :3].tolist() == [[0.25, 0.25, 0.5], [0.25, 0.25, 0.5], [0.375, 0.125, 0.5]]
    assert links[1, 3:].tolist() == [0, 1, 0, 0, 0, 0, 1], "the degree in training, not in the whole graph"
    with pytest.raises(ValueError, match=r"expected the training edges.*give edges="):
        graph.inputs("link_prediction")
    with pytest.raises(ValueError, match=r"expected one of link_prediction, node_classification, got 'lp'"):
        graph.inputs("lp")


def test_absent_features_say_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"expected features, got none \(a file is absent\).*degree_features"):
        GraphData.from_edges([("a", "b")], notes=("a file is absent",)).inputs("node_classification")
