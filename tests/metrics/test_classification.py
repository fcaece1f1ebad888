"""Classification measures against scikit-learn."""

import pytest
import torch

from hybonet.metrics import accuracy, average_precision, f1_score, roc_auc


@pytest.fixture(scope="module")
def sklearn_metrics():
    return pytest.importorskip("sklearn.metrics")


@pytest.mark.parametrize("levels", [2, 3, 10, 1_000_000])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_rankings_with_and_without_ties(sklearn_metrics, levels: int, seed: int, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(seed)
    scores = (torch.randint(levels, (200,), generator=generator) / levels - 0.5).to(dtype)
    truth = torch.rand(200, generator=generator) < 0.3
    expected = scores.double().numpy()
    assert roc_auc(scores, truth) == pytest.approx(sklearn_metrics.roc_auc_score(truth, expected), abs=1e-12)
    oracle = sklearn_metrics.average_precision_score(truth, expected)
    assert average_precision(scores, truth.long()) == pytest.approx(oracle, abs=1e-12)


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("seed", range(5))
def test_classes(sklearn_metrics, classes: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    # Few examples, so that some classes are never predicted or never true.
    predicted, truth = torch.randint(classes, (2, 9), generator=generator)
    assert accuracy(predicted, truth) == pytest.approx(sklearn_metrics.accuracy_score(truth, predicted))
    for average in ("micro", "macro") + (("binary",) if classes == 2 else ()):
        expected = sklearn_metrics.f1_score(truth, predicted, average=average, zero_division=0)
        assert f1_score(predicted, truth, average=average) == pytest.approx(expected)


def test_limits() -> None:
    truth = torch.tensor([0, 0, 1, 1])
    assert roc_auc(torch.tensor([1.0, 2, 3, 4]), truth) == 1
    assert roc_auc(torch.tensor([4.0, 3, 2, 1]), truth) == 0
    assert roc_auc(torch.zeros(4), truth) == 0.5
    assert average_precision(torch.zeros(4), truth) == 0.5
    assert roc_auc(torch.tensor([-torch.inf, 0, 1, torch.inf]), truth) == 1
    assert f1_score(torch.zeros(4, dtype=torch.long), torch.zeros(4, dtype=torch.long), average="binary") == 0


@pytest.mark.parametrize(
    ("scores", "truth", "message"),
    [
        ([0.1, 0.2], [1], r"shapes \(2,\) and \(1,\)"),
        ([0.1, float("nan")], [0, 1], "NaN"),
        ([0.1, 0.2], [1, 1], "2 examples of one kind"),
        ([0.1, 0.2], [1, 2], "0 or 1"),
    ],
)
def test_senseless_rankings_are_refused(scores: list[float], truth: list[int], message: str) -> None:
    for measure in (roc_auc, average_precision):
        with pytest.raises(ValueError, match=message):
            measure(torch.tensor(scores), torch.tensor(truth))


@pytest.mark.parametrize(
    ("predicted", "truth", "message"),
    [
        (torch.tensor([0, 1]), torch.tensor([0]), r"shapes \(2,\) and \(1,\)"),
        (torch.tensor([0.5, 1]), torch.tensor([0, 1]), "whole numbers from 0, got torch.float32"),
        (torch.tensor([0, 1]), torch.tensor([0, -1]), "leave out unlabelled"),
        (torch.tensor([0, 2]), torch.tensor([0, 1]), "binary F1, got 3 classes"),
    ],
)
def test_senseless_classes_are_refused(predicted: torch.Tensor, truth: torch.Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        f1_score(predicted, truth, average="binary")
