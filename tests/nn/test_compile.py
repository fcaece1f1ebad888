"""torch.compile on every public layer: one graph, and the same outputs and gradients as without."""

import inspect

import pytest
from torch import nn

import hybonet.nn
from hybonet import Lorentz
from hybonet.nn import LorentzModule, attention_weights, gated_lift, lorentz_attention

from .catalogue import LAYERS, K, assert_compiles, points

#: The layers that use the curvature in each of the ways there are.
LEARNED_K = (
    "LorentzLinear",
    "LorentzLinear paper",
    "LorentzNorm",
    "LorentzMultiheadAttention",
    "LorentzEmbedding",
    "LorentzDistanceHead",
    "LorentzCentroidPooling",
    "TangentLinear",
    *(name for name in ("LorentzGraphConv", "LorentzGraphAttention") if name in LAYERS),
)


def test_no_public_layer_is_forgotten():
    public = {
        name
        for name in hybonet.nn.__all__
        if inspect.isclass(cls := getattr(hybonet.nn, name)) and issubclass(cls, nn.Module) and cls is not LorentzModule
    }
    assert public == {name.split()[0] for name in LAYERS}


#: What LorentzTransformer is made of and adds nothing to: compiled with it.
PARTS = ("LorentzTransformerEncoder", "LorentzTransformerDecoder")


@pytest.mark.parametrize("name", [name for name in LAYERS if name not in PARTS])
def test_compiles_as_one_graph(name):
    build, make_inputs = LAYERS[name]
    assert_compiles(build(Lorentz(K)), make_inputs(), backend="aot_eager")


@pytest.mark.parametrize("name", LEARNED_K)
def test_compiles_with_a_learned_curvature(name):
    build, make_inputs = LAYERS[name]
    assert_compiles(build(Lorentz(K, learnable=True)), make_inputs(), backend="aot_eager")


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
