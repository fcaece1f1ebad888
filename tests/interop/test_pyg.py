"""Networks to PyTorch Geometric and back, its loaders, and counterparts of its modules."""

import warnings
from typing import Any

import pytest
import torch

pytest.importorskip("torch_geometric")

from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import LinkNeighborLoader, NeighborLoader
from torch_geometric.nn import JumpingKnowledge, MessagePassing, global_mean_pool, to_hetero

from hybonet import Lorentz
from hybonet.data import GraphData, NodeSplit, disease_tree
from hybonet.interop.pyg import (
    LoaderSampler,
    LorentzCentroidAggregation,
    LorentzJumpingKnowledge,
    OntoManifold,
    from_pyg,
    to_pyg,
)
from hybonet.nn import EuclideanToLorentz, LorentzDistanceHead, LorentzGraphAttention, LorentzGraphConv
from hybonet.testing import assert_on_sheet


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


RING = torch.tensor([[0, 1, 2, 1, 2, 0], [1, 2, 0, 0, 1, 2]])


def ring(**parts: Any) -> Data:
    return Data(**{"edge_index": RING, "num_nodes": 3, **parts})


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc])
def test_a_transposed_adjacency_is_as_good_as_an_edge_index(layout: torch.layout) -> None:
    matrix = torch.zeros(4, 4)
    matrix[torch.tensor([1, 2, 2, 3]), torch.tensor([0, 1, 0, 3])] = 1.0
    graph = from_pyg(Data(adj_t=matrix.to_sparse(layout=layout)))
    assert (graph.num_nodes, graph.edges.tolist()) == (4, [[0, 1], [0, 2], [1, 2]])
    assert graph.self_loops.tolist() == [3]
    assert graph.notes == ()
    weighted = from_pyg(Data(adj_t=(0.5 * matrix).to_sparse(layout=layout)))
    assert weighted.notes == ("weights or attributes of edges are left out: values of adj_t",)


def test_what_is_left_out_of_edges_is_told() -> None:
    graph = from_pyg(ring(edge_weight=torch.ones(6), edge_attr=torch.ones(6, 2)))
    assert graph.notes == ("weights or attributes of edges are left out: edge_weight, edge_attr",)


def test_unknown_classes_come_back() -> None:
    graph = from_pyg(ring(y=torch.tensor([[1], [-1], [0]])))
    assert graph.labels.tolist() == [1, -1, 0]
    assert graph.notes == ("1 of 3 nodes have no label",)
    assert to_pyg(graph).y.tolist() == [1, -1, 0]


def test_sparse_features_stay_sparse() -> None:
    features = torch.eye(3)
    for x in (features.to_sparse_coo(), features.to_sparse_csr()):
        graph = from_pyg(ring(x=x))
        assert graph.features.layout == torch.sparse_csr
        assert torch.equal(graph.features.to_dense(), features)


