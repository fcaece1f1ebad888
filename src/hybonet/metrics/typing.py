"""Macro precision, recall and F1 of entity typing, overall and by level of detail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from hybonet.metrics.bootstrap import Interval, sum_intervals

#: A type is predicted if its probability is larger.
THRESHOLD = 0.5
#: Thresholds that a calibration tries.
_TRIED = tuple(number / 50 for number in range(1, 50))
#: The lowest of them: what is less likely is not kept unless it is asked for.
LOWEST = _TRIED[0]


@dataclass(frozen=True)
class TypeCounts:
    """How many types of each level each mention has: predicted, right among these, and in truth; ``(N, levels)``."""

    predicted: Tensor
    right: Tensor
    gold: Tensor


def macro_scores(counts: TypeCounts) -> dict[str, float]:
    """Macro precision over mentions with a prediction, macro recall over mentions with a gold type, and their F1."""
    predicted, right, gold = (each.sum(-1).double() for each in (counts.predicted, counts.right, counts.gold))
    precision = _mean(right / predicted.clamp_min(1), predicted > 0)
    recall = _mean(right / gold.clamp_min(1), gold > 0)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "predicted": float(predicted.mean()) if len(predicted) else 0.0,
        "mentions": float((gold > 0).sum()),
    }


def _mean(values: Tensor, counted: Tensor) -> float:
    return float(values[counted].mean()) if bool(counted.any()) else 0.0


class TypePredictions:
    """The probabilities that matter of all mentions: the likeliest type of each, and all above the lowest threshold.

    Add mentions batch by batch, then measure at any threshold.

    Args:
        lowest: the lowest threshold that will be asked for; below it only the likeliest types are kept.
    """

    def __init__(self, level_numbers: Tensor, levels: Sequence[str], *, lowest: float = LOWEST) -> None:
        self.lowest = lowest
        self.levels = list(levels)
        self.level_of = torch.nn.functional.one_hot(level_numbers, len(self.levels)).float()
        self._level_numbers = level_numbers
        self._parts: list[tuple[Tensor, ...]] = []
        self._gold: list[Tensor] = []
        self._mentions = 0

    def add(self, probabilities: Tensor, gold: Tensor) -> None:
        """Probabilities and truth (0 or 1) of some mentions, both ``(N, types)``."""
        likeliest = torch.zeros_like(probabilities, dtype=torch.bool)
        if probabilities.shape[1]:
            likeliest.scatter_(1, probabilities.argmax(1, keepdim=True), True)
        row, column = (likeliest | (probabilities > self.lowest)).nonzero(as_tuple=True)
        kept = probabilities[row, column]
        chance = kept.where(~likeliest[row, column], probabilities.new_tensor(2.0))
        self._parts.append((row + self._mentions, self._level_numbers[column], chance, gold[row, column] > 0, kept))
        self._gold.append(gold.float() @ self.level_of)
        self._mentions += len(probabilities)

    def counts(self, threshold: float = THRESHOLD) -> TypeCounts:
        """What is predicted at a threshold: the likeliest type, and every one above."""
        if threshold < self.lowest:
            raise ValueError(
                f"expected a threshold of {self.lowest:g} or more, below which nothing was kept, got {threshold:g}; "
                f"collect the predictions with lowest={threshold:g}"
            )
        row, level, chance, right, _ = (torch.cat(each) for each in zip(*self._parts, strict=True))
        chosen = chance > threshold
        place = row[chosen] * len(self.levels) + level[chosen]
        shape, cells = (self._mentions, len(self.levels)), self._mentions * len(self.levels)
        predicted = torch.bincount(place, minlength=cells).view(shape)
        found = torch.bincount(place[right[chosen]], minlength=cells).view(shape)
        return TypeCounts(predicted, found, torch.cat(self._gold))

    def measure(self, threshold: float = THRESHOLD) -> dict[str, dict[str, float]]:
        """Scores of all types together (``total``) and, after leaving out all other levels, of each level."""
        counts = self.counts(threshold)
        result = {"total": macro_scores(counts)}
        for number, level in enumerate(self.levels) if len(self.levels) > 1 else ():
            parts = (each[:, number : number + 1] for each in (counts.predicted, counts.right, counts.gold))
            result[level] = macro_scores(TypeCounts(*parts))
        return result

    def intervals(self, threshold: float = THRESHOLD) -> dict[str, Interval]:
        """Intervals of precision, recall and F1 of all types together; mentions are resampled."""
        counts = self.counts(threshold)
        predicted, right, gold = (each.sum(-1).double() for each in (counts.predicted, counts.right, counts.gold))
        has, is_typed = (predicted > 0).double(), (gold > 0).double()
        table = torch.stack(
            (right / predicted.clamp_min(1), has, right / gold.clamp_min(1) * is_typed, is_typed), dim=1
        )

        def of(sums: Tensor) -> dict[str, Tensor]:
            precision, recall = (sums[:, at] / sums[:, at + 1].clamp_min(1) for at in (0, 2))
            f1 = 2 * precision * recall / (precision + recall).clamp_min(1e-12)
            return {"precision": precision, "recall": recall, "f1": f1}

        return sum_intervals(table, of, worst=(0, 1, 0, 1))

    def cases(self) -> tuple[Tensor, Tensor, Tensor]:
        """What was kept of all mentions: probabilities of types, whether they are right, and the types' levels."""
        _, level, _, right, probability = (torch.cat(each) for each in zip(*self._parts, strict=True))
        return probability, right, level

    def best_threshold(self) -> float:
        """The threshold of the highest total F1, the lowest of equals; to be chosen on validation mentions."""
        return max(_TRIED, key=lambda threshold: macro_scores(self.counts(threshold))["f1"])
