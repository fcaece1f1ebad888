"""Products of ordinary tensors and their lift as one function each way: small models feel every operation, large ones
every pass over memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.geometry.numerics import precision
from hybonet.kernels.dropout import kept


class Units(NamedTuple):
    """What makes coordinates of parameters.

    Attributes:
        head, step: coordinates of each point that comes out, and of each that comes in.
        space, time, length: what columns of space, those of time, and biases are multiplied by.
        radius: R, time of the origin.
    """

    head: int
    step: int
    space: float
    time: float
    length: float
    radius: float

    def weight(self, weight: Tensor) -> Tensor:
        """In units, with rows of zeros where times of the output belong; ``(out, in)``."""
        rows = F.pad(weight.view(-1, self.head - 1, weight.shape[-1]), (0, 0, 1, 0))
        return self.scale_columns(rows).view(-1, weight.shape[-1])

    def scale_columns(self, weight: Tensor) -> Tensor:
        """Multiply columns, in place."""
        if self.space != 1.0:
            weight *= self.space
        if self.time != self.space:
            weight[..., :: self.step] *= self.time / self.space
        return weight

    def bias(self, bias: Tensor | None, like: Tensor) -> Tensor:
        """In units, with R where times of the output belong; ``(out,)``."""
        if bias is None:
            bias = like.new_zeros(len(like) // self.head * (self.head - 1))
        return F.pad((bias * self.length).view(-1, self.head - 1), (1, 0), value=self.radius).view(-1)


class _Linear(torch.autograd.Function):
    """x -> the lift of W x + b, after ReLU, dropout or a residual. It keeps parameters, x, the result and what dropout
    chose.
    """

    @staticmethod
    def compute(
        x: Tensor, weight: Tensor, bias: Tensor | None, residual: Tensor | None, relu: bool, p: float, units: Units
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        rows = units.weight(weight)
        y = F.linear(x, rows, units.bias(bias, rows))
        points, factors = y.view(-1, units.head), None
        if relu:
            points.relu_()
        if p:
            factors = kept(points.shape, p).to(y.dtype).mul_(_growth(p))
            points.mul_(factors)
        if residual is not None:
            points.add_(residual.reshape(-1, units.head))
        if p or residual is not None:
            points[:, :1] = units.radius
        _make_time(points)
        return y, rows, factors

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        residual: Tensor | None,
        relu: bool,
        p: float,
        units: Units,
    ) -> Tensor:
        y, ctx.rows, factors = _Linear.compute(x, weight, bias, residual, relu, p, units)
        ctx.options = relu, p, units
        ctx.save_for_backward(x, weight, y, None if relu else factors)  # ReLU's zeros are those of dropout as well
        return y

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, y, factors = ctx.saved_tensors
        relu, p, units = ctx.options
        needs, out, features = ctx.needs_input_grad, y.shape[-1], x.shape[-1]
        total = _before_lift(grad.reshape(-1, units.head), y.view(-1, units.head))
        if relu:
            total = torch.ops.aten.threshold_backward(total, y.view(-1, units.head), 0.0)
            total = total * _growth(p) if p else total
        total[:, :1] = 0.0
        flat = (total if factors is None else total * factors).view(-1, out)
        of_x = of_weight = of_bias = None
        if needs[0]:
            rows = units.weight(weight) if torch.is_grad_enabled() else ctx.rows
            of_x = (flat @ rows).view(x.shape)
        if needs[1]:
            every = (flat.mT @ x.reshape(-1, features)).view(-1, units.head, features)
            of_weight = units.scale_columns(every[:, 1:].reshape(weight.shape))
        if needs[2]:
            of_bias = (flat.sum(0).view(-1, units.head)[:, 1:] * units.length).view(-1)
        return of_x, of_weight, of_bias, total.view(y.shape) if needs[3] else None, None, None, None


def _growth(p: float) -> float:
    """What coordinates that dropout leaves are multiplied by."""
    return 1.0 / (1.0 - p) if p < 1.0 else 0.0


def _make_time(y: Tensor) -> None:
    """Write the times of rows, in place, where R stands for them."""
    time = torch.linalg.vector_norm(y, dim=-1, keepdim=True)
    if _may_be_beyond(time):
        limit = precision(y.dtype).max_coordinate
        time = torch.linalg.vector_norm(y.clamp_(-limit, limit), dim=-1, keepdim=True)
    y[:, :1] = time


def _before_lift(grad: Tensor, y: Tensor) -> Tensor:
    """The gradient of what was lifted, from that of the points; where times stand it means nothing."""
    total = torch.addcmul(grad, y, grad[:, :1] / y[:, :1])
    if _may_be_beyond(y[:, :1]):
        limit = precision(y.dtype).max_coordinate
        return torch.ops.aten.hardtanh_backward(total, y, -limit, limit)  # what was clamped stands still
    return total


def _may_be_beyond(time: Tensor) -> bool:
    """Whether a coordinate may exceed the largest that we compute with; other devices are not asked."""
    limit = precision(time.dtype).max_coordinate
    return time.device.type != "cpu" or (bool(time.numel()) and not time.max().item() < limit)


def fused_linear(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    units: Units,
    *,
    residual: Tensor | None = None,
    relu: bool = False,
    dropout: float = 0.0,
) -> Tensor:
    """Points, side by side if there are heads: ``(..., in) -> (..., out)``. Ask :func:`is_ordinary` first."""
    arguments = (x, weight, bias, residual, relu, dropout, units)
    return _Linear.apply(*arguments) if torch.is_grad_enabled() else _Linear.compute(*arguments)[0]


def is_ordinary(x: Tensor, weight: Tensor) -> bool:
    """Whether both are plain tensors of one ordinary dtype, outside of compilers, transforms and autocast."""
    return (
        type(x) in _PLAIN
        and type(weight) in _PLAIN
        and x.dtype == weight.dtype
        and x.dtype in (torch.float32, torch.float64)
        and x.layout == torch.strided
        and not torch.compiler.is_compiling()
        and not torch._C._are_functorch_transforms_active()
        and not torch.is_autocast_enabled(x.device.type)
        and not torch.jit.is_tracing()
    )


_PLAIN = (Tensor, nn.Parameter)
