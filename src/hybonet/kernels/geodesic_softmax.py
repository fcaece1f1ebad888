"""Softmax cross-entropy against classes by their geodesic distances, without ever holding the matrix of logits."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

#: Logits worked on at a time: few enough to stay in the cache between the passes over them.
_BLOCK = 1 << 20


def geodesic_softmax_loss(
    question: Tensor, points: Tensor, scale: Tensor, bias: Tensor, target: Tensor, weight: Tensor, *, smoothing: float
) -> Tensor:
    r"""Cross-entropy with logits :math:`b_j - s\,\mathrm{arccosh}(q_i \cdot c_j)`, summed over rows with weights.

    Logits are made, exponentiated, summed and turned into gradients block by block while they are in the cache, in the
    forward pass already. Differentiable once.

    Args:
        question, points: ``(N, d)`` and ``(C, d)``; their products are at least 1, up to rounding.
        scale: s, one number.
        bias: b, ``(C,)``.
        target: the right class, ``(N,)``.
        weight: of each row, ``(N,)``; no gradient.
        smoothing: the share of the target that all classes have evenly.
    """
    return _Loss.apply(question, points, scale, bias, target, weight, smoothing)


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, question: Tensor, points: Tensor, scale: Tensor, bias: Tensor, *fixed: Any) -> Tensor:
        target, weight, smoothing = fixed
        count, classes, s = len(question), len(points), float(scale)
        height = max(1, min(count, _BLOCK // classes))
        # Points lie along the long side of both products, which is how the kernels for narrow matrices like them.
        across = points.T.contiguous()
        t, sinh, mass = (question.new_empty(height, classes) for _ in range(3))
        of_question, of_across = torch.empty_like(question), torch.zeros_like(across)
        of_bias, of_scale, loss = torch.zeros_like(bias), 0.0, question.new_zeros(())
        # Nearer than rounding of products can tell, the slope is bounded.
        least, below = (32.0 * torch.finfo(t.dtype).eps) ** 0.5, question.new_full((), -1.0)
        for start in range(0, count, height):
            rows = slice(start, min(start + height, count))
            q, w, right = question[rows], weight[rows, None], target[rows, None]
            distance, slope, p = (buffer[: len(q)] for buffer in (t, sinh, mass))
            torch.addmm(below, q, across, out=distance).relu_()  # cosh - 1
            torch.add(distance, 2.0, out=slope).mul_(distance).sqrt_()
            distance.add_(slope).log1p_()
            torch.sub(bias, distance, alpha=s, out=p)
            chosen = p.gather(1, right)
            wanted = chosen if not smoothing else (1 - smoothing) * chosen + smoothing * p.mean(1, keepdim=True)
            largest = p.amax(1, keepdim=True)
            total = p.sub_(largest).exp_().sum(1, keepdim=True)
            loss += (w * (largest + total.log() - wanted)).sum()
            p.mul_(w / total)
            if smoothing:
                p.sub_(w * (smoothing / classes))
            p.scatter_add_(1, right, -(1 - smoothing) * w)
            of_bias += p.sum(0)
            of_scale -= torch.dot(p.view(-1), distance.view(-1)).item()
            p.div_(slope.clamp_min_(least))
            torch.mm(p, points, out=of_question[rows])
            of_across.addmm_(q.T, p, alpha=-s)
        ctx.save_for_backward(of_question.mul_(-s), of_across, scale.new_tensor(of_scale), of_bias)
        return loss

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        of_question, of_across, of_scale, of_bias = ctx.saved_tensors
        own = (of_question * gradient, (of_across * gradient).T, of_scale * gradient, of_bias * gradient)
        return (*own, None, None, None)
