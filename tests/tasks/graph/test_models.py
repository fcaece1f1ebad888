"""Models on graphs: what holds for all of them, and each layer against a dense computation."""

import pytest
import torch
from torch_geometric.nn import GCNConv

from hybonet.data import load_graph
from hybonet.geometry import Lorentz
from hybonet.kernels.sparse_product import are_sampled
from hybonet.nn import LorentzGraphConv
from hybonet.tasks.graph.models import tangent as tangent_graphs
from hybonet.tasks.graph.models.by_name import build_graph_model
from hybonet.tasks.graph.models.graph_network import GraphNetwork
from hybonet.tasks.graph.models.tangent import HAT, HGCN, LGCN
from hybonet.tasks.graph.settings import GraphSettings

MODELS = ["hybonet", "hybonet-attention", "hybonet-tangent", "GCN", "GAT", "SAGE", "SGC", "HGCN", "HAT", "LGCN", "MLP"]
PATH = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])


def built(name, **changes):
    torch.manual_seed(0)
    return build_graph_model(
        GraphSettings(**GraphSettings.fitting({"model": name, **changes})), num_features=6, num_classes=3
    ).eval()


@pytest.mark.parametrize("name", MODELS)
def test_names_of_nodes_do_not_matter(name):
    model, x = built(name), torch.randn(5, 6)
    order = torch.tensor([3, 0, 4, 1, 2])
    place = order.argsort()
    z, again = model.encode(x, PATH), model.encode(x[order], place[PATH])
    torch.testing.assert_close(again, z[order], rtol=1e-4, atol=1e-5)
    pairs = torch.tensor([[0, 3], [2, 4]])
    torch.testing.assert_close(
        model.link_logits(again, place[pairs]), model.link_logits(z, pairs), rtol=1e-3, atol=1e-3
    )
    torch.testing.assert_close(
        model.squared_distances(z[[0, 2]], z)[[0, 1], [3, 4]], model.squared_distance(z, pairs), rtol=1e-3, atol=1e-3
    )
    assert model(x, PATH).shape == (5, 3)


@pytest.mark.parametrize("name", MODELS)
def test_only_mlp_does_not_see_the_graph(name):
    model, x = built(name), torch.randn(5, 6)
    changed = torch.cat((PATH, torch.tensor([[0, 4], [4, 0]])), dim=1)
    assert torch.equal(model.encode(x, PATH)[0], model.encode(x, changed)[0]) == (name == "MLP")


@pytest.mark.parametrize("name", [name for name in MODELS if name not in ("GCN", "GAT", "SAGE", "SGC", "MLP")])
@pytest.mark.parametrize("size", [0.0, 1e-20, 1.0, 1e4, 1e30])
def test_no_features_are_too_large_or_small(name, size):
    for x in (size * torch.ones(5, 6), (size * torch.ones(5, 6)).to_sparse_csr()):
        model = built(name, K=-0.5).train()
        scores = model(x, PATH, pairs=torch.tensor([[0, 1], [0, 4]]))
        scores.sum().backward()
        assert bool(scores.isfinite().all())
        assert all(bool(p.grad.isfinite().all()) for p in model.parameters() if p.grad is not None)


@pytest.mark.parametrize("name", ["hybonet", "hybonet-attention", "hybonet-tangent", "LGCN", "HGCN", "HAT"])
def test_nodes_are_points_of_the_manifold(name):
    model = built(name, K=-2.0).double()
    z = model.encode(torch.randn(5, 6, dtype=torch.float64), PATH)
    assert model.manifold.check_point(z)


@pytest.mark.parametrize("name", ["hybonet", "hybonet-tangent", "LGCN", "HGCN", "HAT"])
def test_distances_of_training_are_those_of_use(name):
    model = built(name, K=-2.0).double()
    z = model.encode(torch.randn(5, 6, dtype=torch.float64), PATH)
    pairs = torch.tensor([[0, 1], [2, 4], [3, 1]])
    torch.testing.assert_close(model.train().squared_distance(z, pairs), model.eval().squared_distance(z, pairs))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("size", [1e-3, 1.0, 3.0])  # far out, rounding decides where tangent networks attend
