"""Torch's two rules for the gradient of a clamp at its bound: 1 up to torch 2.13, 0 since 2.14.

Code whose gradients depend on the rule is right with one torch and wrong with the other, so tests run it under both.
"""

from __future__ import annotations

import torch
from torch.overrides import TorchFunctionMode

_LOW_AND_HIGH = {"clamp": (True, True), "clip": (True, True), "clamp_min": (True, False), "clamp_max": (False, True)}


class ClampRule(TorchFunctionMode):
    """Within it, clamps of tensors that are differentiated pass gradients at their bounds, or stop them."""

    def __init__(self, *, passes: bool) -> None:
        super().__init__()
        self.passes = passes

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        x = args[0] if args else None
        sides = _LOW_AND_HIGH.get(name.removesuffix("_"))
        if sides is None or not isinstance(x, torch.Tensor) or not x.requires_grad or "out" in kwargs:
            return function(*args, **kwargs)
        given = [*args[1:], *kwargs.values()]
        if sides == (True, True):
            low, high = [*args[1:], None, None][:2]
            low, high = kwargs.get("min", low), kwargs.get("max", high)
        else:
            low, high = (given[0], None) if sides[0] else (None, given[0])
        inside = torch.ones_like(x, dtype=torch.bool)
        if low is not None:
            inside = inside & ((x >= low) if self.passes else (x > low))
        if high is not None:
            inside = inside & ((x <= high) if self.passes else (x < high))
        plain = torch.clamp(x.detach(), low, high)
        found = torch.where(inside, x, plain)
        return x.copy_(found) if name.endswith("_") else found


def gradients_by_rule(call, wanted):
    """The gradients of ``call()``, a number, by both rules."""
    found = []
    for passes in (True, False):
        with ClampRule(passes=passes):
            found.append(torch.autograd.grad(call(), wanted, allow_unused=True, materialize_grads=True))
    return found


def assert_no_rule_matters(call, wanted) -> None:
    """A gradient is the same by both rules."""
    for one, other in zip(*gradients_by_rule(call, wanted), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-7, equal_nan=True)
