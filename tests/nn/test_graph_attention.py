"""Attention over neighbours: against a loop over nodes, in all forms of graphs, and its laws."""

import pytest
import torch

from hybonet import Lorentz
from hybonet.geometry import centroid, random_boost, random_rotation, sqdist, transform

from . import plain
from .graphs import EDGES, NODES, edge_weights, matrices, neighbours

pytest.importorskip("torch_geometric")

from torch_geometric.nn import MessagePassing

from hybonet.nn import LorentzGraphAttention, LorentzMultiheadAttention


def points(manifold, dtype=torch.float64, count=NODES, size=6):
    return plain.points(manifold, count, size, dtype=dtype)


def in_a_loop(layer, x, edge_index, weight=None):
    """The definition: for each node and head, the centroid of the values by softmax over squared distances."""
    q, k, v, K = layer.q_proj(x), layer.k_proj(x), layer.v_proj(x), layer.manifold.K
    rows = []
    for node in range(len(x)):
        found = neighbours(edge_index, weight, node, layer.add_self_loops)
        heads = []
        for head in range(layer.heads):
            if not found:
                heads.append(layer.manifold.origin(v.shape[-1], dtype=x.dtype))
                continue
            sources, shares = [s for s, _ in found], torch.stack([w.to(x.dtype) for _, w in found])
            square = sqdist(q[node, head], k[sources, head], K=K).flatten()
            nu = torch.softmax(-square / q.shape[-1] ** 0.5, dim=0) * shares
            heads.append(centroid(v[sources, head], nu, K=K))
        rows.append(torch.stack(heads))
    out = torch.stack(rows)
    if not layer.concat:
        return centroid(out, K=K)
    return out.flatten(-2) if layer.out_proj is None else layer.out_proj(out.flatten(-2))


class TestDefinition:
    @pytest.mark.parametrize("loops", [True, False])
    @pytest.mark.parametrize(("heads", "concat"), [(1, True), (2, True), (2, False)])
    @pytest.mark.parametrize("weighted", [True, False])
    def test_is_the_centroid_by_softmax_of_distances(self, manifold, dtype, loops, heads, concat, weighted):
        layer = LorentzGraphAttention(6, 4, heads, concat, loops, manifold=manifold, dtype=dtype, scale=1.0)
        x = points(manifold, dtype).requires_grad_()
        weight = edge_weights(dtype) if weighted else None
        out = layer(x, EDGES, weight)
        assert out.shape == (NODES, 4)
        plain.assert_on_sheet(out, manifold.K)
        plain.assert_same(out, in_a_loop(layer, x, EDGES, weight), [x, *layer.parameters()], dtype)

    @pytest.mark.parametrize("form", ["COO", "CSR", "CSC", "SparseTensor"])
    @pytest.mark.parametrize("loops", [True, False])
    def test_every_form_of_a_graph_gives_the_same(self, manifold, dtype, form, loops):
        # Of a repeated edge a matrix keeps the sum of the weights, which is what two edges do.
        weight = edge_weights(dtype)
        forms = matrices(EDGES, weight, (NODES, NODES))
        if form not in forms:
            pytest.skip("torch_sparse is not installed")
        layer = LorentzGraphAttention(6, 4, 2, add_self_loops=loops, manifold=manifold, dtype=dtype, scale=1.0)
        x = points(manifold, dtype).requires_grad_()
        plain.assert_same(layer(x, forms[form]), layer(x, EDGES, weight), [x, *layer.parameters()], dtype)

    @pytest.mark.parametrize("weighted", [True, False])
    def test_the_way_by_messages_gives_the_same(self, manifold, dtype, weighted):
        """PyG's own gather and scatter, which trained weights, hooks, explanations and the compiler need."""
        layer = LorentzGraphAttention(6, 4, 2, manifold=manifold, dtype=dtype, scale=1.0)
        x, weight = points(manifold, dtype).requires_grad_(), edge_weights(dtype) if weighted else None
        expected = layer(x, EDGES, weight)
        seen = []
        layer.register_message_forward_hook(lambda module, inputs, out: seen.append(len(out)))
        plain.assert_same(layer(x, EDGES, weight), expected, [x, *layer.parameters()], dtype)
        assert seen == [EDGES.shape[1] + NODES]

    def test_more_edges_than_pairs(self, manifold):
        layer = LorentzGraphAttention(6, 4, 2, manifold=manifold, dtype=torch.float64, scale=1.0)
        x, edges = points(manifold, count=2).requires_grad_(), torch.tensor([[0, 1, 0, 0, 0], [1, 0, 1, 1, 1]])
        plain.assert_same(layer(x, edges), in_a_loop(layer, x, edges), [x], torch.float64)

    def test_the_whole_graph_is_multihead_attention(self, manifold, dtype):
        """Where everybody is everybody's neighbour, it is the attention of sequences."""
        graph = LorentzGraphAttention(6, 6, 3, manifold=manifold, dtype=dtype, scale=2.0)
        sequence = LorentzMultiheadAttention(6, 3, manifold=manifold, dtype=dtype, form="paper", linear={"scale": 2.0})
        sequence.load_state_dict(graph.state_dict())
        x = points(manifold, dtype)
        everybody = torch.cartesian_prod(torch.arange(NODES), torch.arange(NODES)).T
        torch.testing.assert_close(graph(x, everybody), sequence(x)[0], **plain.tolerance(dtype))

    def test_gradients(self, manifold):
        layer = LorentzGraphAttention(4, 4, 2, manifold=manifold, dtype=torch.float64, scale=1.0)
        x = points(manifold, size=4).requires_grad_()
        weight = edge_weights(torch.float64).requires_grad_()
        assert torch.autograd.gradcheck(lambda x, w: layer(x, EDGES, w), (x, weight))
        assert torch.autograd.gradcheck(lambda x: layer(x, EDGES, weight.detach()), x)

    def test_gradients_by_messages(self, manifold):
        """Of every neighbour, the nearest too, whose logit is the largest of all."""
        layer = LorentzGraphAttention(4, 4, 2, manifold=manifold, dtype=torch.float64, scale=1.0)
        layer.register_message_forward_hook(lambda module, inputs, out: None)
        x = points(manifold, size=4).requires_grad_()
        assert torch.autograd.gradcheck(lambda x: layer(x, EDGES), x)

    def test_zero_weight_is_no_edge(self, manifold):
        """Even if it would have had the largest share by far."""
        layer = LorentzGraphAttention(6, 4, manifold=manifold, dtype=torch.float64, scale=50.0)
        x, weight = points(manifold), edge_weights(torch.float64)
        for dropped in range(EDGES.shape[1]):
            if EDGES[0, dropped] == EDGES[1, dropped]:
                continue
            kept = torch.arange(EDGES.shape[1]) != dropped
            expected = layer(x, EDGES[:, kept], weight[kept])
            torch.testing.assert_close(layer(x, EDGES, weight * kept), expected)

    def test_dropout_takes_edges_away_in_training_only(self):
        layer = LorentzGraphAttention(6, 4, attention_dropout=1.0)
        x = points(Lorentz(), torch.float32)
        torch.testing.assert_close(layer(x, EDGES), layer.manifold.origin(NODES, 4))
        assert (layer.eval()(x, EDGES)[:, 1:].abs().sum(-1) > 0).all()
        layer.attention_dropout = 0.5
        assert torch.equal(layer(x, EDGES), layer(x, EDGES))
        assert not torch.equal(layer.train()(x, EDGES), layer(x, EDGES))


