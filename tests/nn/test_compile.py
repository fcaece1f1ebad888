"""torch.compile(fullgraph=True) on every public layer: the same outputs and gradients as without."""

import inspect
import shutil

import pytest
import torch
from torch import nn

import hybonet.nn
from hybonet import Lorentz
from hybonet.nn import LorentzModule, attention_weights, gated_lift, lorentz_attention

from .catalogue import LAYERS, K, first, points

#: The layers that use the curvature in each of the ways there are.
LEARNED_K = (
    "LorentzLinear",
    "LorentzLinear pure",
    "LorentzMultiheadAttention",
    "LorentzEmbedding",
    "LorentzDistanceHead",
    "LorentzCentroidPooling",
    "TangentLinear",
)


@pytest.fixture(autouse=True)
def _fresh_compiler():
    torch._dynamo.reset()


def test_no_public_layer_is_forgotten():
    public = {
        name
        for name in hybonet.nn.__all__
        if inspect.isclass(cls := getattr(hybonet.nn, name)) and issubclass(cls, nn.Module) and cls is not LorentzModule
    }
    assert public == {name.split()[0] for name in LAYERS}


def outputs_and_gradients(call, layer, inputs):
    """Everything a training step sees: the output, and gradients of the inputs and the parameters."""
    inputs = [
        x.detach().clone().requires_grad_() if isinstance(x, torch.Tensor) and x.is_floating_point() else x
        for x in inputs
    ]
    out = first(call(*inputs))
    wanted = [x for x in inputs if isinstance(x, torch.Tensor) and x.requires_grad]
    wanted += [p for p in layer.parameters() if p.requires_grad]
    pull = torch.linspace(-1, 1, out.numel()).view_as(out)
    return [out, *torch.autograd.grad((out * pull).sum(), wanted, allow_unused=True)]


def assert_compiles(layer, inputs, **options):
    compiled = torch.compile(layer, fullgraph=True, **options)
    expected = outputs_and_gradients(layer, layer, inputs)
    got = outputs_and_gradients(compiled, layer, inputs)
    assert any(g is not None for g in expected[1:]) or not list(layer.parameters())
    for a, b in zip(got, expected, strict=True):
        if a is None or b is None:
            assert a is b
        else:
            torch.testing.assert_close(a, b, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("name", LAYERS)
def test_compiles_as_one_graph(name):
    build, make_inputs = LAYERS[name]
    assert_compiles(build(Lorentz(K)), make_inputs(), backend="aot_eager")


@pytest.mark.parametrize("name", LEARNED_K)
def test_compiles_with_a_learned_curvature(name):
    build, make_inputs = LAYERS[name]
    assert_compiles(build(Lorentz(K, learnable=True)), make_inputs(), backend="aot_eager")


@pytest.mark.skipif(not any(map(shutil.which, ("g++", "clang++"))), reason="the default backend needs a C++ compiler")
@pytest.mark.parametrize("name", ["LorentzLinear", "LorentzTransformerEncoderLayer"])
def test_compiles_with_the_default_backend(name):
    build, make_inputs = LAYERS[name]
    # Without vector instructions: the same kernels, and the C++ compiler takes half the time.
    assert_compiles(build(Lorentz(K)), make_inputs(), options={"cpp.simdlen": 0})


@pytest.mark.parametrize(
    "function",
    [
        lambda x: gated_lift(x, 2.0, K=K),
        lambda x: lorentz_attention(x, x, x, manifold=Lorentz(K), is_causal=True),
        lambda x: attention_weights(x, x, is_causal=True),
    ],
    ids=["gated_lift", "lorentz_attention", "attention_weights"],
)
def test_functions_compile_as_one_graph(function):
    assert_compiles(function_layer(function), (points(2, 2, 4),), backend="aot_eager")


def function_layer(function):
    layer = nn.Module()
    layer.forward = function
    return layer
