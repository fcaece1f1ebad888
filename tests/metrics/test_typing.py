"""Macro scores of entity typing, against scikit-learn."""

import pytest
import torch

from hybonet.metrics.typing import TypePredictions

metrics = pytest.importorskip("sklearn.metrics")
LEVELS = torch.tensor([0, 0, 1, 1, 1, 2, 2, 2, 2])
NAMES = ["coarse", "fine", "ultra-fine"]


def random_case(mentions=60):
    generator = torch.Generator().manual_seed(3)
    probabilities = torch.rand(mentions, len(LEVELS), generator=generator) ** 2
    gold = (torch.rand(mentions, len(LEVELS), generator=generator) < 0.25).long()
    gold[:3] = 0  # mentions without any type
    return probabilities, gold


def by_sklearn(predicted, gold):
    """Samples average over the rows that count for each of precision and recall."""
    with_prediction, with_gold = predicted.any(1), gold.any(1)
    precision = metrics.precision_score(gold[with_prediction], predicted[with_prediction], average="samples")
    recall = metrics.recall_score(gold[with_gold], predicted[with_gold], average="samples", zero_division=0)
    return precision, recall, 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize("threshold", [0.5, 0.3, 0.9])
def test_scores_are_those_of_scikit_learn(threshold):
    probabilities, gold = random_case()
    kept = TypePredictions(LEVELS, NAMES)
    for part in (slice(0, 7), slice(7, 60)):  # in batches
        kept.add(probabilities[part], gold[part])
    result = kept.measure(threshold)
    predicted = probabilities > threshold
    predicted[torch.arange(60), probabilities.argmax(1)] = True
    for name, columns in [("total", slice(None)), *((name, n == LEVELS) for n, name in enumerate(NAMES))]:
        expected = by_sklearn(predicted[:, columns].numpy(), gold[:, columns].numpy())
        found = result[name]
        assert (found["precision"], found["recall"], found["f1"]) == pytest.approx(expected)
        assert found["mentions"] == gold[:, columns].any(1).sum()


def test_the_likeliest_type_is_predicted_however_unlikely():
    kept = TypePredictions(torch.tensor([0, 0]), ["all"])
    kept.add(torch.tensor([[0.001, 0.002]]), torch.tensor([[0, 1]]))
    result = kept.measure()
    assert result == {"total": {"precision": 1.0, "recall": 1.0, "f1": 1.0, "predicted": 1.0, "mentions": 1.0}}


def test_thresholds_below_those_of_a_calibration():
    probabilities, gold = torch.tensor([[0.9, 0.015, 0.004]]), torch.tensor([[1, 1, 0]])
    kept = TypePredictions(torch.tensor([0, 0, 0]), ["all"], lowest=0.01)
    kept.add(probabilities, gold)
    assert kept.measure(0.01)["total"]["predicted"] == 2.0
    with pytest.raises(ValueError, match=r"expected a threshold of 0.01 or more, .* got 0.001; .* lowest=0.001"):
        kept.measure(0.001)


def test_calibration_finds_the_best_of_all_thresholds():
    probabilities, gold = random_case()
    kept = TypePredictions(LEVELS, NAMES)
    kept.add(probabilities, gold)
    best = kept.best_threshold()
    scores = [kept.measure(number / 50)["total"]["f1"] for number in range(1, 50)]
    assert kept.measure(best)["total"]["f1"] == max(scores)


def test_nothing_right_is_no_division_by_zero():
    kept = TypePredictions(torch.tensor([0, 1]), ["a", "b"])
    kept.add(torch.tensor([[0.9, 0.1]]), torch.tensor([[0, 0]]))
    assert kept.measure()["total"]["f1"] == 0.0
    assert kept.measure()["b"]["precision"] == 0.0


def test_intervals_hold_the_scores_and_are_narrow_where_mentions_are_many():
    kept = TypePredictions(LEVELS, NAMES)
    kept.add(*random_case(mentions=2000))
    total = kept.measure()["total"]
    intervals = kept.intervals()
    assert set(intervals) == {"precision", "recall", "f1"}
    for name, (low, high) in intervals.items():
        assert low < total[name] < high
        assert high - low < 0.1
