"""Probabilities that can be taken at their word: two numbers fitted to the validation data after training.

A training by margins leaves distances whose order is right and whose size means nothing, and cross-entropy is often
too sure of itself. Orders, and so ROC AUC and predicted classes, do not change.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

_LEAST = 1e-3  # of a temperature, relative to the spread of what it divides


def link_calibration(positive: Tensor, negative: Tensor) -> dict[str, float]:
    """Radius and temperature for which squared distances of links and of other pairs, as many, are most likely.

    Example:
        >>> near, far = torch.tensor([0.0, 1.0, 2.0, 9.0]), torch.tensor([2.0, 8.0, 10.0, 12.0])
        >>> fitted = link_calibration(near, far)
        >>> 2 < fitted["radius"] < 9
        True
    """
    square = torch.cat((positive, negative)).double().cpu()
    truth = (torch.arange(len(square)) < len(positive)).double()
    spread = max(float(square.std()), 1e-6)
    start = torch.tensor([float(square.median()) / spread, 0.0], dtype=torch.float64)

    def loss(values: Tensor) -> Tensor:
        logits = (values[0] - square / spread) / _positive(values[1])
        return F.binary_cross_entropy_with_logits(logits, truth)

    radius, temperature = _fitted(loss, start)
    return {"radius": float(radius) * spread, "temperature": float(_positive(temperature)) * spread}


def class_calibration(logits: Tensor, truth: Tensor) -> dict[str, float]:
    """The temperature by which scores of classes are divided for the truth to be most likely.

    Example:
        >>> sure = torch.tensor([[9.0, 0.0], [0.0, 9.0], [9.0, 0.0], [9.0, 0.0]])
        >>> class_calibration(sure, torch.tensor([0, 1, 0, 1]))["temperature"] > 4  # right three times in four
        True
    """
    logits, truth = logits.double().cpu(), truth.cpu()
    spread = max(float(logits.std()), 1e-6)
    start = torch.zeros(1, dtype=torch.float64)
    (value,) = _fitted(lambda values: F.cross_entropy(logits / spread / _positive(values[0]), truth), start)
    return {"temperature": float(_positive(value)) * spread}


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