def test_sparse_and_dense_features_are_the_same_model(name, size):
    torch.manual_seed(0)
    x = torch.randn(5, 6, dtype=torch.float64) * (torch.rand(5, 6) < 0.4) * size
    x[2] = 0.0
    model = built(name, K=-0.7).double()
    outputs, grads = [], []
    for features in (x, x.to_sparse_csr()):
        outputs.append(model.encode(features, PATH))
        grads.append(torch.autograd.grad(outputs[-1].sum(), list(model.parameters()), allow_unused=True))
    torch.testing.assert_close(outputs[1], outputs[0], rtol=1e-6, atol=1e-7)
    for dense, sparse in zip(*grads, strict=True):
        assert (dense is None) == (sparse is None)
        if dense is not None:
            torch.testing.assert_close(sparse, dense, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_features_are_dropped_sparse_or_dense(name):
    model, x = built(name, dropout=0.5, layers=1).train(), torch.eye(6)[:5]  # one layer: nothing else is dropped
    for features in (x, x.to_sparse_csr()):
        differ = [not torch.equal(model.encode(features, PATH), model.encode(features, PATH)) for _ in range(8)]
        assert any(differ)


def test_training_distances_are_the_exact_ones_to_rounding():
    model, x = built("hybonet", K=-0.7), torch.randn(5, 6)
    z, pairs = model.encode(x, PATH), torch.tensor([[0, 1], [1, 4], [2, 3]])
    torch.testing.assert_close(model.train().squared_distance(z, pairs), model.eval().squared_distance(z, pairs),
                               rtol=1e-4, atol=1e-4)  # fmt: skip


def test_one_graph_is_prepared_once():
    model = GraphNetwork(6, 2, cached=True)
    x = torch.randn(5, 6)
    first = model(x, PATH)
    assert torch.equal(model(x, PATH[:, :0]), first)  # the cached graph is taken whatever comes


@pytest.mark.parametrize("name", ["GCN", "GAT", "SAGE", "SGC"])
def test_what_is_kept_of_one_graph_changes_no_number(name):
    x, models = torch.randn(5, 6), []
    for cached in (False, True):
        torch.manual_seed(0)
        settings = GraphSettings(model=name, layers=2, dropout=0.0)
        models.append(build_graph_model(settings, num_features=6, num_classes=3, cached=cached).train())
    edges = torch.cat((PATH, torch.tensor([[4], [0]])), dim=1)  # one edge has one direction only
    for _ in range(2):
        for model in models:
            model.zero_grad()
            model(x, edges).square().sum().backward()
        for a, b in zip(*(model.named_parameters() for model in models), strict=True):
            torch.testing.assert_close(b[1].grad, a[1].grad, msg=a[0])


def test_learned_features_take_numbers():
    model = GraphNetwork(0, 2, dim=8, num_nodes=5)
    assert model(torch.arange(5), PATH).shape == (5, 2)
    with pytest.raises(ValueError, match="expected numbers of the nodes"):
        model(torch.randn(5, 6), PATH)
    with pytest.raises(ValueError, match="give num_nodes"):
        GraphNetwork(0, 2)


def _dense_adjacency():
    dense = torch.eye(5)
    dense[PATH[1], PATH[0]] = 1.0
    return dense


def test_layers_against_dense_formulas():
    manifold, adjacency = Lorentz(-0.8), _dense_adjacency()
    points = manifold.random_normal(5, 4)
    distance = manifold.cdist(points, points)
    square = manifold.csqdist(points, points)
    tangent = manifold.logmap0(points)[:, 1:]
    graph = torch.cat((PATH, torch.arange(5).expand(2, 5)), dim=1)

    hgcn = HGCN(3, manifold=manifold, dim=4)
    expected = hgcn.lift(adjacency / adjacency.sum(1, keepdim=True) @ tangent)
    torch.testing.assert_close(hgcn.aggregate(points, hgcn.prepare(graph, 5, torch.float32)), expected)

    weight = (-distance).masked_fill(adjacency == 0, -torch.inf).softmax(1)
    hat = HAT(3, manifold=manifold, dim=4)
    prepared = hat.prepare(graph, 5, torch.float32)
    torch.testing.assert_close(hat.aggregate(points, prepared), hgcn.lift(weight @ tangent), rtol=1e-3, atol=1e-3)

    weight = (-square).masked_fill(adjacency == 0, -torch.inf).softmax(1)
    lgcn = LGCN(3, manifold=manifold, dim=4)
    prepared = lgcn.prepare(graph, 5, torch.float32)
    torch.testing.assert_close(lgcn.aggregate(points, prepared), manifold.to_sheet(weight @ points))


@pytest.mark.parametrize("kind", [LGCN, HAT])
def test_gradients_of_attention_do_not_depend_on_the_kernel(kind, monkeypatch):
    model = kind(3, dim=4)
    graph = model.prepare(torch.cat((PATH, torch.arange(5).expand(2, 5)), dim=1), 5, torch.float64)
    x = model.manifold.random_normal(5, 4).double().requires_grad_()

    def gradient():
        return torch.autograd.grad(model.aggregate(model.manifold.to_sheet(x), graph)[:, 1:].sum(), x)[0]

    asked = []
    monkeypatch.setattr(tangent_graphs, "are_sampled", lambda points: asked.append(are_sampled(points)) or asked[-1])
    sampled = gradient()
    assert asked == [True]
    monkeypatch.setattr(tangent_graphs, "are_sampled", lambda points: False)
    torch.testing.assert_close(sampled, gradient())


def test_gcn_is_pytorch_geometrics():
    assert isinstance(built("GCN").layers[0], GCNConv)


def test_tangent_variant_differs_in_the_linear_map_alone():
    model, x = built("hybonet-tangent"), torch.randn(5, 6)
    conv = LorentzGraphConv(16, 16)
    points = model.lift(x)
    for layer in model.layers:
        conv.lin = layer.lin
        points = conv(points, PATH)
    torch.testing.assert_close(model.encode(x, PATH), points)


def test_first_map_starts_as_wide_as_the_others():
    wide = GraphNetwork(1000, 2)
    assert float(wide.layers[0].lin.weight.detach().abs().max()) == pytest.approx(0.25, rel=0.01)
    assert float(wide.layers[1].lin.weight.detach().abs().max()) == pytest.approx(0.25, rel=0.05)


def test_network_trains_in_bfloat16():
    graph = load_graph("disease-small")
    model = GraphNetwork(11, 2)
    with torch.autocast("cpu", torch.bfloat16):
        loss = model(graph.features, graph.edge_index()).square().mean()
    loss.backward()
    assert bool(model.layers[0].lin.weight.grad.isfinite().all())


def test_a_network_that_is_none_is_refused():
    with pytest.raises(ValueError, match="expected a layer of convolution, attention, tangent, got 'conv'"):
        GraphNetwork(5, layer="conv")
    with pytest.raises(ValueError, match="expected at least one layer, got layers=0"):
        GraphNetwork(5, layers=0)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_links_has_no_classes(name):
    model = build_graph_model(GraphSettings(model=name), num_features=6, num_classes=0)
    with pytest.raises(ValueError, match="expected a model of classes, got one of links; build it with num_classes"):
        model(torch.randn(4, 6), PATH)
