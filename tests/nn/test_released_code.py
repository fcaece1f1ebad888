"""Our options against inputs and outputs of the paper authors' released code (K = -1, float32).

The figures are not part of the repository; the tests run where ``released_code.json`` is on the data search path.
"""

import json

import pytest
import torch

from hybonet import Lorentz
from hybonet.data.io import search_path
from hybonet.geometry import to_sheet
from hybonet.nn import LorentzLinear, LorentzMultiheadAttention, attention_weights, lorentz_attention


@pytest.fixture(scope="module")
def released():
    path = search_path.find("released_code.json")
    if path is None:
        pytest.skip("released_code.json is in none of the directories of HYBONET_DATA")
    return json.loads(path.read_text())


def tensors(case, *names):
    return [torch.tensor(case[name]) for name in names]


def assert_close(got, expected):
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)


def layer_of(weight, bias, lam, **options):
    rows, columns = weight.shape
    layer = LorentzLinear(columns, rows, scale=lam, **{"form": "paper", **options})
    layer.load_state_dict({"weight": weight, "bias": bias}, strict=False)
    return layer


def test_knowledge_graph_linear(released):
    case = released["kg_linear"]
    assert case["eps"] == 1.1
    for x, weight, bias, y in zip(*tensors(case, "x", "weight", "bias", "y"), strict=True):
        layer = layer_of(weight, bias, case["lam"], gate_bias=False, learnable_scale=False)
        assert_close(layer(x), y)
        assert not torch.allclose(layer_of(weight, bias, case["lam"])(x), y, atol=1e-3)  # the option matters


def test_knowledge_graph_score(released):
    case = released["kg_score"]
    entities, weights, biases, head_bias, tail_bias = tensors(
        case, "entities", "relation_weight", "relation_bias", "head_bias", "tail_bias"
    )
    manifold = Lorentz()
    for head, relation, tails, scores in zip(
        case["heads"], case["relations"], case["tails"], case["scores"], strict=True
    ):
        layer = layer_of(weights[relation], biases[relation], case["lam"], gate_bias=False)
        square = manifold.sqdist(layer(entities[head]), entities[tails])
        # The released score has 2<x,y> where -d² is 2<x,y> + 2: the same ranking, but a margin smaller by 2.
        got = case["margin"] - 2.0 - square + head_bias[head] + tail_bias[tails]
        torch.testing.assert_close(got, torch.tensor(scores), rtol=1e-5, atol=1e-4)


def test_graph_linear(released):
    case = released["gcn_linear"]
    x, weight, bias, y = tensors(case, "x", "weight", "bias", "y")
    assert_close(layer_of(weight, bias, case["lam"])(x), y)


def test_graph_aggregation(released):
    x, adjacency, y = tensors(released["gcn_aggregate"], "x", "adjacency", "y")
    assert_close(to_sheet(adjacency @ x, K=-1.0), y)


def test_translation_linear_with_residual(released):
    case = released["mt_linear_residual"]
    x, residual, weight, bias, y, alone = tensors(case, "x", "residual", "weight", "bias", "y", "y_without_residual")
    layer = layer_of(weight, bias, case["lam"], form="paper_code")
    assert_close(layer(x, residual), y)
    assert_close(layer(x), alone)
    papers = layer_of(weight, bias, case["lam"], form="paper")
    assert not torch.allclose(papers(x, residual), y, atol=1e-3)


def test_translation_attention(released):
    case = released["mt_attention"]
    query, memory, context, weights = tensors(case, "query", "key_value", "context", "weights")
    heads, parameters = case["heads"], case["parameters"]
    layer = LorentzMultiheadAttention(query.shape[-1], heads, learnable_scale=True, form="paper_code")
    state = {"softmax_scale": torch.tensor(parameters["scale"][0])}
    for ours, theirs in (("q_proj", "linear_query"), ("k_proj", "linear_keys"), ("v_proj", "linear_values")):
        state[f"{ours}.weight"] = torch.tensor(parameters[f"{theirs}.weight.weight"])
        state[f"{ours}.bias"] = torch.tensor(parameters[f"{theirs}.weight.bias"])
        state[f"{ours}.log_scale"] = torch.tensor(parameters[f"{theirs}.scale"])
    missing = layer.load_state_dict(state, strict=False)
    assert all(name.startswith("out_proj") for name in missing.missing_keys)
    assert not missing.unexpected_keys

    q, k, v = (p(x).transpose(1, 2) for p, x in ((layer.q_proj, query), (layer.k_proj, memory), (layer.v_proj, memory)))
    scale = 1.0 / layer.softmax_scale
    got = lorentz_attention(q, k, v, manifold=layer.manifold, scale=scale)
    torch.testing.assert_close(got.transpose(1, 2), context, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(attention_weights(q, k, scale=scale), weights, rtol=1e-4, atol=1e-5)
    # The module does the same and then applies its output map.
    out, per_head = layer(query, memory, need_weights=True, average_attn_weights=False)
    torch.testing.assert_close(per_head, weights, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(out, layer.out_proj(context.flatten(-2)), rtol=1e-4, atol=1e-4)
