"""Calibrated probabilities: what is put in comes out, groups are told apart where they are, and errors are seen."""

import json

import numpy as np
import pytest
import torch

from hybonet.metrics.calibration import Calibration, fit_calibration, reliability


def drawn(log_odds, seed=0):
    return torch.rand(len(log_odds), generator=torch.Generator().manual_seed(seed)) < log_odds.sigmoid()


def features(n, seed=1):
    return torch.randn(n, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_a_line_is_found_again():
    x = features(4000)
    truth = drawn(1.5 * x[:, 0] - 0.5 * x[:, 1] - 1)
    fitted = fit_calibration(x, truth)
    assert fitted.curve is None
    assert fitted.weights[0].tolist() == pytest.approx([-1, 1.5, -0.5], abs=0.2)
    assert reliability(fitted(x), truth)["ece"] < 0.03


def test_groups_have_lines_of_their_own_where_they_differ_and_share_one_where_not():
    x, group = features(3000), torch.arange(3000) % 3
    apart = fit_calibration(x, drawn(x[:, 0] + 3.0 * (group - 1)), group=group)
    assert apart.weights.shape == (3, 3)
    assert apart.weights[:, 0].diff().gt(1.5).all()
    alike = fit_calibration(x, drawn(x[:, 0]), group=group)
    assert len(alike.weights) == 1 or float(alike.weights.std(0).max()) < 0.3


def test_a_bent_truth_gets_a_curve_and_is_the_better_for_it():
    x = features(4000)[:, :1]
    truth = drawn(torch.where(x[:, 0] > 0, 6 * x[:, 0], 0.2 * x[:, 0]) - 1)
    fitted = fit_calibration(x, truth)
    assert fitted.curve is not None
    assert bool((fitted.curve[:, 1].diff() >= 0).all())
    line = Calibration(fitted.weights)
    other = drawn(torch.where(x[:, 0] > 0, 6 * x[:, 0], 0.2 * x[:, 0]) - 1, seed=5)
    assert reliability(fitted(x), other)["brier"] < reliability(line(x), other)["brier"] - 0.002


def test_weights_count_as_repetitions():
    x = features(400)
    truth = drawn(x[:, 0])
    twice = torch.cat((x, x[truth])), torch.cat((truth, truth[truth]))
    case = torch.cat((torch.arange(400), truth.nonzero().flatten()))
    weighted = fit_calibration(x, truth, weight=1.0 + truth)
    repeated = fit_calibration(*twice, case=case)
    probe = features(50, seed=9)
    assert torch.allclose(weighted(probe), repeated(probe), atol=0.03)


def test_nothing_is_quite_certain():
    x = torch.linspace(-1, 1, 60, dtype=torch.float64)[:, None]
    fitted = fit_calibration(x, x[:, 0] > 0)
    assert 0 < float(fitted(x).min()) < float(fitted(x).max()) < 1
    alone = fit_calibration(x, torch.ones(60))  # one kind only: finite all the same
    assert bool(alone(x).isfinite().all())


def test_it_survives_json():
    fitted = fit_calibration(features(300), drawn(features(300)[:, 0] ** 3), group=torch.arange(300) % 2)
    again = Calibration.from_dict(json.loads(json.dumps(fitted.as_dict())))
    assert torch.equal(again(features(9), torch.arange(9) % 2), fitted(features(9), torch.arange(9) % 2))


def test_calibration_error_is_that_of_the_definition():
    p = torch.rand(500, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    y = drawn(4 * p - 2)
    w = torch.rand(500, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    expected = 0.0
    for low in np.arange(10) / 10:
        here = (p >= low) & (p < low + 0.1)
        expected += abs(float((w * (p - y.double()))[here].sum())) / float(w.sum())
    found = reliability(p, y, w)
    assert found["ece"] == pytest.approx(expected)
    assert found["brier"] == pytest.approx(float((w * (p - y.double()) ** 2).sum() / w.sum()))
