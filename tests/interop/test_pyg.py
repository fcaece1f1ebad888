"""Networks to PyTorch Geometric and back."""

import pytest
import torch

pytest.importorskip("torch_geometric")

from torch_geometric.data import Data

from hybonet.data import GraphData, NodeSplit, disease_tree
from hybonet.interop.pyg import from_pyg, to_pyg


def test_there_and_back() -> None:
    tree = disease_tree(60)
    split = NodeSplit(torch.arange(10), torch.arange(10, 20), torch.arange(20, 60))
    graph = GraphData(tree.nodes, tree.edges, tree.features, tree.labels, tree.classes, split)
    data = to_pyg(graph)
    assert data.validate()
    assert data.is_undirected()
    assert int(data.train_mask.sum()) == 10
    back = from_pyg(data)
    assert torch.equal(back.edges, graph.edges)
    assert torch.equal(back.features, graph.features)
    assert torch.equal(back.labels, graph.labels)
    assert back.split.sizes == (10, 10, 40)
    assert back.notes == ()


def test_isolated_nodes_loops_and_repeats_are_kept_in_mind() -> None:
    data = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 0, 2]]), num_nodes=4)
    graph = from_pyg(data)
    assert graph.num_nodes == 4
    assert graph.edges.tolist() == [[0, 1]]
    assert graph.self_loops.tolist() == [2]
    assert graph.notes == ("1 repeated edges are kept once",)
    assert graph.features is None
    assert graph.labels is None
    assert to_pyg(graph).num_nodes == 4


def test_several_splits_are_refused() -> None:
    mask = torch.zeros(3, 10, dtype=torch.bool)
    data = Data(edge_index=torch.tensor([[0], [1]]), num_nodes=3, train_mask=mask, val_mask=mask, test_mask=mask)
    with pytest.raises(ValueError, match=r"expected masks of one split"):
        from_pyg(data)
