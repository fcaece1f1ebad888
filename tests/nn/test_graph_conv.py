"""The graph convolution: against a loop over nodes, in all forms of graphs, and its laws."""

import copy
import io
import subprocess
import sys

import pytest
import torch

from hybonet import Lorentz
from hybonet.geometry import centroid, random_boost, random_rotation, transform

from . import plain
from .graphs import EDGES, NODES, edge_weights, matrices, neighbours

pytest.importorskip("torch_geometric")

from torch_geometric import EdgeIndex
from torch_geometric.data import Batch, Data
from torch_geometric.nn import MessagePassing, Sequential

from hybonet.nn import LorentzGraphConv, LorentzLinear


def points(manifold, dtype=torch.float64, count=NODES, size=5):
    return plain.points(manifold, count, size, dtype=dtype)


def in_a_loop(conv, x, edge_index, weight=None):
    """The definition: for each node, the centroid of its neighbours' images."""
    h = conv.lin(x)
    rows = []
    for node in range(len(x)):
        found = neighbours(edge_index, weight, node, conv.add_self_loops)
        if found:
            sources, shares = zip(*found, strict=True)
            shares = torch.stack([s.to(x.dtype) for s in shares])
            rows.append(centroid(h[list(sources)], shares, K=conv.manifold.K))
        else:
            rows.append(conv.manifold.origin(h.shape[1], dtype=x.dtype))
    return torch.stack(rows)


class TestDefinition:
    @pytest.mark.parametrize("loops", [True, False])
    @pytest.mark.parametrize("weighted", [True, False])
    def test_is_the_centroid_of_the_neighbours(self, manifold, dtype, loops, weighted):
        conv = LorentzGraphConv(5, 4, add_self_loops=loops, manifold=manifold, dtype=dtype, scale=2.0)
        x = points(manifold, dtype).requires_grad_()
        weight = edge_weights(dtype) if weighted else None
        out = conv(x, EDGES, weight)
        plain.assert_on_sheet(out, manifold.K)
        plain.assert_same(out, in_a_loop(conv, x, EDGES, weight), [x, *conv.parameters()], dtype)

    @pytest.mark.parametrize("form", ["COO", "CSR", "CSC", "SparseTensor"])
    @pytest.mark.parametrize("loops", [True, False])
    @pytest.mark.parametrize("cached", [True, False])
    def test_every_form_of_a_graph_gives_the_same(self, manifold, dtype, form, loops, cached):
        weight = edge_weights(dtype)
        forms = matrices(EDGES, weight, (NODES, NODES))
        if form not in forms:
            pytest.skip("torch_sparse is not installed")
        conv = LorentzGraphConv(5, 4, loops, cached, manifold=manifold, dtype=dtype, scale=2.0)
        x = points(manifold, dtype).requires_grad_()
        got = conv(x, forms[form])
        conv.cached, conv._cached_graph = False, None
        plain.assert_same(got, conv(x, EDGES, weight), [x, *conv.parameters()], dtype)

    def test_the_way_by_messages_gives_the_same(self, manifold, dtype):
        """PyG's own gather and scatter, which trained weights, hooks, explanations and the compiler need."""
        conv = LorentzGraphConv(5, 4, manifold=manifold, dtype=dtype, scale=2.0)
        x, weight = points(manifold, dtype).requires_grad_(), edge_weights(dtype)
        expected = conv(x, EDGES, weight)
        seen = []
        conv.register_message_forward_hook(lambda module, inputs, out: seen.append(len(out)))
        plain.assert_same(conv(x, EDGES, weight), expected, [x, *conv.parameters()], dtype)
        assert seen == [EDGES.shape[1]]

    def test_trained_weights(self, manifold):
        conv = LorentzGraphConv(5, 4, manifold=manifold, dtype=torch.float64, scale=2.0)
        x, weight = points(manifold), edge_weights(torch.float64).requires_grad_()
        expected = in_a_loop(conv, x, EDGES, weight)
        plain.assert_same(conv(x, EDGES, weight), expected, [weight], torch.float64)

    def test_trained_values_of_a_matrix(self, manifold):
        conv = LorentzGraphConv(5, 4, manifold=manifold, dtype=torch.float64, scale=2.0)
        x, weight = points(manifold), edge_weights(torch.float64).requires_grad_()
        matrix = torch.sparse_coo_tensor(EDGES.flip(0), weight, (NODES, NODES)).coalesce()
        plain.assert_same(conv(x, matrix), conv(x, EDGES, weight), [weight], torch.float64)

    @pytest.mark.parametrize("form", ["pure", "paper"])
    def test_options_reach_the_linear_layer(self, form):
        conv = LorentzGraphConv(5, 4, bias=False, activation="relu", dropout=0.3, linear={"form": form})
        assert conv.lin.form == form
        assert conv.lin.bias is None
        assert conv.lin.dropout == 0.3
        assert conv.lin.activation is torch.relu
        assert LorentzGraphConv(5, 4, scale=3.0).lin.scale.item() == pytest.approx(3.0)

    def test_gradients(self, manifold):
        conv = LorentzGraphConv(4, 3, manifold=manifold, dtype=torch.float64, scale=2.0)
        x = points(manifold, size=4).requires_grad_()
        assert torch.autograd.gradcheck(lambda x: conv(x, EDGES), x)
        assert torch.autograd.gradgradcheck(lambda x: conv(x, EDGES), x)
        weight = edge_weights(torch.float64).requires_grad_()
        assert torch.autograd.gradcheck(lambda w: conv(x.detach(), EDGES, w), weight)


