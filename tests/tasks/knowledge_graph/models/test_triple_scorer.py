"""The triple scorer equals its definition, and the authors' released code up to a constant."""

import json

import pytest
import torch

from hybonet import Lorentz
from hybonet.data.io.search_path import find
from hybonet.nn import LorentzLinear
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer


@pytest.mark.parametrize("K", [-1.0, -0.4])
@pytest.mark.parametrize("max_norm", [None, 1.0])
def test_score_is_minus_squared_distance_plus_biases(K, max_norm):
    torch.manual_seed(0)
    scorer = TripleScorer(9, 2, 6, manifold=Lorentz(K), max_norm=max_norm, scale=3.0, margin=5.0, dtype=torch.float64)
    with torch.no_grad():
        for bias in (scorer.head_bias, scorer.tail_bias, scorer.relation_bias):
            bias.normal_()
    heads, relations, tails = torch.tensor([1, 4, 8]), torch.tensor([0, 3, 2]), torch.tensor([2, 2, 0])
    expected = []
    for h, r, t in zip(heads, relations, tails, strict=True):
        linear = LorentzLinear(
            6, 6, form="paper", manifold=scorer.manifold, scale=3.0, learnable_scale=False, gate_bias=False
        ).double()
        with torch.no_grad():
            linear.weight.copy_(scorer.relation_weight[r])
            linear.bias.copy_(scorer.relation_bias[r])
        distance = scorer.manifold.sqdist(linear(scorer.entities(h)), scorer.entities(t))
        expected.append(-distance + scorer.head_bias[h] + scorer.tail_bias[t] + 5.0)
    torch.testing.assert_close(scorer(heads, relations, tails), torch.stack(expected))


def test_one_many_and_all_tails_agree():
    torch.manual_seed(0)
    scorer = TripleScorer(20, 3, 8)
    heads, relations = torch.tensor([3, 7]), torch.tensor([1, 5])
    everything = scorer(heads, relations)
    some = torch.tensor([[0, 5, 9], [19, 2, 2]])
    torch.testing.assert_close(scorer(heads, relations, some), everything.gather(1, some))
    torch.testing.assert_close(scorer(heads, relations, some[:, 0]), everything.gather(1, some[:, :1])[:, 0])


def test_released_code_gives_the_same_scores_up_to_a_constant():
    path = find("released_code.json")
    if path is None:
        pytest.skip("released_code.json is not on the search path (HYBONET_DATA)")
    case = json.loads(path.read_text())["kg_score"]
    scorer = TripleScorer(7, 2, 6, max_norm=None, scale=case["lam"], margin=case["margin"])
    with torch.no_grad():
        scorer.entities.weight.copy_(torch.tensor(case["entities"]))
        scorer.relation_weight[:3] = torch.tensor(case["relation_weight"])
        scorer.relation_bias[:3] = torch.tensor(case["relation_bias"])
        scorer.head_bias.copy_(torch.tensor(case["head_bias"]))
        scorer.tail_bias.copy_(torch.tensor(case["tail_bias"]))
    ours = scorer(*(torch.tensor(case[name]) for name in ("heads", "relations", "tails")))
    # That code writes 2<q,t> for -d² = 2 + 2<q,t>: its margin of 8 is 6 in the paper's formula.
    torch.testing.assert_close(ours, torch.tensor(case["scores"]) + 2.0, rtol=1e-5, atol=1e-5)


def test_a_symmetric_relation_is_one_with_its_reciprocal():
    torch.manual_seed(0)
    scorer = TripleScorer(12, 3, 6, loop_bias=True, symmetric=[1])
    with torch.no_grad():
        scorer.loop_bias.normal_()
    heads = torch.arange(12)
    one, other = (scorer(heads, torch.full((12,), relation)) for relation in (1, 1 + 3))
    assert torch.equal(one, other)
    assert not torch.equal(scorer(heads, torch.full((12,), 0)), scorer(heads, torch.full((12,), 3)))
    again = TripleScorer.from_config(scorer.config())
    again.load_state_dict(scorer.state_dict())
    assert torch.equal(again(heads, torch.full((12,), 4)), one)
