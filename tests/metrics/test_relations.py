"""What triples say about relations."""

import pytest
import torch

from hybonet.metrics.relations import answers_per_question, direction_shares, relation_categories

#: One head with three tails; three heads with one tail; a relation without triples.
TRIPLES = torch.tensor([[0, 0, 1], [0, 0, 2], [0, 0, 3], [1, 1, 0], [2, 1, 0], [3, 1, 0], [3, 1, 0]])


@pytest.mark.parametrize(
    ("triples", "kind"),
    [
        ([[0, 0, 1], [2, 0, 3]], "1-1"),
        ([[0, 0, 1], [0, 0, 2], [0, 0, 3]], "1-N"),
        ([[1, 0, 0], [2, 0, 0], [3, 0, 0]], "N-1"),
        ([[h, 0, t] for h in range(3) for t in range(3, 6)], "N-N"),
    ],
)
def test_relation_categories(triples, kind):
    assert relation_categories(torch.tensor(triples), 1) == [kind]


@pytest.mark.parametrize("power", [0.0, -1e300, 1e300])
def test_no_power_overflows(power):
    shares = direction_shares(TRIPLES, 3, power, 0.3)
    assert bool(((shares >= 0) & (shares <= 1)).all())
    assert shares[[2, 5]].tolist() == pytest.approx([0.7, 0.7])  # as many answers either way


def test_answers_are_counted_once():
    tails, heads = answers_per_question(TRIPLES, 3)
    assert tails.tolist() == [3, 1, 1]
    assert heads.tolist() == [1, 3, 1]


def test_the_direction_with_fewer_answers_has_the_larger_share():
    shares = direction_shares(TRIPLES, 3)
    torch.testing.assert_close(shares, torch.tensor([0.25, 0.75, 0.5, 0.75, 0.25, 0.5]))
    torch.testing.assert_close(direction_shares(TRIPLES, 3, power=0.0, inverse=0.2), torch.full((6,), 0.8))


def test_the_inverse_has_its_share_of_a_relation_with_as_many_answers_either_way():
    assert direction_shares(TRIPLES, 3, power=2.0, inverse=0.3)[2].item() == pytest.approx(0.7)
    assert direction_shares(TRIPLES, 3, inverse=0.0).tolist() == [1.0] * 6


def test_no_power_is_too_large():
    triples = torch.tensor([[0, 0, tail] for tail in range(1, 2000)])
    assert direction_shares(triples, 1, power=200.0).tolist() == pytest.approx([0.0, 1.0])