class TestLaws:
    def test_new_names_for_the_nodes(self, manifold, dtype):
        conv = LorentzGraphConv(5, 4, manifold=manifold, dtype=dtype)
        x, order = points(manifold, dtype), torch.randperm(NODES)
        renamed = order.argsort()[EDGES]
        torch.testing.assert_close(conv(x[order], renamed), conv(x, EDGES)[order], **plain.tolerance(dtype))

    def test_a_factor_of_a_row_changes_nothing(self, manifold, dtype):
        conv = LorentzGraphConv(5, 4, add_self_loops=False, manifold=manifold, dtype=dtype)
        x, weight = points(manifold, dtype), edge_weights(dtype)
        factor = 10.0 ** torch.linspace(-3, 3, NODES, dtype=dtype)
        scaled = conv(x, EDGES, weight * factor[EDGES[1]])
        torch.testing.assert_close(scaled, conv(x, EDGES, weight), **plain.tolerance(dtype))

    def test_transformations_go_through_with_the_identity_for_a_map(self, manifold):
        """The centroid is equivariant (the linear layer is not): with y_s = x_s the whole layer is."""
        conv = LorentzGraphConv(5, 5, bias=False, manifold=manifold, dtype=torch.float64, linear={"form": "pure"})
        with torch.no_grad():
            conv.lin.weight.copy_(torch.eye(5)[1:])
        x, weight = points(manifold), edge_weights(torch.float64)
        for matrix in (random_boost(4, dtype=torch.float64), random_rotation(4, dtype=torch.float64)):
            moved = conv(transform(matrix, x), EDGES, weight)[:6]
            torch.testing.assert_close(moved, transform(matrix, conv(x, EDGES, weight))[:6])

    def test_node_without_neighbours_is_the_origin(self, manifold, dtype):
        conv = LorentzGraphConv(5, 4, add_self_loops=False, manifold=manifold, dtype=dtype)
        x = points(manifold, dtype).requires_grad_()
        none = torch.empty(2, 0, dtype=torch.long)
        for graph in (EDGES, matrices(EDGES, edge_weights(dtype), (NODES, NODES))["CSR"], none):
            out = conv(x, graph)
            torch.testing.assert_close(out[5:], manifold.origin(2, 4, dtype=dtype))
            gradients = plain.gradients((out * torch.randn_like(out)).sum(), [x, *conv.parameters()])
            assert all(bool(g.isfinite().all()) for g in gradients)
            assert bool((gradients[0][6] == 0).all())

    def test_a_batch_of_graphs_is_each_by_itself(self, manifold):
        conv = LorentzGraphConv(5, 4, manifold=manifold, dtype=torch.float64)
        graphs = [Data(x=points(manifold, count=n), edge_index=EDGES) for n in (NODES, NODES + 2)]
        batch = Batch.from_data_list(graphs)
        expected = torch.cat([conv(g.x, g.edge_index) for g in graphs])
        torch.testing.assert_close(conv(batch.x, batch.edge_index), expected)


