"""Cross-entropy of tokens scored by inner products, without the matrix of scores."""

from __future__ import annotations

import torch
from torch import Tensor

from hybonet.geometry.numerics import working
from hybonet.kernels.inner_softmax import Places, inner_softmax_loss


def token_cross_entropy(question: Tensor, candidates: Tensor, labels: Tensor, label_smoothing: float = 0.0) -> Tensor:
    r"""Sum of :math:`\log\sum_j e^{s_{ij}} - (1-\varepsilon)\, s_{i,y_i} - \varepsilon\,\overline{s_i}` with
    :math:`s_{ij} = q_i \cdot c_j`, as ``F.cross_entropy(question @ candidates.T, labels, label_smoothing=ε)`` has it.

    A number added to all scores of a row changes nothing. Half precision is computed in float32. Shapes:
    ``(N, k), (V, k), (N,) -> ()``. Differentiable once.

    Example:
        >>> import torch
        >>> q, c, y = torch.randn(5, 3), torch.randn(7, 3), torch.arange(5)
        >>> whole = torch.nn.functional.cross_entropy(q @ c.T, y, label_smoothing=0.1, reduction="sum")
        >>> torch.allclose(token_cross_entropy(q, c, y, 0.1), whole, atol=1e-5)
        True
    """
    question, candidates = working(question), working(candidates)
    rows = torch.arange(len(labels), device=labels.device)
    truth = (question * candidates[labels]).sum(-1)
    loss = inner_softmax_loss(question, candidates, truth, weight=torch.ones_like(truth), left_out=Places(rows, labels))
    if label_smoothing:
        # The mean of all scores needs none of them: it is the product with the candidates' mean. Not by @, which
        # autocast would round.
        loss = loss + label_smoothing * (truth.sum() - (question.sum(0) * candidates.mean(0)).sum())
    return loss
