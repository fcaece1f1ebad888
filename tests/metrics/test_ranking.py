"""Filtered ranking against a plain re-reading of its definition."""

import pytest
import torch

from hybonet.metrics.ranking import KnownAnswers, Ranking, Ranks, filtered_ranks, ranking_metrics


def slow_rank(scores, truth, known, ties, exclude=None):
    """One question at a time, in plain Python."""
    others = [s for e, s in enumerate(scores) if e != truth and e not in known and e != exclude]
    better = sum(s > scores[truth] for s in others)
    equal = sum(s == scores[truth] for s in others)
    return 1 + better + {"optimistic": 0, "realistic": equal / 2, "pessimistic": equal}[ties], len(others) + 1


@pytest.mark.parametrize("ties", ["realistic", "optimistic", "pessimistic"])
@pytest.mark.parametrize("released", [False, True])
def test_ranks_equal_the_definition(ties, released):
    generator = torch.Generator().manual_seed(0)
    entities, relations, questions = 30, 4, 60
    triples = torch.stack(
        (
            torch.randint(entities, (400,), generator=generator),
            torch.randint(relations, (400,), generator=generator),
            torch.randint(entities, (400,), generator=generator),
        ),
        dim=1,
    )
    asked = triples[torch.randperm(400, generator=generator)[:questions]]
    scores = torch.randint(0, 6, (questions, entities), generator=generator).float()  # many ties
    known = KnownAnswers(triples, relations)
    heads, kinds, tails = asked.unbind(1)
    exclude = heads if released else None
    ours = filtered_ranks(scores, tails, known.of(heads, kinds), ties=ties, exclude=exclude)
    facts = {tuple(t) for t in triples.tolist()}
    for row in range(questions):
        head, kind, tail = asked[row].tolist()
        answers = {e for e in range(entities) if (head, kind, e) in facts}
        expected = slow_rank(scores[row].tolist(), tail, answers, ties, head if released else None)
        assert (ours.rank[row].item(), ours.candidates[row].item()) == expected


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_blocks_of_questions_and_precisions_make_no_difference(dtype):
    torch.manual_seed(0)
    scores, truth, head = torch.randint(0, 4, (23, 300)).to(dtype), torch.randint(300, (23,)), torch.randint(300, (23,))
    # One of the excluded is known as well, one known answer is named twice, one is the truth.
    known = torch.tensor([0, 5, 5, 5, 22]), torch.stack((head[0], truth[5], head[6], head[6], truth[1]))
    ranking = Ranking(truth, 300, known, exclude=head)
    for block in scores.split([1, 0, 10, 12]):
        ranking.add(block)
    for ties in ("realistic", "optimistic", "pessimistic"):
        ranks = ranking.ranks(ties)
        for row in range(23):
            left_out = set(known[1][known[0] == row].tolist())
            expected = slow_rank(scores[row].tolist(), truth[row].item(), left_out, ties, head[row].item())
            assert (ranks.rank[row].item(), ranks.candidates[row].item()) == expected


def test_scores_of_others_may_be_infinite_or_not_a_number():
    """They are candidates that the model does not answer with, or in the case of infinity does."""
    scores = torch.tensor([[0.5, torch.nan, -torch.inf, torch.inf, 0.5]])
    assert filtered_ranks(scores, torch.tensor([0])) == Ranks(torch.tensor([2.5]), torch.tensor([5]))


def test_questions_without_known_answers_are_answered_too():
    known = KnownAnswers(torch.tensor([[0, 0, 1]]), 2)
    rows, answers = known.of(torch.tensor([5, 0, 0]), torch.tensor([1, 0, 1]))
    assert (rows.tolist(), answers.tolist()) == ([1], [1])
    empty = KnownAnswers(torch.zeros(0, 3, dtype=torch.long), 2)
    rows, answers = empty.of(torch.tensor([0]), torch.tensor([0]))
    assert (rows.tolist(), answers.tolist()) == ([], [])


def test_metrics_of_known_ranks():
    metrics = ranking_metrics(Ranks(torch.tensor([1.0, 2.0, 10.0, 11.0]), torch.tensor([21, 21, 21, 21])))
    assert metrics["mrr"] == pytest.approx((1 + 1 / 2 + 1 / 10 + 1 / 11) / 4)
    assert (metrics["hits@1"], metrics["hits@3"], metrics["hits@10"]) == (0.25, 0.5, 0.75)
    assert metrics["mean_rank"] == 6.0
    assert metrics["adjusted_mean_rank"] == pytest.approx(6.0 / 11.0)
    assert metrics["adjusted_mean_rank_index"] == pytest.approx(1 - 5.0 / 10.0)


def test_a_coin_toss_between_two_candidates_has_index_zero():
    ranks = Ranks(torch.tensor([1.0, 2.0]), torch.tensor([2, 2]))
    assert ranking_metrics(ranks)["adjusted_mean_rank_index"] == pytest.approx(0.0)
    alone = Ranks(torch.tensor([1.0]), torch.tensor([1]))  # of one candidate, the only rank is perfect
    assert ranking_metrics(alone)["adjusted_mean_rank_index"] == 1.0


class Elsewhere(torch.Tensor):
    """Numbers that say they lie on a GPU."""

    device = torch.device("cuda")


@pytest.mark.parametrize("ties", ["realistic", "optimistic", "pessimistic"])
def test_scores_of_other_devices_are_counted_alike(ties):
    generator = torch.Generator().manual_seed(0)
    scores = torch.randint(0, 6, (20, 30), generator=generator).float()  # many ties
    truth = torch.randint(30, (20,), generator=generator)
    there, here = (filtered_ranks(each, truth, ties=ties).rank for each in (scores.as_subclass(Elsewhere), scores))
    assert there.tolist() == here.tolist()


def test_a_constant_score_is_a_coin_toss_only_with_realistic_ties():
    scores = torch.zeros(1, 11)
    ranks = {
        t: filtered_ranks(scores, torch.tensor([3]), ties=t).rank.item()
        for t in ("optimistic", "realistic", "pessimistic")
    }
    assert ranks == {"optimistic": 1.0, "realistic": 6.0, "pessimistic": 11.0}


def test_scores_that_are_not_numbers_are_refused():
    with pytest.raises(ValueError, match="diverged"):
        filtered_ranks(torch.full((1, 3), torch.nan), torch.tensor([0]))