class TestTwoSides:
    def test_targets_that_are_the_first_sources(self, manifold, dtype):
        """What a loader of sub-graphs gives: the nodes that are wanted come first."""
        conv = LorentzGraphConv(5, 4, manifold=manifold, dtype=dtype)
        x, wanted = points(manifold, dtype), 4
        kept = EDGES[:, EDGES[1] < wanted]
        expected = conv(x, EDGES)[:wanted]
        matrix = matrices(kept, torch.ones(kept.shape[1], dtype=dtype), (NODES, wanted))["CSR"]
        for got in (
            conv((x, x[:wanted]), kept),
            conv((x, None), kept, size=(NODES, wanted)),
            conv((x, x[:wanted]), matrix),
            conv((x, None), matrix),
        ):
            torch.testing.assert_close(got, expected, **plain.tolerance(dtype))

    def test_two_layers_on_a_trimmed_graph(self, manifold):
        """Edges by hops, as a loader orders them: the outer hop is dropped after the first layer."""
        first, second = (LorentzGraphConv(5, 5, manifold=manifold, dtype=torch.float64) for _ in range(2))
        x = points(manifold)
        inner, outer = torch.tensor([[1, 2], [0, 0]]), torch.tensor([[3, 4, 5, 6, 0], [1, 1, 2, 2, 2]])
        whole = torch.cat((inner, outer), dim=1)
        expected = second(first(x, whole), whole)[0]
        h = first((x, x[:3]), whole)
        torch.testing.assert_close(second((h, h[:1]), inner)[0], expected)

    def test_two_kinds_of_nodes(self, manifold, dtype):
        conv = LorentzGraphConv((5, 6), 4, manifold=manifold, dtype=dtype, scale=2.0)
        source, target = points(manifold, dtype), points(manifold, dtype, 3, 6)
        edges = torch.tensor([[0, 1, 6], [0, 0, 2]])
        h, own = conv.lin(source), conv.lin_dst(target)
        expected = torch.stack(
            [
                centroid(torch.stack((h[0], h[1], own[0])), K=manifold.K),
                own[1],
                centroid(torch.stack((h[6], own[2])), K=manifold.K),
            ]
        )
        torch.testing.assert_close(conv((source, target), edges), expected, **plain.tolerance(dtype))
        without = conv((source, None), edges, size=(NODES, 3))
        torch.testing.assert_close(without[1], manifold.origin(4, dtype=dtype))
        torch.testing.assert_close(without[2], h[6], **plain.tolerance(dtype))


class TestLazySizes:
    def test_taken_from_the_first_input(self, manifold):
        conv, x = LorentzGraphConv(-1, 4, manifold=manifold), points(manifold, torch.float32)
        assert repr(conv) == "LorentzGraphConv(-1, 4)"
        conv.reset_parameters()
        assert conv(x, EDGES).shape == (NODES, 4)
        assert type(conv.lin) is LorentzLinear
        assert conv.lin.in_features == 5
        assert conv.lin.weight[:, 1:].abs().max() <= 5**-0.5
        with pytest.raises(ValueError, match="expected input with 5 ambient coordinates"):
            conv(x[:, :4], EDGES)

    def test_of_pairs(self, manifold):
        conv = LorentzGraphConv((-1, -1), 4, manifold=manifold)
        conv((points(manifold, torch.float32), points(manifold, torch.float32, 5, 3)), EDGES)
        assert (conv.lin.in_features, conv.lin_dst.in_features) == (5, 3)

    def test_loaded_before_the_first_input(self):
        trained, lazy = LorentzGraphConv(5, 4), LorentzGraphConv(-1, 4)
        lazy.load_state_dict(trained.state_dict())
        x = points(Lorentz(), torch.float32)
        assert torch.equal(lazy(x, EDGES), trained(x, EDGES))
        again = LorentzGraphConv(5, 4)
        again.load_state_dict(lazy.state_dict())
        assert torch.equal(again(x, EDGES), trained(x, EDGES))


