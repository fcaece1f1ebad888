"""The search finds what sorting all scores finds."""

import pytest
import torch

from hybonet import Lorentz
from hybonet.metrics.ranking import KnownAnswers
from hybonet.tasks.knowledge_graph.models import tail_search
from hybonet.tasks.knowledge_graph.models.tail_search import TailSearch
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer


def make_scorer(entities, *, dtype=torch.float64, manifold=None):
    torch.manual_seed(entities)
    scorer = TripleScorer(entities, 3, 6, loop_bias=True, manifold=manifold, dtype=dtype).eval()
    for bias in (scorer.head_bias, scorer.tail_bias, scorer.relation_bias):
        torch.nn.init.normal_(bias)
    torch.nn.init.normal_(scorer.loop_bias, std=3.0)
    return scorer


def questions(entities, count=9):
    return torch.arange(count) * 7 % entities, torch.arange(count) % 6


def by_sorting(scorer, heads, relations, top, leave_out):
    scores = scorer(heads, relations).detach()
    total = scores.logsumexp(1)
    if leave_out is not None:
        scores[leave_out] = -torch.inf
    return scores.topk(min(top, scores.shape[1])), total


def known(entities, heads, relations):
    """Many answers to a few questions, the best tails among them, and all of them to one."""
    triples = torch.stack((heads.repeat(40), relations.repeat(40), torch.arange(40 * len(heads)) % entities), dim=1)
    everything = torch.stack((heads[:1].expand(entities), relations[:1].expand(entities), torch.arange(entities)), 1)
    return KnownAnswers(torch.cat((triples, everything)), 6).of(heads, relations)


def assert_found(found, expected, tolerance):
    """The same scores, and the same entities where a score is no near tie."""
    reachable = expected.values > -torch.inf
    assert torch.equal(found.scores > -torch.inf, reachable)
    torch.testing.assert_close(found.scores[reachable], expected.values[reachable], rtol=tolerance, atol=tolerance)
    apart = torch.ones_like(reachable)
    close = expected.values.diff(dim=1).abs() < 4 * tolerance
    apart[:, 1:] &= ~close
    apart[:, :-1] &= ~close
    assert torch.equal(found.entities[reachable & apart], expected.indices[reachable & apart])


@pytest.mark.parametrize("entities", [1, 5, 64, 65, 1000])
@pytest.mark.parametrize("top", [1, 10, 2000])
@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize("small_steps", [False, True])
def test_search_equals_sorting(monkeypatch, entities, top, filtered, small_steps):
    if small_steps:  # every question, every block and every candidate list in a step of its own
        monkeypatch.setattr(tail_search, "_QUESTIONS", 2)
        monkeypatch.setattr(tail_search, "_SCORES", 1)
        monkeypatch.setattr(tail_search, "_CANDIDATES", 1)
    scorer = make_scorer(entities)
    heads, relations = questions(entities)
    leave_out = known(entities, heads, relations) if filtered else None
    expected, total = by_sorting(scorer, heads, relations, top, leave_out)
    found = TailSearch(scorer).best(heads, relations, top, leave_out)
    assert_found(found, expected, 1e-12)
    torch.testing.assert_close(found.log_total, total)


def test_best_tails_that_share_no_block_are_all_found():
    scorer = make_scorer(1000)
    far_apart = torch.arange(10) * 97
    with torch.no_grad():
        scorer.tail_bias[far_apart] += 1000.0
    found = TailSearch(scorer).best(*questions(1000), top=10)
    assert torch.equal(found.entities.sort(1).values, far_apart.expand(9, -1))


def test_a_learned_curvature_and_far_scores_keep_the_softmax_exact():
    scorer = make_scorer(300, dtype=torch.float32, manifold=Lorentz(-0.3, learnable=True))
    with torch.no_grad():
        scorer.tail_bias.mul_(300.0)  # exp of such scores is not a float32
    heads, relations = questions(300)
    _, total = by_sorting(scorer, heads, relations, 300, None)
    found = TailSearch(scorer).best(heads, relations, 300)
    torch.testing.assert_close(found.log_total.float(), total)
    probability = (found.scores.double() - found.log_total[:, None]).exp()
    torch.testing.assert_close(probability.sum(1), torch.ones(len(heads), dtype=torch.float64), rtol=0, atol=2e-4)


def test_no_questions_no_answers():
    found = TailSearch(make_scorer(5)).best(torch.zeros(0, dtype=torch.long), torch.zeros(0, dtype=torch.long), 3)
    assert found.entities.shape == (0, 3)
    assert found.log_total.shape == (0,)


@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize("top", [1, 10, 2000])
def test_faiss_equals_sorting(filtered, top):
    pytest.importorskip("faiss")
    from hybonet.tasks.knowledge_graph.models.faiss_search import FaissTailSearch

    scorer = make_scorer(1000)
    heads, relations = questions(1000, 30)
    leave_out = known(1000, heads, relations) if filtered else None
    expected, _ = by_sorting(scorer, heads, relations, top, leave_out)
    found = FaissTailSearch(scorer).best(heads, relations, top, leave_out)
    assert_found(found, expected, 1e-5)
    assert found.log_total is None