MASK = torch.tensor([True, False, False])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (HeteroData(), r"expected torch_geometric.data.Data, got HeteroData; take one kind .*to_homogeneous"),
        ({"edge_index": RING}, r"expected torch_geometric.data.Data, got dict; make one"),
        (Data(num_nodes=3), r"expected edge_index or adj_t in the Data, got neither"),
        (Data(adj_t=torch.eye(3)), r"expected adj_t as a sparse matrix of torch"),
        (Data(edge_index=torch.empty(2, 0).long()), r"expected a graph with nodes, got num_nodes=0"),
        (ring(edge_index=RING.float()), r"expected edge_index as integers of shape \(2, edges\), got torch.float32"),
        (ring(edge_index=RING.T), r"expected edge_index as integers of shape \(2, edges\), got .* \(6, 2\)"),
        (ring(edge_index=RING + 1), r"expected edges between nodes 0 to 2, got \(2, 3\) in column 1"),
        (ring(edge_index=RING - 1), r"expected edges between nodes 0 to 2, got \(-1, 0\) in column 0"),
        (ring(y=torch.tensor([0.0, 0.5, 1.0])), r"expected classes as integers in y, got torch.float32"),
        (ring(y=torch.tensor([0, -2, 1])), r"expected classes from 0 on, or -1 where unknown, got -2 for node 1"),
        (ring(y=torch.ones(3, 2).long()), r"expected one class per node, y of shape \(3,\), got .* \(3, 2\)"),
        (ring(y=torch.tensor([1])), r"expected one class per node"),
        (ring(x=torch.tensor([[1.0], [torch.nan], [1.0]])), r"as finite numbers, got nan for node '1' in column 0"),
        (ring(x=torch.tensor([[1.0], [1e40], [0.0]], dtype=torch.float64)), r"got 1e\+40 for node '1'"),
        (ring(x=torch.tensor([[1.0], [torch.inf], [0.0]]).to_sparse_csr()), r"as finite numbers, got inf for node '1'"),
        (ring(train_mask=MASK, test_mask=MASK), r"expected all of train_mask, .*, or none, got no val_mask"),
        (ring(train_mask=MASK, val_mask=MASK, test_mask=MASK.long()), r"expected test_mask as booleans of shape"),
    ],
)
def test_what_is_no_network_is_refused(data: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_pyg(data)


def directed_graph() -> Data:
    """Edges of either direction with weights, a repeated one, self-loops and nodes that nothing points to."""
    torch.manual_seed(0)
    edges = torch.cat((torch.randint(40, (2, 150)), torch.tensor([[3, 3, 5], [4, 4, 5]])), dim=1)
    return Data(x=torch.randn(50, 6), edge_index=edges, edge_weight=torch.rand(153) + 0.1, num_nodes=50)


@pytest.mark.parametrize("layer", [LorentzGraphConv, LorentzGraphAttention])
def test_batches_with_all_neighbours_give_the_rows_of_the_whole_graph(layer: type) -> None:
    torch.manual_seed(0)
    data, lift = directed_graph(), EuclideanToLorentz()
    first, second = layer(7, 5).eval().double(), layer(5, 5).eval().double()

    def points(part: Data) -> torch.Tensor:
        weight = (part.edge_weight.double(),) if layer is LorentzGraphConv else ()
        return second(first(lift(part.x.double()), part.edge_index, *weight), part.edge_index, *weight)

    whole, seen = points(data), []
    sampler = LoaderSampler(data, hops=2)
    for batch in NeighborLoader(data, [-1, -1], neighbor_sampler=sampler, batch_size=8, shuffle=True):
        assert torch.equal(data.edge_index[:, batch.e_id], batch.n_id[batch.edge_index])
        torch.testing.assert_close(points(batch)[: batch.batch_size], whole[batch.input_id])
        seen.append(batch.input_id)
    assert torch.cat(seen).sort().values.tolist() == list(range(50))


def test_batches_have_at_most_the_fan_out() -> None:
    data = to_pyg(disease_tree(200))
    sampler = LoaderSampler(data, hops=2, fan_out=2)
    for batch in NeighborLoader(data, [2, 2], neighbor_sampler=sampler, batch_size=50):
        assert int(torch.bincount(batch.edge_index[1]).max()) == 2


def test_samplers_refuse_what_they_cannot_sample() -> None:
    data = directed_graph()
    with pytest.raises(ValueError, match="expected hops and fan_out of at least 1, got 0 and 3"):
        LoaderSampler(data, hops=0, fan_out=3)
    with pytest.raises(ValueError, match="expected edge_index"):
        LoaderSampler(Data(num_nodes=3), hops=1)
    loader = NeighborLoader(
        data, [1], input_nodes=torch.tensor([1, 1]), neighbor_sampler=LoaderSampler(data, hops=1), batch_size=2
    )
    with pytest.raises(ValueError, match="expected different nodes in a batch"):
        next(iter(loader))


def test_links_are_loaded_with_their_surroundings() -> None:
    data = directed_graph()
    sampler = LoaderSampler(data, hops=2, fan_out=5)
    loader = LinkNeighborLoader(
        data, [5, 5], neighbor_sampler=sampler, edge_label_index=data.edge_index, neg_sampling_ratio=1.0, batch_size=10
    )
    links = []
    for batch in loader:
        assert torch.equal(data.edge_index[:, batch.e_id], batch.n_id[batch.edge_index])
        links.append(batch.n_id[batch.edge_label_index][:, batch.edge_label == 1])
        assert int((batch.edge_label == 0).sum()) == int((batch.edge_label == 1).sum())
    assert torch.equal(torch.cat(links, dim=1), data.edge_index)


def test_nodes_are_pooled_by_graph() -> None:
    manifold = Lorentz(-2.0)
    pool, x = LorentzCentroidAggregation(manifold), manifold.random_normal(7, 5)
    batch = torch.tensor([0, 0, 0, 1, 1, 3, 3])
    graphs = pool(x, batch, dim_size=4)
    assert_on_sheet(graphs, manifold=manifold)
    torch.testing.assert_close(graphs[0], manifold.centroid(x[:3]), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(graphs[2], manifold.origin(5))
    with pytest.warns(UserWarning, match="off the hyperboloid"):
        LorentzDistanceHead(5, 3, manifold=manifold)(global_mean_pool(x, batch))


def test_the_centroid_aggregates_messages() -> None:
    class Averaging(MessagePassing):
        def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
            return self.propagate(edge_index, x=x)

    graph, manifold = directed_graph(), Lorentz()
    x = manifold.random_normal(50, 5)
    out = Averaging(aggr=LorentzCentroidAggregation(manifold))(x, graph.edge_index)
    assert_on_sheet(out, manifold=manifold)
    node = int(graph.edge_index[1, 0])
    neighbours = graph.edge_index[0, graph.edge_index[1] == node]
    torch.testing.assert_close(out[node], manifold.centroid(x[neighbours]), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("aggr", ["sum", "mean"])
def test_two_kinds_of_edges_make_one_point(aggr: str) -> None:
    class Net(torch.nn.Module):
        def __init__(self, again: bool) -> None:
            super().__init__()
            self.conv = LorentzGraphConv((5, 5), 4, add_self_loops=False)
            self.again = OntoManifold() if again else torch.nn.Identity()
            self.head = LorentzDistanceHead(4, 3)

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
            return self.head(self.again(self.conv(x, edge_index)))

    manifold = Lorentz()
    kinds = (
        ["paper", "author"],
        [("author", "wrote", "paper"), ("paper", "cites", "paper"), ("paper", "of", "author")],
    )
    x = {"paper": manifold.random_normal(6, 5), "author": manifold.random_normal(6, 5)}
    edges = {kind: torch.randint(6, (2, 12)) for kind in kinds[1]}
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # ours; others' deprecations are theirs
        out = to_hetero(Net(again=True), kinds, aggr=aggr)(x, edges)
    assert out["paper"].shape == (6, 3)
    with pytest.warns(UserWarning, match="LorentzDistanceHead.*off the hyperboloid"):
        to_hetero(Net(again=False), kinds, aggr=aggr)(x, edges)


def test_jumping_knowledge_of_far_points() -> None:
    manifold = Lorentz()
    jump, far = (
        LorentzJumpingKnowledge("centroid", 5, 3),
        8 * torch.nn.functional.normalize(torch.randn(3, 6, 4), dim=-1),
    )
    layers = manifold.expmap0(torch.nn.functional.pad(far, (1, 0)))
    right = manifold.centroid(layers.double().transpose(0, 1))
    torch.testing.assert_close(jump(list(layers)).double(), right, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("mode", ["centroid", "cat"])
def test_jumping_knowledge(mode: str) -> None:
    manifold = Lorentz(-0.5)
    jump, layers = LorentzJumpingKnowledge(mode, 5, 3, manifold=manifold), list(manifold.random_normal(3, 6, 5))
    out = jump(layers)
    assert_on_sheet(out, manifold=manifold)
    out.sum().backward()
    assert all(p.grad is not None for p in jump.parameters())
    if mode == "centroid":
        even = manifold.centroid(torch.stack(layers, dim=1))
        torch.testing.assert_close(out, even, rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match="points of 3 layers, got 2"):
        jump(layers[:2])
    with pytest.raises(ValueError, match="'centroid' or 'cat', got 'max'"):
        LorentzJumpingKnowledge("max", 5, 3)
    with pytest.warns(UserWarning, match="off the hyperboloid"):
        LorentzDistanceHead(5, 3, manifold=manifold)(JumpingKnowledge("max")(layers))
