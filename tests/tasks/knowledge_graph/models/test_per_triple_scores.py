"""Scores read from the table in place, against copied rows and torch's own functions."""

import pytest
import torch

from hybonet import Lorentz
from hybonet.kernels import norm_clipping
from hybonet.kernels.norm_clipping import clip_norms
from hybonet.tasks.knowledge_graph import models as baselines
from hybonet.tasks.knowledge_graph.models import inner_product as inner_product_module
from hybonet.tasks.knowledge_graph.models.per_triple_scores import per_triple_scores
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer

pytestmark = pytest.mark.usefixtures("either_way")

ENTITIES, WIDTH = 9, 5
#: 4 is nobody's candidate, 7 is one question's twice.
INDEX = torch.tensor([[7, 0, 7], [3, 8, 0], [1, 2, 5], [6, 0, 1]])


def leaves(dtype=torch.float64):
    torch.manual_seed(0)
    shapes = (len(INDEX), WIDTH), (ENTITIES, WIDTH), (ENTITIES,)
    question, table, bias = (torch.randn(shape, dtype=dtype) for shape in shapes)
    with torch.no_grad():
        table[0] = 0  # a row at the origin
        table[1] *= 1e-3 / table[1].norm()
        table[2] *= 10
    return [tensor.requires_grad_() for tensor in (question, table, bias)]


def from_copies(question, table, bias, max_norm, manifold):
    points = table if max_norm is None else clip_norms(table, max_norm, manifold)
    return torch.einsum("bk,bck->bc", question, points[INDEX]) + bias[INDEX]


@pytest.mark.parametrize("max_norm", [None, 1.0, 100.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("block", [1, 12, 1 << 17])
def test_values_and_gradients_are_those_of_copied_rows(max_norm, dtype, block, monkeypatch):
    monkeypatch.setattr(norm_clipping, "_BLOCK", block)
    manifold = Lorentz(-0.7)
    results = []
    for in_place in (True, False):
        inputs = leaves(dtype)
        if in_place:
            question, table, bias = inputs
            scores = per_triple_scores(question, table, INDEX, bias=bias, max_norm=max_norm, manifold=manifold)
        else:
            scores = from_copies(*inputs, max_norm, manifold)
        (scores * torch.linspace(-1, 2, scores.numel(), dtype=dtype).view_as(scores)).sum().backward()
        results.append([scores, *(leaf.grad for leaf in inputs)])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)
    assert not results[0][2][4].any()  # nobody's candidate


@pytest.mark.parametrize("max_norm", [None, 1.2])
def test_gradients_by_finite_differences(max_norm):
    manifold = Lorentz()

    def scores(question, table, bias):
        return per_triple_scores(question, table, INDEX, bias=bias, max_norm=max_norm, manifold=manifold)

    assert torch.autograd.gradcheck(scores, leaves())
    question, table, _ = leaves()
    assert torch.autograd.gradcheck(lambda q: per_triple_scores(q, table.detach(), INDEX), question)
    assert torch.autograd.gradcheck(lambda t: per_triple_scores(question.detach(), t, INDEX), table)


def test_entities_beyond_sixteen_bits_have_gradients_of_their_own():
    entities = (1 << 16) + 10
    index = torch.tensor([[3, (1 << 16) + 3], [entities - 1, 3], [0, 1 << 16]])
    question = torch.eye(3)
    table = torch.zeros(entities, 3, requires_grad=True)
    per_triple_scores(question, table, index).backward(torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    expected = torch.zeros_like(table)
    expected[[3, (1 << 16) + 3, entities - 1, 0, 1 << 16]] = torch.tensor(
        [[1.0, 4.0, 0.0], [2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 5.0], [0.0, 0.0, 6.0]]
    )
    torch.testing.assert_close(table.grad, expected)


@pytest.mark.parametrize("wrong", [-1, ENTITIES])
def test_rows_that_are_not_there_are_refused(wrong):
    question, table, _ = leaves()
    with pytest.raises(IndexError, match=f"rows 0 to {ENTITIES - 1}"):
        per_triple_scores(question, table, torch.tensor([[0, wrong]] * 4))


def models():
    torch.manual_seed(1)
    for options in ({}, {"max_norm": None}, {"manifold": Lorentz(-0.5, learnable=True)}, {"loop_bias": True}):
        yield TripleScorer(40, 3, 8, dtype=torch.float64, **options)
    for name, dim in (("DistMult", 8), ("MuRE", 8), ("ConvE", 32)):
        yield getattr(baselines, name)(40, 3, dim, dropout=0.0).double()


@pytest.mark.parametrize("model", list(models()), ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("candidates", [5, 60])
def test_models_score_their_own_candidates_the_same_either_way(model, candidates, monkeypatch):
    """With more candidates than entities the kernels do not apply; both ways are then the same one."""
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1 and len(parameter) in (6, 40):
                parameter.normal_()  # biases start at zero and would hide a mistake
    heads, relations, tails = torch.randint(40, (11,)), torch.randint(6, (11,)), torch.randint(40, (11, candidates))
    tails[0] = heads[0]
    model.eval()
    weight, results = torch.rand(11, candidates, dtype=torch.float64), []
    for share in (1 << 20, 0):
        monkeypatch.setattr(inner_product_module, "_SHARE", share)
        model.zero_grad()
        scores = model(heads, relations, tails)
        (weight * scores).sum().backward()
        results.append(
            [scores] + [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in model.parameters()]
        )
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-10)
    torch.testing.assert_close(results[0][0], model(heads, relations).gather(1, tails), rtol=1e-9, atol=1e-10)


def test_half_precision_questions_meet_a_table_in_float32():
    scorer = TripleScorer(40, 3, 8)
    heads, relations, tails = torch.randint(40, (11,)), torch.randint(6, (11,)), torch.randint(40, (11, 20))
    with torch.autocast("cpu", torch.bfloat16):
        scores = scorer(heads, relations, tails)
    scores.sum().backward()
    torch.testing.assert_close(scores, scorer(heads, relations, tails), rtol=0.05, atol=0.3)
