"""Loops over rows, compiled for the processor at hand: what takes torch several passes over memory, in one.

They need numba (the extra ``fast``). Without it, or where tensors lie elsewhere, the callers do the same with torch's
own operations; results differ by rounding alone. Modules beside this one import numba, so that they are imported only
where :func:`run_on` says yes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch
from torch import Tensor

#: On fewer numbers torch is as fast, and nothing need be compiled first.
_LEAST = 1 << 16
#: Whether compiled loops are wanted; None: where they pay.
_wanted: bool | None = None


def run_on(*tensors: Tensor, least: int = _LEAST) -> bool:
    """Whether compiled loops are to work on tensors, one of which has at least so many numbers.

    They must be contiguous, of single or double precision, and on the processor.

    Example:
        >>> import torch
        >>> run_on(torch.zeros(1000, 1000, dtype=torch.float16)), run_on(torch.zeros(3, 2))
        (False, False)
    """
    if _wanted is False or torch.compiler.is_compiling():
        return False
    if _wanted is None:
        for t in tensors:
            if t.numel() >= least:
                break
        else:
            return False
    usual = (torch.float32, torch.float64)
    return all(t.device.type == "cpu" and t.dtype in usual and t.is_contiguous() for t in tensors) and available()


@cache
def available() -> bool:
    """Whether numba is there and works with the NumPy that is."""
    try:
        import numba  # noqa: F401
    except ModuleNotFoundError:
        return False
    except (ImportError, OSError) as error:  # another NumPy than it knows, or a compiler that does not load
        warnings.warn(f"numba cannot be imported, so that training is slower ({error}); install the extra 'fast' anew")
        return False
    return True


@contextmanager
def switched(on: bool) -> Iterator[None]:
    """Compiled loops for tensors of any size, or none, for a while: to test and to compare."""
    global _wanted  # noqa: PLW0603 - a switch for the process
    before, _wanted = _wanted, on
    try:
        yield
    finally:
        _wanted = before
