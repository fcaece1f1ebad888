"""Ranks from tiles of a product are those from all of its scores."""

import pytest
import torch

from hybonet import kernels
from hybonet.metrics import product_counts as module
from hybonet.metrics.product_counts import Tiles
from hybonet.metrics.ranking import Ranking

pytestmark = pytest.mark.skipif(not kernels.available(), reason="numba is not installed (extra 'fast')")


def both_rankings(left, right, truth, known, extra=None, blocks=(5, 1, 4)):
    scores = left @ right.T
    if extra is not None:
        scores[torch.arange(len(left)), extra[0]] += extra[1]
    whole, tiled = (Ranking(truth, len(right), known) for _ in range(2))
    tiles, start = Tiles(right), 0
    for height in blocks:
        block = slice(start, start + height)
        whole.add(scores[block])
        part = None if extra is None else (extra[0][block], extra[1][block])
        tiled.add_product(left[block].contiguous(), tiles, part)
        start += height
    return whole, tiled


def example(dtype, entities=23):
    """Whole numbers: products are exact, and many scores tie."""
    generator = torch.Generator().manual_seed(0)
    left, right = (torch.randint(-2, 3, (n, 4), generator=generator).to(dtype) for n in (10, entities))
    truth = torch.randint(entities, (10,), generator=generator)
    known = (
        torch.randint(10, (30,), generator=generator).sort().values,
        torch.randint(entities, (30,), generator=generator),
    )
    extra = (
        torch.randint(entities, (10,), generator=generator),
        torch.randint(-3, 4, (10,), generator=generator).to(dtype),
    )
    return left, right, truth, known, extra


@pytest.mark.parametrize("ties", ["realistic", "optimistic", "pessimistic"])
@pytest.mark.parametrize("with_extra", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("columns", [1, 5, 23, 512])
def test_ranks_are_the_same(columns, dtype, with_extra, ties, monkeypatch):
    monkeypatch.setattr(module, "COLUMNS", columns)
    left, right, truth, known, extra = example(dtype)
    whole, tiled = both_rankings(left, right, truth, known, extra if with_extra else None)
    assert torch.equal(whole.ranks(ties).rank, tiled.ranks(ties).rank)
    assert torch.equal(whole.ranks(ties).candidates, tiled.ranks(ties).candidates)


def test_rows_whose_truth_rounds_differently_are_counted_again(monkeypatch):
    left, right, truth, known, extra = example(torch.float64)
    per_triple_scores = module._own_scores
    monkeypatch.setattr(module, "_own_scores", lambda *arguments: per_triple_scores(*arguments) * (1 + 1e-15) + 1e-15)
    whole, tiled = both_rankings(left, right, truth, known, extra)
    assert torch.equal(whole.ranks().rank, tiled.ranks().rank)


@pytest.mark.parametrize("questions", [1, 6, 100])
@pytest.mark.parametrize("entities", [513, 514, 519, 1025, 1500])
@pytest.mark.parametrize("width", [34, 68])
def test_equal_entities_tie(width, entities, questions):
    torch.manual_seed(0)
    left, right = torch.randn(questions, width), torch.randn(1, width).expand(entities, width).contiguous()
    truth = torch.cat((torch.tensor([entities - 1]), torch.randint(entities, (questions - 1,))))
    ranking = Ranking(truth, entities)
    ranking.add_product(left, Tiles(right))
    assert ranking.ranks().rank.tolist() == [(entities + 1) / 2] * questions


def test_an_entity_that_is_none_is_refused():
    ranking = Ranking(torch.tensor([1]), 3, known=(torch.tensor([0]), torch.tensor([1])))
    ranking._rows, ranking._columns = torch.tensor([0]), torch.tensor([3])
    with pytest.raises(IndexError, match="expected entities 0 to 2"):
        ranking.add_product(torch.ones(1, 2), Tiles(torch.ones(3, 2)))


def test_autocast_changes_nothing():
    left, right, truth, known, extra = example(torch.float32)
    whole, tiled = both_rankings(left, right, truth, known, extra)
    with torch.autocast("cpu", torch.bfloat16):
        again, _ = both_rankings(left, right, truth, known, extra)[::-1]
    assert torch.equal(whole.ranks().rank, tiled.ranks().rank)
    assert torch.equal(again.ranks().rank, tiled.ranks().rank)


def test_a_truth_that_is_not_finite_is_refused():
    left, right = torch.ones(1, 2), torch.ones(3, 2)
    right[1, 0] = torch.nan
    ranking = Ranking(torch.tensor([1]), 3)
    ranking.add_product(left, Tiles(right))
    with pytest.raises(ValueError, match="diverged"):
        ranking.ranks()