class TestLaws:
    def test_new_names_for_the_nodes(self, manifold, dtype):
        layer = LorentzGraphAttention(6, 4, 2, manifold=manifold, dtype=dtype, scale=2.0)
        x, order = points(manifold, dtype), torch.randperm(NODES)
        renamed = order.argsort()[EDGES]
        torch.testing.assert_close(layer(x[order], renamed), layer(x, EDGES)[order], **plain.tolerance(dtype))

    def test_a_factor_of_a_row_changes_nothing(self, manifold, dtype):
        layer = LorentzGraphAttention(6, 4, add_self_loops=False, manifold=manifold, dtype=dtype, scale=2.0)
        x, weight = points(manifold, dtype), edge_weights(dtype)
        factor = 10.0 ** torch.linspace(-3, 3, NODES, dtype=dtype)
        scaled = layer(x, EDGES, weight * factor[EDGES[1]])
        torch.testing.assert_close(scaled, layer(x, EDGES, weight), **plain.tolerance(dtype))

    def test_transformations_go_through_with_the_identity_for_maps(self, manifold):
        """Distances are invariant and the centroid is equivariant: with q = k = v = x the whole layer is."""
        layer = LorentzGraphAttention(5, 5, manifold=manifold, dtype=torch.float64)
        for name in ("q_proj", "k_proj", "v_proj"):
            setattr(layer, name, OnePoint())
        x = points(manifold, size=5)
        for matrix in (random_boost(4, dtype=torch.float64), random_rotation(4, dtype=torch.float64)):
            moved = layer(transform(matrix, x), EDGES)
            torch.testing.assert_close(moved, transform(matrix, layer(x, EDGES)))

    def test_node_without_neighbours_is_the_origin(self, manifold, dtype):
        layer = LorentzGraphAttention(6, 4, add_self_loops=False, manifold=manifold, dtype=dtype)
        x = points(manifold, dtype).requires_grad_()
        for graph in (EDGES, EDGES[:, :0]):
            out = layer(x, graph)
            torch.testing.assert_close(out[5:], manifold.origin(2, 4, dtype=dtype))
            gradients = plain.gradients((out * torch.randn_like(out)).sum(), [x, *layer.parameters()])
            assert all(bool(g.isfinite().all()) for g in gradients)
        weight = torch.zeros(EDGES.shape[1], dtype=dtype, requires_grad=True)
        out = layer(x, EDGES, weight)
        torch.testing.assert_close(out, manifold.origin(NODES, 4, dtype=dtype))
        assert all(bool(g.isfinite().all()) for g in plain.gradients(out.sum(), [x, weight]))


