"""Measures of yes-or-no scores and of predicted classes, computed exactly, ties included."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor

F1Average = Literal["binary", "micro", "macro"]


def roc_auc(scores: Tensor, truth: Tensor) -> float:
    """The chance that a random positive has a larger score than a random negative; a tie counts half.

    Args:
        scores: shape (n,), larger for what is more likely true.
        truth: shape (n,), True or 1 for positives.

    Example:
        >>> roc_auc(torch.tensor([0.9, 0.8, 0.8, 0.1]), torch.tensor([True, True, False, False]))
        0.875
    """
    positives, totals = _by_threshold(scores, truth)
    negatives = totals - positives
    below = negatives.flip(0).cumsum(0).flip(0) - negatives
    wins = (positives * (below + negatives / 2)).sum()
    return float(wins / (positives.sum() * negatives.sum()))


def average_precision(scores: Tensor, truth: Tensor) -> float:
    """Precision averaged over the steps of recall, equal scores being one step.

    Args:
        scores, truth: as for :func:`roc_auc`.

    Example:
        >>> average_precision(torch.tensor([0.9, 0.8, 0.7]), torch.tensor([True, False, True]))
        0.8333333333333333
    """
    positives, totals = _by_threshold(scores, truth)
    precision = positives.cumsum(0) / totals.cumsum(0)
    return float((precision * positives).sum() / positives.sum())


def _by_threshold(scores: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
    """Positives and all examples at each distinct score, the largest first."""
    if scores.dim() != 1 or scores.shape != truth.shape:
        raise ValueError(
            f"expected one score and one truth an example, got shapes {tuple(scores.shape)} and {tuple(truth.shape)}; "
            "give two lists of the same length"
        )
    if bool(scores.isnan().any()):
        raise ValueError("expected scores that are numbers, got NaN; has the training diverged?")
    if not bool(((truth == 0) | (truth == 1)).all()):
        raise ValueError("expected a truth of 0 or 1, got other values; compare labels with the positive class first")
    positive = truth == 1
    if bool(positive.all()) or not bool(positive.any()):
        raise ValueError(
            f"expected positives and negatives, got {len(truth)} examples of one kind; the measure needs both"
        )
    distinct, place = scores.unique(return_inverse=True)
    place = len(distinct) - 1 - place
    totals = torch.bincount(place, minlength=len(distinct)).double()
    return torch.bincount(place[positive], minlength=len(distinct)).double(), totals


def accuracy(predicted: Tensor, truth: Tensor) -> float:
    """The share of right classes.

    Example:
        >>> accuracy(torch.tensor([0, 1, 2]), torch.tensor([0, 2, 2]))
        0.6666666666666666
    """
    _check_classes(predicted, truth)
    return float((predicted == truth).double().mean())


def f1_score(predicted: Tensor, truth: Tensor, *, average: F1Average = "macro") -> float:
    """F1, the harmonic mean of precision and recall; 0 where nothing is predicted or true.

    Args:
        predicted, truth: classes from 0, shape (n,).
        average: ``binary`` is F1 of class 1; ``micro`` counts over all classes, and is the accuracy where each example
            has one class; ``macro`` is the mean over the classes that are predicted or true.

    Example:
        >>> predicted, truth = torch.tensor([1, 1, 0, 1]), torch.tensor([1, 0, 0, 1])
        >>> f1_score(predicted, truth, average="binary")
        0.8
        >>> f1_score(predicted, truth, average="micro")
        0.75
    """
    _check_classes(predicted, truth)
    if average not in get_args(F1Average):
        raise ValueError(f"expected an average of {', '.join(get_args(F1Average))}, got {average!r}; choose one")
    size = 1 + int(torch.maximum(predicted.max(), truth.max()))
    if average == "binary" and size > 2:
        raise ValueError(f"expected classes 0 and 1 for the binary F1, got {size} classes; use micro or macro")
    size = max(size, 2)
    right = torch.bincount(truth[predicted == truth], minlength=size).double()
    both = torch.bincount(predicted, minlength=size).double() + torch.bincount(truth, minlength=size)
    if average == "micro":
        return float(2 * right.sum() / both.sum())
    by_class = torch.where(both > 0, 2 * right / both.clamp_min(1), 0)
    return float(by_class[1] if average == "binary" else by_class[both > 0].mean())


def _check_classes(predicted: Tensor, truth: Tensor) -> None:
    if predicted.dim() != 1 or predicted.shape != truth.shape or not len(truth):
        raise ValueError(
            f"expected one predicted and one true class an example, got shapes {tuple(predicted.shape)} and "
            f"{tuple(truth.shape)}; give two lists of the same length, e.g. scores.argmax(1)"
        )
    for name, classes in (("predicted", predicted), ("true", truth)):
        if classes.is_floating_point() or int(classes.min()) < 0:
            raise ValueError(
                f"expected {name} classes as whole numbers from 0, got {classes.dtype} from {classes.min().item()}; "
                "leave out unlabelled examples"
            )
