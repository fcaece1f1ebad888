"""Probabilities that can be taken at their word: fitted to validation data after training, and how far off they are.

A training by margins leaves scores whose order is right and whose size means nothing, and cross-entropy is often too
sure of itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

#: Least temperature, relative to the spread of what it divides.
_LEAST = 1e-3
#: Bins of equal width that probabilities are sorted into to be compared with what happened.
BINS = 10
#: Probability from which on an answer that is not known counts as likely.
_LIKELY = 0.5
#: How strongly a group's own numbers are drawn to those of all; infinite: they are those of all.
_SHRINKAGE = (math.inf, 30.0, 3.0)
_FOLDS = 5
#: A curve takes the place of a straight line only if it is likelier by so much per case: it has many more numbers.
_CURVE_GAIN = 0.002


@dataclass(frozen=True)
class Calibration:
    r"""The probability :math:`\sigma(b_g + w_g \cdot x)` of features x in a group g, perhaps bent by a rising curve.

    Attributes:
        weights: ``(groups, 1 + features)``, :math:`b_g` first; a single row for all groups alike.
        curve: ``(points, 2)``, log-odds and the probabilities that they really have; None: a straight line (Platt).

    Example:
        >>> calibration = Calibration(torch.tensor([[0.0, 2.0]]))
        >>> calibration(torch.tensor([[-1.0], [0.0], [1.0]]))
        tensor([0.1192, 0.5000, 0.8808], dtype=torch.float64)
        >>> Calibration.from_dict(calibration.as_dict()).weights.tolist()
        [[0.0, 2.0]]
    """

    weights: Tensor
    curve: Tensor | None = None

    def __call__(self, features: Tensor, group: Tensor | None = None) -> Tensor:
        """Probabilities of ``features (n, features)`` in ``group (n,)``; ``(n,)``."""
        return self.bend(self.log_odds(features, group))

    def log_odds(self, features: Tensor, group: Tensor | None = None) -> Tensor:
        """The straight line."""
        weights = self.weights.double()
        rows = weights[group.cpu()] if group is not None and len(weights) > 1 else weights
        return rows[:, 0] + (rows[:, 1:] * features.detach().double().cpu()).sum(1)

    def bend(self, log_odds: Tensor) -> Tensor:
        """Probabilities of log-odds, ``(n,) -> (n,)``."""
        if self.curve is None:
            return torch.sigmoid(log_odds)
        places, values = self.curve.double().unbind(1)
        return torch.from_numpy(np.interp(log_odds.numpy(), places.numpy(), values.numpy()))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        kind = "isotonic" if self.curve is not None else "platt"
        curve = {} if self.curve is None else {"curve": self.curve.tolist()}
        return {"method": kind, "weights": self.weights.tolist(), **curve}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Calibration:
        """What :meth:`as_dict` gave."""
        curve = content.get("curve")
        return cls(
            torch.tensor(content["weights"], dtype=torch.float64),
            None if curve is None else torch.tensor(curve, dtype=torch.float64),
        )


def fit_calibration(
    features: Tensor,
    truth: Tensor,
    *,
    group: Tensor | None = None,
    weight: Tensor | None = None,
    case: Tensor | None = None,
) -> Calibration:
    """The calibration under which held-out cases are likeliest, chosen by cross-validation.

    It is one line for all groups, or a line of each group's own drawn to that of all, or a rising curve (isotonic
    regression) of the better of these.

    Args:
        features: ``(n, features)``.
        truth: ``(n,)``, 0 or 1.
        group: ``(n,)``, numbers from 0.
        weight: ``(n,)``, how much an example counts; 1 by default.
        case: ``(n,)``: examples of a case are on the same side of a fold; each is its own by default.

    Example:
        >>> score = torch.tensor([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0] * 8)
        >>> truth = (score > 0) ^ (torch.arange(64) % 9 == 0)  # right eight times in nine
        >>> fitted = fit_calibration(score[:, None], truth)
        >>> low, high = fitted(torch.tensor([[-3.0], [4.0]])).tolist()
        >>> low < 0.3 < 0.8 < high
        True
    """
    x, y = features.detach().double().cpu(), truth.double().cpu()
    g = torch.zeros(len(y), dtype=torch.long) if group is None else group.cpu()
    w = torch.ones_like(y) if weight is None else weight.double().cpu()
    fold = (torch.arange(len(y)) if case is None else case.cpu()) % _FOLDS
    lines = [line for line in _SHRINKAGE if math.isinf(line) or bool((g != g[0]).any())]
    groups, folds = int(g.max()) + 1, [fold == number for number in range(_FOLDS)]
    # A fold is judged by what the others say of it; where they say nothing, nothing is known.
    folds = [outside for outside in folds if bool(outside.any()) and _both(y[~outside])]
    unseen = {line: torch.zeros_like(y) for line in lines}
    for line, log_odds in unseen.items():
        for out in folds:
            fitted = _line(x[~out], y[~out], g[~out], w[~out], line, groups)
            log_odds[out] = fitted.log_odds(x[out], g[out])
    best = min(lines, key=lambda line: _surprise(unseen[line].sigmoid(), y, w))
    straight = _line(x, y, g, w, best, groups)
    bent = torch.zeros_like(y)
    for out in folds:
        bent[out] = Calibration(straight.weights, _curve(unseen[best][~out], y[~out], w[~out])).bend(unseen[best][out])
    gain = _surprise(unseen[best].sigmoid(), y, w) - _surprise(bent, y, w)
    # The curve is that of cases which their line had not seen: of others it would be too sure.
    curve = _curve(unseen[best], y, w) if folds and gain > _CURVE_GAIN * float(w.sum()) else None
    return Calibration(straight.weights, curve)


def _both(truth: Tensor) -> bool:
    return bool((truth > 0).any()) and bool((truth == 0).any())


def _surprise(probability: Tensor, truth: Tensor, weight: Tensor) -> float:
    loss = F.binary_cross_entropy(probability.clamp(1e-6, 1 - 1e-6), truth, weight=weight, reduction="sum")
    return float(loss)


def _line(x: Tensor, y: Tensor, group: Tensor, weight: Tensor, shrinkage: float, groups: int) -> Calibration:
    """Logistic regression; a group's numbers are those of all and deviations with a penalty on their squares."""
    centre, spread = x.mean(0), x.std(0, unbiased=False).clamp_min(1e-6)
    z = torch.cat((x.new_ones(len(x), 1), (x - centre) / spread), dim=1)
    # Platt's targets: nothing is quite certain, which keeps the numbers finite where all is told apart.
    right, wrong = float((y > 0).sum()), float((y == 0).sum())
    target = torch.where(y > 0, (right + 1) / (right + 2), 1 / (wrong + 2))
    shared, width = math.isinf(shrinkage), z.shape[1]
    start = x.new_zeros((1 if shared else 1 + groups) * width)

    def loss(values: Tensor) -> Tensor:
        rows = values.view(-1, width)
        log_odds = z @ rows[0] if shared else z @ rows[0] + (z * rows[1 + group]).sum(1)
        fit = F.binary_cross_entropy_with_logits(log_odds, target, weight=weight, reduction="sum")
        return (fit + (0.0 if shared else 0.5 * shrinkage * rows[1:].square().sum())) / weight.sum()

    rows = _fitted(loss, start).view(-1, width)
    rows = rows if shared else rows[:1] + rows[1:]
    slopes = rows[:, 1:] / spread
    return Calibration(torch.cat((rows[:, :1] - (slopes @ centre)[:, None], slopes), dim=1))