class OnePoint(torch.nn.Module):
    def forward(self, x):
        return x.unsqueeze(-2)


class TestTwoSides:
    def test_targets_that_are_the_first_sources(self, manifold, dtype):
        layer = LorentzGraphAttention(6, 4, 2, manifold=manifold, dtype=dtype, scale=2.0)
        x, wanted = points(manifold, dtype), 4
        kept = EDGES[:, EDGES[1] < wanted]
        expected = layer(x, EDGES)[:wanted]
        matrix = matrices(kept, torch.ones(kept.shape[1], dtype=dtype), (NODES, wanted))["CSR"]
        for got in (
            layer((x, x[:wanted]), kept),
            layer((x, None), kept, size=(NODES, wanted)),
            layer((x, x[:wanted]), matrix),
            layer((x, None), matrix),
        ):
            torch.testing.assert_close(got, expected, **plain.tolerance(dtype))

    def test_two_kinds_of_nodes(self, manifold, dtype):
        layer = LorentzGraphAttention((6, 3), 4, manifold=manifold, dtype=dtype, scale=2.0)
        source, target = points(manifold, dtype), points(manifold, dtype, 3, 3)
        edges = torch.tensor([[0, 1, 6], [0, 0, 2]])
        out = layer((source, target), edges)
        torch.testing.assert_close(out[1], layer.v_dst(target)[1, 0], **plain.tolerance(dtype))
        k = torch.cat((layer.k_proj(source)[:2, 0], layer.k_dst(target)[:1, 0]))
        v = torch.cat((layer.v_proj(source)[:2, 0], layer.v_dst(target)[:1, 0]))
        square = sqdist(layer.q_proj(target)[0, 0], k, K=manifold.K).flatten()
        expected = centroid(v, torch.softmax(-square / 2.0, 0), K=manifold.K)
        torch.testing.assert_close(out[0], expected, **plain.tolerance(dtype))
        with pytest.raises(ValueError, match="expected the points of 3 targets"):
            layer((source, None), edges, size=(NODES, 3))

    def test_lazy_sizes(self, manifold):
        layer = LorentzGraphAttention((-1, -1), 4, 2, manifold=manifold)
        layer((points(manifold, torch.float32), points(manifold, torch.float32, 5, 3)), EDGES)
        sizes = [p.in_features for p in (layer.q_proj, layer.k_proj, layer.v_proj, layer.k_dst, layer.v_dst)]
        assert sizes == [3, 6, 6, 3, 3]
        one_kind = LorentzGraphAttention(-1, 4, 2, manifold=manifold)
        assert one_kind(points(manifold, torch.float32), EDGES).shape == (NODES, 4)


def test_is_one_of_pygs_own():
    layer = LorentzGraphAttention(16, 32, heads=4)
    assert isinstance(layer, MessagePassing)
    assert repr(layer) == "LorentzGraphAttention(16, 32, heads=4)"
    before = layer.q_proj.weight.clone()
    layer.reset_parameters()
    assert not torch.equal(before, layer.q_proj.weight)


MISTAKES = {
    "heads": (
        lambda: LorentzGraphAttention(6, 4, 3),
        "expected out_channels (4) to be a multiple of heads, got heads=3",
    ),
    "dropout": (lambda: LorentzGraphAttention(6, 4, attention_dropout=2.0), "probability between 0 and 1, got 2.0"),
    "coordinates": (
        lambda: LorentzGraphAttention(6, 4)(points(Lorentz(), torch.float32, size=5), EDGES),
        "expected input with 6 ambient coordinates",
    ),
    "indices": (
        lambda: LorentzGraphAttention(6, 4)(points(Lorentz(), torch.float32), EDGES + 3),
        "expected sources in edge_index between 0 and 6, one for each of 7 nodes, got 8",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_explained(name):
    call, message = MISTAKES[name]
    with pytest.raises(ValueError, match=r"\w") as caught:
        call()
    assert message in str(caught.value)
