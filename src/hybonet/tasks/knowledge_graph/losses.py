"""Losses of knowledge-graph training: the score of the truth against those of candidates."""

from __future__ import annotations

from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

Loss = Literal["bce", "softmax", "self_adversarial"]


def binary_loss(truth: Tensor, others: Tensor, *, smoothing: float = 0.0) -> Tensor:
    """Binary cross-entropy per question, the mean over the truth and its candidates; ``(B,), (B, C) -> (B,)``.

    Candidates at minus infinity are left out.

    Example:
        >>> import torch
        >>> binary_loss(torch.tensor([0.0]), torch.tensor([[0.0, -torch.inf]]))
        tensor([0.6931])
    """
    counted = others > -torch.inf
    # softplus(-s) is -log σ(s); a label of 1 - ε moves ε of the weight to the other side.
    positive, negative = F.softplus(-truth), F.softplus(others)  # 0 at minus infinity
    if smoothing:
        positive = positive + smoothing * truth
        negative = torch.where(counted, negative - smoothing * others.clamp_min(-100), 0.0)
    return (positive + negative.sum(1)) / (1 + counted.sum(1))


def binary_loss_against(scores: Tensor, wrong: Tensor) -> Tensor:
    """:func:`binary_loss` of scores whose first column is the truth's, ``(B, 1 + C)``, where ``wrong (B, C)`` says so.

    The gradient is made with the loss, in a third of the passes, in single precision at least. What ``wrong`` names
    counts, even at minus infinity. Differentiable once.

    Example:
        >>> import torch
        >>> binary_loss_against(torch.zeros(1, 3), torch.tensor([[True, False]]))
        tensor([0.6931])
    """
    return _BinaryLossAgainst.apply(scores, wrong)


class _BinaryLossAgainst(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, wrong: Tensor) -> Tensor:
        ctx.dtype = scores.dtype
        signed = scores.float() if scores.dtype.itemsize < 4 else scores.clone()
        # As it should be small: softplus(-s) is -log σ(s).
        signed[:, 0].neg_()
        signed[:, 1:].masked_fill_(~wrong, -torch.inf)
        number = 1 + wrong.sum(1)
        loss = F.softplus(signed).sum(1) / number
        slope = signed.sigmoid_().div_(number[:, None])
        slope[:, 0].neg_()
        ctx.save_for_backward(slope)
        return loss

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (slope,) = ctx.saved_tensors
        return (slope * gradient[:, None]).to(ctx.dtype), None


def softmax_loss(truth: Tensor, others: Tensor, *, smoothing: float = 0.0, total: Tensor | None = None) -> Tensor:
    """Cross-entropy per question of choosing the truth among its candidates; ``(B,), (B, C) -> (B,)``.

    ``total`` is given when the candidates are a sample of so many, one number per question without what is left out:
    each then stands for several in the normaliser, which makes the loss an estimate of the one against all. Smoothing
    spreads that share of the target evenly over all.

    Example:
        >>> import torch
        >>> softmax_loss(torch.tensor([0.0]), torch.zeros(1, 3))
        tensor([1.3863])
    """
    counted = others > -torch.inf
    number = counted.sum(1)
    weight = torch.zeros_like(truth) if total is None else (total / number.clamp_min(1)).log()
    normaliser = torch.logsumexp(torch.cat((truth[:, None], others + weight[:, None]), dim=1), dim=1)
    loss = normaliser - truth
    if smoothing:
        mean = torch.where(counted, others, 0.0).sum(1) / number.clamp_min(1)
        loss = loss + smoothing * (truth - mean)
    return loss


def self_adversarial_loss(truth: Tensor, others: Tensor, *, temperature: float = 1.0) -> Tensor:
    r"""Sun et al. (2019): :math:`-\log σ(s) - \sum_i p_i \log σ(-s_i)`, harder candidates weighing more.

    Candidates at minus infinity are left out; without any other, only the truth counts.

    Example:
        >>> import torch
        >>> self_adversarial_loss(torch.tensor([0.0]), torch.tensor([[0.0, 0.0, -torch.inf]]))
        tensor([0.6931])
    """
    counted = others > -torch.inf
    # The least number in place of infinity: 0 times it is 0, and a row of nothing else has a softmax.
    logits = torch.where(counted, temperature * others.detach(), torch.finfo(others.dtype).min)
    weight = torch.softmax(logits, dim=1)
    negative = torch.where(counted, F.softplus(others), 0.0)
    return (F.softplus(-truth) + (weight * negative).sum(1)) / 2


def triple_loss(
    kind: Loss,
    truth: Tensor,
    others: Tensor,
    *,
    smoothing: float = 0.0,
    temperature: float = 1.0,
    total: Tensor | None = None,
) -> Tensor:
    """The loss of that name, one number per question."""
    match kind:
        case "bce":
            return binary_loss(truth, others, smoothing=smoothing)
        case "softmax":
            return softmax_loss(truth, others, smoothing=smoothing, total=total)
        case "self_adversarial":
            return self_adversarial_loss(truth, others, temperature=temperature)


def all_entities_loss(
    kind: Loss,
    scores: Tensor,
    truth: Tensor,
    *,
    smoothing: float = 0.0,
    temperature: float = 1.0,
    masked: bool = False,
) -> Tensor:
    """The loss against all entities, ``scores (B, N)``, ``truth (B,)``; ``masked`` if some are at minus infinity."""
    if kind == "softmax" and not masked:  # torch's own kernel holds fewer copies of the large matrix
        return F.cross_entropy(scores, truth, label_smoothing=smoothing, reduction="none")
    place = truth[:, None]
    others = scores.scatter(1, place, -torch.inf)
    return triple_loss(kind, scores.gather(1, place)[:, 0], others, smoothing=smoothing, temperature=temperature)


def regularisation(points: list[Tensor], power: int) -> Tensor:
    """Mean over rows of the sum of ``|x|^power``: 2 pulls all coordinates inwards, 3 the large ones most.

    Example:
        >>> import torch
        >>> regularisation([torch.tensor([[1.0, -2.0]])], 3)
        tensor(9.)
    """
    terms = [x.abs().pow(power).sum(-1).mean() for x in points]
    return torch.stack(terms).sum()