def _curve(log_odds: Tensor, truth: Tensor, weight: Tensor) -> Tensor:
    """The rising curve that fits best (pool adjacent violators), as :attr:`Calibration.curve`."""
    order = log_odds.argsort(stable=True)
    places, values = _rising(*(each[order].numpy() for each in (log_odds, truth, weight)))
    return torch.tensor(np.stack((places, values), axis=1))


def _rising(
    place: NDArray[np.float64], value: NDArray[np.float64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means of blocks that never fall; each has an imagined right and wrong case, so that none is certain."""
    blocks: list[list[float]] = []  # sums of weight, of weighted value, of weighted place
    for at, y, w in zip(place.tolist(), value.tolist(), weight.tolist(), strict=True):
        blocks.append([w, w * y, w * at])
        while len(blocks) > 1 and blocks[-2][1] * blocks[-1][0] >= blocks[-1][1] * blocks[-2][0]:
            last = blocks.pop()
            blocks[-1] = [a + b for a, b in zip(blocks[-1], last, strict=True)]
    sums = np.array(blocks)
    means = (sums[:, 1] + 1) / (sums[:, 0] + 2)
    return sums[:, 2] / sums[:, 0], np.maximum.accumulate(means)


def link_calibration(positive: Tensor, negative: Tensor) -> dict[str, float]:
    """Radius and temperature for which squared distances of links and of other pairs, as many, are most likely."""
    square = torch.cat((positive, negative)).double().cpu()
    truth = (torch.arange(len(square)) < len(positive)).double()
    spread = max(float(square.std()), 1e-6)
    start = torch.tensor([float(square.median()) / spread, 0.0], dtype=torch.float64)

    def loss(values: Tensor) -> Tensor:
        logits = (values[0] - square / spread) / _positive(values[1])
        return F.binary_cross_entropy_with_logits(logits, truth)

    radius, temperature = _fitted(loss, start)
    return {"radius": float(radius) * spread, "temperature": float(_positive(temperature)) * spread}


def link_probability(square: Tensor, radius: float, temperature: float) -> Tensor:
    r"""The probability :math:`\sigma((r - d^2)/t)` of links, by what :func:`link_calibration` found."""
    return torch.sigmoid((radius - square) / temperature)


def class_calibration(logits: Tensor, truth: Tensor) -> dict[str, float]:
    """The temperature by which scores of classes are divided for the truth to be most likely."""
    logits, truth = logits.double().cpu(), truth.cpu()
    spread = max(float(logits.std()), 1e-6)
    start = torch.zeros(1, dtype=torch.float64)
    (value,) = _fitted(lambda values: F.cross_entropy(logits / spread / _positive(values[0]), truth), start)
    return {"temperature": float(_positive(value)) * spread}


def reliability(probability: Tensor, truth: Tensor, weight: Tensor | None = None) -> dict[str, Any]:
    """How far probabilities are from what happens, over bins of equal width.

    ``ece`` is the expected calibration error, the mean over examples of the distance between the mean probability of
    their bin and the share that is true there; ``brier`` the mean square of the error. ``bins`` have the mean
    probability, the share that is true, and the share of all examples.

    Args:
        probability, truth: ``(n,)``.
        weight: how much an example counts; 1 by default.

    Example:
        >>> found = reliability(torch.tensor([0.2, 0.2, 0.9, 0.9]), torch.tensor([0, 1, 1, 1]))
        >>> round(found["ece"], 3), found["cases"], len(found["bins"])
        (0.2, 4, 2)
    """
    p, y = probability.double().cpu(), truth.double().cpu()
    w = torch.ones_like(p) if weight is None else weight.double().cpu()
    place = (p * BINS).long().clamp(0, BINS - 1)
    total, mean, true = (torch.zeros(BINS, dtype=p.dtype).index_add_(0, place, each) for each in (w, w * p, w * y))
    full = total > 0
    bins = (
        torch.stack((mean, true, total), dim=1)[full] / torch.stack((total, total, w.sum().expand(BINS)), dim=1)[full]
    )
    return {
        "ece": float(((bins[:, 0] - bins[:, 1]).abs() * bins[:, 2]).sum()),
        "brier": float((w * (p - y).square()).sum() / w.sum()),
        "cases": len(p),
        "bins": [[round(value, 5) for value in row] for row in bins.tolist()],
    }


def verdict(known: bool, probability: float | None) -> str:
    """An answer in a word: ``known``, ``new`` or ``unlikely``; nothing where there is no probability.

    Example:
        >>> verdict(True, 0.2), verdict(False, 0.7), verdict(False, 0.2), verdict(False, None)
        ('known', 'new', 'unlikely', '')
    """
    if known or probability is None:
        return "known" if known else ""
    return "new" if probability >= _LIKELY else "unlikely"


class Judged:
    """An answer, a data class, that is known or has a probability; its :func:`verdict` stands beside its fields."""

    known: bool
    probability: float | None

    @property
    def verdict(self) -> str:
        """``known``, ``new`` (probability one half or more) or ``unlikely``."""
        return verdict(self.known, self.probability)

    def as_dict(self) -> dict[str, Any]:
        """For JSON and CSV."""
        return {**asdict(self), "verdict": self.verdict}  # type: ignore[call-overload]


def _positive(log: Tensor) -> Tensor:
    return log.clamp(math.log(_LEAST), -math.log(_LEAST)).exp()


def _fitted(loss: Callable[[Tensor], Tensor], start: Tensor) -> Tensor:
    values = start.clone().requires_grad_()
    optimizer = torch.optim.LBFGS([values], max_iter=100, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimizer.zero_grad()
        value = loss(values)
        value.backward()
        return value

    with torch.enable_grad():
        optimizer.step(closure)
    return values.detach()
