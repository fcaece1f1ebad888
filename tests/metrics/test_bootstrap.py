"""Bootstrap intervals: seeded, as wide as they must be, and never without width."""

import pytest
import torch

from hybonet.metrics import average_precision, roc_auc
from hybonet.metrics.bootstrap import f1_intervals, link_intervals, mean_intervals, resampled


def test_the_interval_of_a_mean_is_that_of_the_normal_law():
    values = torch.rand(2000, generator=torch.Generator().manual_seed(0))
    low, high = mean_intervals({"x": values})["x"]
    half = 1.96 * float(values.std()) / 2000**0.5
    assert (low, high) == pytest.approx((float(values.mean()) - half, float(values.mean()) + half), abs=0.15 * half)
    assert mean_intervals({"x": values}) == mean_intervals({"x": values})
    assert mean_intervals({"x": values}) != mean_intervals({"x": values}, seed=1)


@pytest.mark.parametrize("cases", [10, 35, 200])
def test_a_perfect_result_has_the_width_that_its_cases_leave(cases):
    exact = 0.025 ** (1 / cases)  # Clopper and Pearson
    right = torch.ones(cases)
    found = (
        mean_intervals({"x": right})["x"],
        link_intervals(torch.arange(2.0 * cases), torch.arange(2 * cases) >= cases)["roc_auc"],
        f1_intervals(right, right, right)["f1"],  # to miss one costs half as much
    )
    for (low, high), least in zip(found, (0.8, 0.8, 0.4), strict=True):
        assert least < (1 - low) / (1 - exact) < 1.1
        assert high == pytest.approx(1.0)


def test_links_are_resampled_as_one_by_one():
    generator = torch.Generator().manual_seed(0)
    scores = torch.randint(30, (300,), generator=generator).double()
    truth = torch.rand(300, generator=generator) < scores / 40
    found = link_intervals(scores, truth)
    aucs, precisions = [], []
    positive, negative = scores[truth], scores[~truth]
    for _ in range(400):
        parts = [each[torch.randint(len(each), (len(each),), generator=generator)] for each in (positive, negative)]
        drawn, of = torch.cat(parts), torch.arange(len(scores)) < len(positive)
        aucs.append(roc_auc(drawn, of))
        precisions.append(average_precision(drawn, of))
    for name, values in (("roc_auc", aucs), ("average_precision", precisions)):
        low, high = torch.tensor(values).quantile(torch.tensor([0.025, 0.975])).tolist()
        assert found[name] == pytest.approx([low, high], abs=0.02)


def test_every_resample_has_as_many_cases():
    counts = torch.cat(list(resampled(40, resamples=120)))
    assert counts.shape == (120, 42)
    assert bool((counts.sum(1) == 40).all())
    assert counts[:, -2:].mean() == pytest.approx(40 / 42, abs=0.3)


def test_nothing_has_no_interval():
    assert mean_intervals({"x": torch.empty(0)}) == {}
