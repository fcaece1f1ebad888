"""The base of functions with a hand-written backward."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class Fused(torch.autograd.Function):
    """An ``autograd.Function`` with ``setup_context`` that is called at the cost of one without.

    torch looks the signature of ``forward`` up at every call, to fill in defaults: as much work as a handful of small
    operations. Here all arguments are given, in order, and outside of transforms they go straight on.

    Example:
        >>> import torch
        >>> class Double(Fused):
        ...     @staticmethod
        ...     def forward(x):
        ...         return 2 * x
        ...     @staticmethod
        ...     def setup_context(ctx, inputs, output):
        ...         pass
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         return 2 * grad
        >>> x = torch.ones(2, requires_grad=True)
        >>> Double.apply(x).sum().backward()
        >>> x.grad
        tensor([2., 2.])
    """

    @classmethod
    def apply(cls, *args: Any) -> Any:
        if torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active():
            return super().apply(*args)
        # A backward that runs after its transform has ended meets tensors still wrapped by it.
        unwrap = torch._C._functorch.unwrap_if_dead
        given = (unwrap(a) if isinstance(a, Tensor) else a for a in args)
        return super(torch.autograd.Function, cls).apply(*given)  # type: ignore[misc]


def readable(x: Tensor) -> bool:
    """Whether a look at the numbers of ``x`` costs nothing and is allowed: not on other devices, nor in transforms.

    Example:
        >>> import torch
        >>> readable(torch.ones(2)), readable(torch.ones(2, device="meta"))
        (True, False)
    """
    transformed = torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active()
    return x.device.type == "cpu" and not transformed


def all_between(x: Tensor, low: float, high: float) -> bool:
    """Whether all numbers lie between the two; False of NaN.

    Example:
        >>> import torch
        >>> all_between(torch.tensor([1.0, 2.0]), 0.0, 3.0), all_between(torch.tensor([torch.nan]), 0.0, 3.0)
        (True, False)
    """
    if not x.numel():
        return True
    least, most = torch.aminmax(x)
    return low < least.item() and most.item() < high
