"""PyTorch's other tools: export, deepcopy, state dicts, functional calls."""

import copy
import io

import pytest
import torch
from safetensors.torch import load_file, load_model, save_file, save_model
from torch import nn

import hybonet.nn
from hybonet import Lorentz
from hybonet.nn import (
    LorentzCentroidPooling,
    LorentzDistanceHead,
    LorentzEmbedding,
    LorentzFeedForward,
    LorentzLinear,
    LorentzModule,
    LorentzPositionalEncoding,
    LorentzTransformer,
    LorentzTransformerEncoderLayer,
)

from .catalogue import LAYERS, D, K, first, points


class TestExport:
    @pytest.mark.parametrize("masked", [False, True])
    def test_encoder_with_any_batch_and_length(self, masked):
        build, _ = LAYERS["LorentzTransformerEncoder"]
        encoder = build(Lorentz(K)).eval()
        batch, length = torch.export.Dim("batch", min=2, max=64), torch.export.Dim("length", min=2, max=64)
        mask = torch.zeros(3, 6, dtype=torch.bool) if masked else None
        shapes = {
            "src": {0: batch, 1: length},
            "mask": None,
            "src_key_padding_mask": {0: batch, 1: length} if masked else None,
        }
        program = torch.export.export(encoder, (points(3, 6), None, mask), dynamic_shapes=shapes)
        for size in ((3, 6), (5, 9), (2, 4)):
            x = points(*size)
            mask = torch.rand(size) < 0.3 if masked else None
            with torch.no_grad():
                torch.testing.assert_close(program.module()(x, None, mask), encoder(x, None, mask))

    def test_whole_classifier_through_a_file(self, tmp_path):
        manifold = Lorentz(K)
        model = nn.Sequential(
            LorentzEmbedding(11, D, manifold=manifold),
            LorentzPositionalEncoding(D, 16, manifold=manifold),
            LorentzTransformerEncoderLayer(D, 2, 12, manifold=manifold),
            LorentzCentroidPooling(manifold),
            LorentzDistanceHead(D, 3, manifold=manifold),
        ).eval()
        index = torch.randint(11, (2, 7))
        program = torch.export.export(model, (index,), dynamic_shapes=({0: torch.export.Dim("batch", min=2)},))
        torch.export.save(program, tmp_path / "model.pt2")
        again = torch.export.load(tmp_path / "model.pt2").module()
        index = torch.randint(11, (5, 7))
        with torch.no_grad():
            torch.testing.assert_close(again(index), model(index))

    @pytest.mark.parametrize("loops", [False, True])
    @pytest.mark.parametrize("name", ["LorentzGraphConv", "LorentzGraphAttention"])
    def test_graph_layers_with_any_graph(self, name, loops):
        pytest.importorskip("torch_geometric")
        layer = getattr(hybonet.nn, name)(D, 6, add_self_loops=loops, manifold=Lorentz(K)).eval()
        shapes = {"x": {0: torch.export.Dim("nodes", min=2)}, "edge_index": {1: torch.export.Dim("edges", min=2)}}
        program = torch.export.export(layer, (points(4), torch.randint(4, (2, 9))), dynamic_shapes=shapes)
        x, edge_index = points(7), torch.randint(7, (2, 20))
        with torch.no_grad():
            torch.testing.assert_close(program.module()(x, edge_index), layer(x, edge_index), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("learnable", [False, True], ids=["fixed K", "learned K"])
@pytest.mark.parametrize("name", LAYERS)
def test_deepcopy_is_equal_and_independent(name, learnable):
    build, make_inputs = LAYERS[name]
    layer = build(Lorentz(K, learnable=learnable))
    twin, inputs = copy.deepcopy(layer), make_inputs()
    assert torch.equal(first(twin(*inputs)), first(layer(*inputs)))
    for module in twin.modules():
        if isinstance(module, LorentzModule):
            assert module.manifold is twin.manifold
            assert module.manifold is not layer.manifold
            for parameter in module.manifold_parameters:
                assert getattr(module, parameter).manifold is twin.manifold
    assert not {id(p) for p in layer.parameters()} & {id(p) for p in twin.parameters()}


def model(manifold):
    return nn.ModuleDict(
        {
            "table": LorentzEmbedding(9, D, form="paper", manifold=manifold),
            "transformer": LorentzTransformer(D, 2, 1, 1, 12, 0.0, manifold=manifold),
            "head": LorentzDistanceHead(D, 9, form="paper", manifold=manifold),
        }
    )


def logits(parts, index):
    x = parts["table"](index)
    return parts["head"](parts["transformer"](x, x))


class TestStateDict:
    index = torch.tensor([[1, 2, 3], [4, 5, 6]])

    def pair(self, learnable=False):
        one, other = model(Lorentz(K, learnable=learnable)), model(Lorentz(K, learnable=learnable))
        assert not torch.allclose(logits(one, self.index), logits(other, self.index), atol=1e-2)
        return one, other

    def assert_restored(self, one, other):
        for (name, kept), restored in zip(one.state_dict().items(), other.state_dict().values(), strict=True):
            assert torch.equal(kept, restored), name
        # Matrix products may round by where their operands lie in memory.
        torch.testing.assert_close(logits(one, self.index), logits(other, self.index), rtol=1e-5, atol=1e-4)
        for part in ("table", "head"):
            assert other[part].weight.manifold is other[part].manifold

    @pytest.mark.parametrize("assign", [False, True])
    def test_through_safetensors(self, tmp_path, assign):
        one, other = self.pair()
        save_file(one.state_dict(), tmp_path / "model.safetensors")
        other.load_state_dict(load_file(tmp_path / "model.safetensors"), assign=assign)
        self.assert_restored(one, other)

    @pytest.mark.parametrize("assign", [False, True])
    @pytest.mark.parametrize("learnable", [False, True])
    def test_through_torch_save(self, assign, learnable):
        one, other = self.pair(learnable)
        if learnable:
            with torch.no_grad():
                one["table"].manifold.log_neg_curvature.add_(0.1)
        buffer = io.BytesIO()
        torch.save(one.state_dict(), buffer)
        buffer.seek(0)
        other.load_state_dict(torch.load(buffer, weights_only=True), assign=assign)
        self.assert_restored(one, other)
        assert len({id(m.manifold) for m in other.modules() if isinstance(m, LorentzModule)}) == 1

    def test_shared_learned_curvature_through_safetensors(self, tmp_path):
        """One tensor under many names: safetensors asks for its own model functions then."""
        one, other = self.pair(learnable=True)
        with torch.no_grad():
            one["table"].manifold.log_neg_curvature.add_(0.1)
        save_model(one, str(tmp_path / "model.safetensors"))
        load_model(other, tmp_path / "model.safetensors")
        self.assert_restored(one, other)


class TestFunctional:
    def test_functional_call(self):
        layer = LorentzLinear(D, 6, manifold=Lorentz(K))
        twin = LorentzLinear(D, 6, manifold=Lorentz(K))
        x = points(3)
        got = torch.func.functional_call(layer, dict(twin.named_parameters()), (x,))
        assert torch.equal(got, twin(x))

    def test_ensemble_by_vmap(self):
        manifold = Lorentz(K, learnable=True)
        layers = [LorentzLinear(D, 6, manifold=manifold) for _ in range(3)]
        stacked, _ = torch.func.stack_module_state(layers)
        x = points(4)
        got = torch.func.vmap(lambda p: torch.func.functional_call(layers[0], p, (x,)))(stacked)
        torch.testing.assert_close(got, torch.stack([layer(x) for layer in layers]))

    @pytest.mark.filterwarnings("ignore:There is a performance drop")
    @pytest.mark.parametrize("name", ["LorentzLinear", "LorentzMultiheadAttention", "LorentzTransformerEncoder"])
    @pytest.mark.parametrize("learnable", [False, True], ids=["fixed K", "learned K"])
    def test_per_sample_gradients(self, name, learnable):
        build, make_inputs = LAYERS[name]
        layer = build(Lorentz(K, learnable=learnable))
        parameters = dict(layer.named_parameters())
        batch = make_inputs()[0].unsqueeze(1)  # one sample a row

        def loss(parameters, x):
            out = first(torch.func.functional_call(layer, parameters, (x,)))
            return (out * torch.linspace(-1, 1, out.numel()).view_as(out)).sum()

        together = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(parameters, batch)
        for i, x in enumerate(batch):
            alone = torch.autograd.grad(loss(parameters, x), list(parameters.values()))
            for name_, expected in zip(parameters, alone, strict=True):
                torch.testing.assert_close(together[name_][i], expected, rtol=1e-4, atol=2e-5)

    def test_second_derivatives_of_a_layer(self):
        layer = LorentzFeedForward(D, 6, manifold=Lorentz(K), activation=torch.tanh).double()
        x = points(2).double().requires_grad_()
        assert torch.autograd.gradgradcheck(layer, x)
