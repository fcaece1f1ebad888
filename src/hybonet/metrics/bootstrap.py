"""How sure a measure is: intervals from resampled cases, seeded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from torch import Tensor

#: Resamples, and the share of them that an interval holds.
RESAMPLES, LEVEL = 1000, 0.95
#: Resamples that are drawn at a time.
_AT_A_TIME = 50
#: A measure's lowest and highest value in the resamples.
Interval = list[float]


def resampled(cases: int, *, imagined: int = 2, resamples: int = RESAMPLES, seed: int = 0) -> Iterator[Tensor]:
    """How often each case is in each resample, ``(resamples, cases + imagined)`` in parts.

    The last two columns, by default, are an imagined worst and an imagined best case. Without them a perfect result
    would have no width however few its cases are: of 35 the lower bound is .91, by Clopper and Pearson .90.
    """
    generator = torch.Generator().manual_seed(seed)
    for start in range(0, resamples, _AT_A_TIME):
        rows = min(_AT_A_TIME, resamples - start)
        drawn = torch.randint(cases + imagined, (rows, cases), generator=generator)
        yield torch.zeros(rows, cases + imagined).scatter_add_(1, drawn, torch.ones(rows, cases))


def interval(values: Tensor) -> Interval:
    """The bounds that hold the middle :data:`LEVEL` of resampled values."""
    outside = (1 - LEVEL) / 2
    return torch.quantile(values.double(), torch.tensor([outside, 1 - outside], dtype=torch.float64)).tolist()


def sum_intervals(
    table: Tensor,
    of: Callable[[Tensor], Mapping[str, Tensor]],
    *,
    worst: Sequence[float] | None = None,
    best: Sequence[float] | None = None,
    seed: int = 0,
) -> dict[str, Interval]:
    """Intervals of measures that are made of sums over cases.

    Args:
        table: what each case adds, ``(cases, columns)``.
        of: measures by name, ``(resamples,)``, from sums over the cases of each resample, ``(resamples, columns)``.
        worst, best: what the imagined cases add; 0 and 1 by default.
    """
    cases, columns = table.shape
    if not cases:
        return {}
    ends = [torch.zeros(columns) if worst is None else torch.tensor(worst)]
    ends.append(torch.ones(columns) if best is None else torch.tensor(best))
    whole = torch.cat((table.float().cpu(), torch.stack(ends)))
    sums = torch.cat([counts @ whole for counts in resampled(cases, seed=seed)]).double()
    return {name: interval(values) for name, values in of(sums).items()}


def mean_intervals(values: Mapping[str, Tensor], *, seed: int = 0) -> dict[str, Interval]:
    """Intervals of means of values between 0 and 1, ``(cases,)`` each, over the same resamples."""
    table = torch.stack(list(values.values()), dim=1)
    return sum_intervals(
        table, lambda sums: {name: sums[:, at] / len(table) for at, name in enumerate(values)}, seed=seed
    )


def f1_intervals(right: Tensor, predicted: Tensor, true: Tensor, *, seed: int = 0) -> dict[str, Interval]:
    """The interval of F1, from counts of each case, ``(cases,)`` each."""
    table = torch.stack((right, predicted, true), dim=1)
    return sum_intervals(
        table, lambda sums: {"f1": 2 * sums[:, 0] / (sums[:, 1] + sums[:, 2]).clamp_min(1)}, worst=(0, 0, 1), seed=seed
    )


def link_intervals(scores: Tensor, truth: Tensor, *, seed: int = 0) -> dict[str, Interval]:
    """Intervals of ROC AUC (``roc_auc``) and ``average_precision``, positives and negatives being drawn apart.

    The imagined cases are positives below and above all others.

    Args:
        scores, truth: as for :func:`hybonet.metrics.roc_auc`.
    """
    scores, truth = scores.double().cpu(), truth.cpu() == 1
    distinct = scores.unique()
    places = len(distinct) - torch.searchsorted(distinct, scores)  # from the largest score on
    positive, negative = torch.cat((places[truth], torch.tensor([len(distinct) + 1, 0]))), places[~truth]
    size = len(distinct) + 2
    aucs, precisions = [], []
    draws = resampled(len(positive) - 2, seed=seed), resampled(len(negative), imagined=0, seed=seed + 1)
    for right, wrong in zip(*draws, strict=True):
        p = right.new_zeros(len(right), size).index_add_(1, positive, right).double()
        n = wrong.new_zeros(len(wrong), size).index_add_(1, negative, wrong).double()
        found, above = p.cumsum(1), n.cumsum(1)
        totals = found[:, -1:], above[:, -1:]
        aucs.append((p * (totals[1] - above + n / 2)).sum(1) / (totals[0] * totals[1])[:, 0])
        precision = found / (found + above).clamp_min(1)
        precisions.append((precision * p).sum(1) / totals[0][:, 0])
    return {"roc_auc": interval(torch.cat(aucs)), "average_precision": interval(torch.cat(precisions))}
