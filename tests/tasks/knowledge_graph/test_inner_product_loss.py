"""The fused softmax loss against the same written with torch's own functions."""

import pytest
import torch

from hybonet.kernels import inner_softmax
from hybonet.kernels.inner_softmax import Places, inner_softmax_loss
from hybonet.tasks.knowledge_graph import models as baselines
from hybonet.tasks.knowledge_graph.inner_product_loss import Choice, SoftAnswers, inner_product_loss
from hybonet.tasks.knowledge_graph.losses import softmax_loss
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer

B, C, K = 9, 30, 5


def case(seed=0):
    torch.manual_seed(seed)
    question, candidates, truth, extra = (torch.randn(s, dtype=torch.float64) for s in ((B, K), (C, K), (B,), (B,)))
    rows = torch.arange(B)
    left_out = Places(torch.tensor([8, 0, 1, 1]), torch.tensor([3, 4, 4, 29]))
    return question, candidates, truth, extra, torch.rand(B, dtype=torch.float64), left_out, Places(rows, rows + 2)


def plainly(question, candidates, truth, extra, weight, left_out, at, share):
    scores = question @ candidates.T
    scores = scores.index_put(tuple(at), extra, accumulate=True)
    scores = scores.index_put(tuple(left_out), torch.tensor(-torch.inf, dtype=scores.dtype)) + share[:, None]
    total = torch.logsumexp(torch.cat((truth[:, None], scores), 1), 1)
    return (weight * (total - truth)).sum()


@pytest.mark.parametrize("block", [1, 40, 100, 1 << 20])
def test_value_and_gradients_are_those_of_logsumexp(block, monkeypatch):
    monkeypatch.setattr(inner_softmax, "_BLOCK", block)
    question, candidates, truth, extra, weight, left_out, at = case()
    share = torch.linspace(0, 3, B, dtype=torch.float64)
    results = []
    for fused in (True, False):
        leaves = [t.clone().requires_grad_() for t in (question, candidates, truth, extra)]
        q, c, t, e = leaves
        if fused:
            loss = inner_softmax_loss(q, c, t, weight=weight, share=share, left_out=left_out, extra=(at, e))
        else:
            loss = plainly(q, c, t, e, weight, left_out, at, share)
        (3 * loss).backward()
        results.append([loss, *(leaf.grad for leaf in leaves)])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)


def test_scores_of_any_size_stay_finite():
    question, candidates = torch.tensor([[1e4], [-1e4], [0.0]]), torch.tensor([[1.0], [-1.0]])
    q, c, truth = (t.requires_grad_() for t in (question, candidates, torch.tensor([-1e4, 1e4, 0.0])))
    loss = inner_softmax_loss(q, c, truth, weight=torch.ones(3))
    loss.backward()
    assert all(bool(t.isfinite().all()) for t in (loss, q.grad, c.grad, truth.grad))
    assert loss.item() == pytest.approx(2e4 + torch.tensor(6.0).log().item(), rel=1e-6)


def test_a_question_without_candidates_has_nothing_to_lose():
    q, c, truth = (torch.randn(s, requires_grad=True) for s in ((1, 3), (2, 3), (1,)))
    everything = Places(torch.tensor([0, 0]), torch.tensor([0, 1]))
    loss = inner_softmax_loss(q, c, truth, weight=torch.ones(1), left_out=everything)
    loss.backward()
    assert loss.item() == pytest.approx(0, abs=1e-6)
    assert not q.grad.any()


def models():
    torch.manual_seed(1)
    scorer = TripleScorer(40, 3, 8, loop_bias=True, dtype=torch.float64)
    yield scorer
    for name, dim in (("DistMult", 8), ("ComplEx", 8), ("MuRE", 8), ("ConvE", 32), ("TuckER", 8)):
        yield getattr(baselines, name)(40, 3, dim, dropout=0.0).double()