class TestTools:
    def test_is_one_of_pygs_own(self):
        conv = LorentzGraphConv(16, 32)
        assert isinstance(conv, MessagePassing)
        assert repr(conv) == "LorentzGraphConv(16, 32)"
        model = Sequential("x, edge_index", [(LorentzGraphConv(5, 4), "x, edge_index -> x"), LorentzLinear(4, 3)])
        assert model(points(Lorentz(), torch.float32), EDGES).shape == (NODES, 3)

    def test_cached_graph_is_kept_until_reset(self):
        conv, x = LorentzGraphConv(5, 4, cached=True), points(Lorentz(), torch.float32)
        out = conv(x, EDGES)
        assert torch.equal(conv(x, EDGES[:, :2]), out)
        assert torch.equal(copy.deepcopy(conv)(x, EDGES), out)
        conv.reset_parameters()
        assert conv._cached_graph is None

    def test_survives_pickling(self):
        conv, x = LorentzGraphConv(5, 4), points(Lorentz(), torch.float32)
        buffer = io.BytesIO()
        torch.save(conv, buffer)
        buffer.seek(0)
        assert torch.equal(torch.load(buffer, weights_only=False)(x, EDGES), conv(x, EDGES))

    def test_explanations_weigh_edges(self):
        conv, x = LorentzGraphConv(5, 4, add_self_loops=False), points(Lorentz(), torch.float32)
        weight = edge_weights(torch.float32)
        expected = conv(x, EDGES, weight)
        conv.explain = True
        conv._edge_mask, conv._apply_sigmoid = weight, False
        torch.testing.assert_close(conv(x, EDGES), expected, rtol=1e-4, atol=1e-5)

    def test_half_precision_sums_many_neighbours(self):
        """10,000 neighbours: a bfloat16 sum would stop growing at 256."""
        conv = LorentzGraphConv(5, 4, add_self_loops=False, scale=2.0)
        x = points(Lorentz(), torch.float32, 10_000)
        edges = torch.stack((torch.arange(10_000), torch.zeros(10_000, dtype=torch.long)))
        expected = conv(x, edges)[0]
        got = conv.bfloat16()(x.bfloat16(), edges)[0]
        assert got.dtype == torch.bfloat16
        torch.testing.assert_close(got.float(), expected, rtol=0.05, atol=0.05)

    def test_other_tensors_of_indices(self):
        conv, x = LorentzGraphConv(5, 4), points(Lorentz(), torch.float32)
        assert torch.equal(conv(x, EdgeIndex(EDGES, sparse_size=(NODES, NODES))), conv(x, EDGES))
        assert torch.equal(conv(x, EDGES.int()), conv(x, EDGES))

    def test_without_torch_geometric_the_remedy_is_named(self):
        code = (
            "import sys; sys.modules['torch_geometric'] = None\n"
            "import importlib.util as u; find = u.find_spec\n"
            "u.find_spec = lambda name, *a: None if name == 'torch_geometric' else find(name, *a)\n"
            "from hybonet.nn import *\n"
            "import hybonet.nn\n"
            "assert 'LorentzGraphConv' not in hybonet.nn.__all__ and LorentzLinear\n"
            "from hybonet.nn import LorentzGraphConv"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert "ImportError: LorentzGraphConv needs torch_geometric: pip install 'hybonet[graph]'" in done.stderr
        with pytest.raises(ImportError, match="LorentzGrafConv"):
            from hybonet.nn import LorentzGrafConv  # noqa: F401


MISTAKES = {
    "coordinates": (lambda c, x: c(x[:, :4], EDGES), "expected input with 5 ambient coordinates"),
    "shape of points": (lambda c, x: c(x[None], EDGES), "expected source points of shape (nodes, ambient coordinates)"),
    "floats": (lambda c, x: c(x, EDGES.float()), "expected edge_index of integers, got torch.float32"),
    "dense matrix": (lambda c, x: c(x, torch.eye(NODES)), "is passed as adj.t().to_sparse_csr()"),
    "pairs": (lambda c, x: c(x, EDGES.t()), "sources above targets, got (9, 2); transpose it with .t()"),
    "one row": (lambda c, x: c(x, EDGES[0]), "expected edge_index of shape (2, edges)"),
    "a list": (lambda c, x: c(x, [[0], [1]]), "a (2, edges) tensor or a sparse adj_t, got list"),
    "negative": (
        lambda c, x: c(x, EDGES - 1),
        "expected sources in edge_index between 0 and 6, one for each of 7 nodes, got -1",
    ),
    "too large": (lambda c, x: c(x[:6], torch.tensor([[0], [6]])), "expected targets in edge_index between 0 and 5"),
    "weights": (lambda c, x: c(x, EDGES, torch.ones(3)), "expected one edge_weight an edge, (9,), got (3,)"),
    "weights twice": (
        lambda c, x: c(x, torch.eye(NODES).to_sparse(), torch.ones(NODES)),
        "expected no edge_weight beside a sparse adj_t",
    ),
    "nodes": (
        lambda c, x: c(x[:6], torch.eye(NODES).to_sparse_csr()),
        "expected 7 source and 7 target points, as many as the graph has, got 6",
    ),
    "in_channels": (lambda c, x: LorentzGraphConv(1, 4), "expected in_channels of at least 2"),
    "negative weight": (
        lambda c, x: LorentzGraphConv(5, 4, manifold=Lorentz(check=True))(x, EDGES, -torch.ones(9)),
        "expected edge weights of zero or more, got -1",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_explained(name):
    call, message = MISTAKES[name]
    with pytest.raises(ValueError, match=r"\w") as caught:
        call(LorentzGraphConv(5, 4), points(Lorentz(), torch.float32))
    assert message in str(caught.value)
