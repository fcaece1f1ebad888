"""Losses of link prediction and node classification: the paper's text, and its released code."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def link_cross_entropy(positive: Tensor, negative: Tensor) -> Tensor:
    """Binary cross-entropy of log-odds of links and of pairs without one, both kinds weighing the same.

    Example:
        >>> import torch
        >>> round(float(link_cross_entropy(torch.zeros(3), torch.zeros(5))), 4)
        0.6931
    """
    return 0.5 * (F.softplus(-positive).mean() + F.softplus(negative).mean())


def link_margin(positive: Tensor, negative: Tensor, margin: float) -> Tensor:
    """Each link's score must exceed that of the pair drawn with it by the margin.

    Example:
        >>> import torch
        >>> link_margin(torch.tensor([3.0, 1.0]), torch.tensor([0.0, 0.0]), margin=2.0)
        tensor(0.5000)
    """
    return F.relu(margin - positive + negative).mean()


def class_margin(logits: Tensor, classes: Tensor, margin: float) -> Tensor:
    """The right class's score must exceed every other by the margin; mean over nodes and classes, its own included.

    The right class compared with itself adds a constant, as in the paper's code.

    Example:
        >>> import torch
        >>> class_margin(torch.tensor([[3.0, 0.0]]), torch.tensor([0]), margin=1.0)
        tensor(0.5000)
    """
    right = logits.gather(1, classes[:, None])
    return F.relu(margin - right + logits).mean()