@pytest.mark.parametrize("model", list(models()), ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize("sharp", [False, True])
def test_a_choice_is_the_softmax_loss_of_the_scores(model, pooled, smoothing, filtered, sharp):
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1 and len(parameter) in (6, 40):
                parameter.normal_()  # biases start at zero and would hide a mistake
    heads, tails, relations = torch.randint(40, (B,)), torch.randint(40, (B,)), torch.randint(6, (B,))
    tails[0] = heads[0]  # a loop that is true
    weight = torch.rand(B, dtype=torch.float64)
    logit_scale = 0.5 + torch.rand(B, dtype=torch.float64) if sharp else None
    pool = torch.randint(40, (25,)).unique() if pooled else None
    # One of the known answers is the head itself, one the right tail.
    known = Places(torch.tensor([1, 2, 2, 2]), torch.stack((heads[1], tails[2], heads[3], heads[4])))
    model.eval()
    results = []
    for fused in (True, False):
        model.zero_grad()
        if fused:
            choice = Choice(weight, known if filtered else None, smoothing, 40 if pooled else None, logit_scale)
            loss = inner_product_loss(model, heads, relations, tails, choice, pool=pool)
        else:
            scores = model(heads, relations)
            scores = scores if logit_scale is None else scores * logit_scale[:, None]
            hidden = torch.zeros_like(scores, dtype=torch.bool)
            hidden[torch.arange(B), tails] = True
            if filtered:
                hidden[known] = True
            others = scores.masked_fill(hidden, -torch.inf)
            others, total = (others[:, pool], 40 - hidden.sum(1)) if pooled else (others, None)
            each = softmax_loss(scores.gather(1, tails[:, None])[:, 0], others, smoothing=smoothing, total=total)
            loss = (weight * each).sum()
        loss.backward()
        results.append([loss] + [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in model.parameters()])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-10)


def test_a_pool_of_all_entities_is_no_sample_whatever_is_known():
    torch.manual_seed(0)
    model = TripleScorer(40, 3, 8, dtype=torch.float64).eval()
    heads, tails, relations = torch.randint(40, (B,)), torch.randint(40, (B,)), torch.randint(6, (B,))
    known = Places(torch.zeros(30, dtype=torch.long), torch.arange(30))
    weight = torch.ones(B, dtype=torch.float64)
    whole = inner_product_loss(model, heads, relations, tails, Choice(weight, known))
    pool = inner_product_loss(model, heads, relations, tails, Choice(weight, known, total=40), pool=torch.arange(40))
    torch.testing.assert_close(pool, whole)


def test_a_choice_needs_one_right_tail_a_question():
    model = TripleScorer(4, 1, 3)
    with pytest.raises(ValueError, match="one right tail"):
        inner_product_loss(model, torch.tensor([0]), torch.tensor([0]), torch.tensor([[1, 2]]), Choice(torch.ones(1)))


@pytest.mark.parametrize("pooled", [False, True])
def test_soft_answers_share_the_target_with_the_right_tail(pooled):
    """Against torch's cross-entropy with probabilities for targets; a pool of all entities is no sample."""
    torch.manual_seed(0)
    model = TripleScorer(40, 3, 8, loop_bias=True, dtype=torch.float64)
    with torch.no_grad():
        model.loop_bias.normal_()
        model.tail_bias.normal_()
    heads, relations, tails = torch.randint(40, (B,)), torch.randint(6, (B,)), torch.randint(40, (B,))
    entities = torch.stack([torch.randperm(40)[:5] for _ in range(B)])
    entities[0, 2], entities[1, 0] = heads[0], tails[1]  # a loop, and the right tail itself
    assert all(len(row.unique()) == 5 for row in entities)
    target = 0.5 * torch.rand(B, 5, dtype=torch.float64).softmax(1)
    logit_scale = 0.5 + torch.rand(B, dtype=torch.float64)
    weight = torch.rand(B, dtype=torch.float64)
    choice = Choice(weight, None, 0.0, None, logit_scale, SoftAnswers(entities, target))
    fused = inner_product_loss(model, heads, relations, tails, choice, pool=torch.arange(40) if pooled else None)
    fused.backward()
    gradients = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    model.zero_grad()

    wanted = torch.zeros(B, 40, dtype=torch.float64).scatter(1, entities, target)
    wanted.scatter_(1, tails[:, None], 0.0)
    wanted.scatter_(1, tails[:, None], 1 - wanted.sum(1, keepdim=True))
    scores = model(heads, relations) * logit_scale[:, None]
    plain = (weight * torch.nn.functional.cross_entropy(scores, wanted, reduction="none")).sum()
    plain.backward()
    torch.testing.assert_close(fused, plain)
    for one, other in zip(gradients, [p.grad for p in model.parameters() if p.grad is not None], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-10)
