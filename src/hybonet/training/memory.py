"""Settings that would take more memory than there is are refused before it is taken."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_MAKE = {torch.empty, torch.zeros, torch.ones, torch.full, torch.rand, torch.randn}


@contextmanager
def at_most(size: int, remedy: str) -> Iterator[None]:
    """What the block builds has at most ``size`` bytes in all; else a ``ValueError`` before they are allocated.

    Example:
        >>> with at_most(1000, "lower dim"):
        ...     _ = torch.nn.Linear(100, 100)
        Traceback (most recent call last):
        ValueError: expected a model of at most 1,000 bytes, got one of 40,000 or more; lower dim
    """
    with _Counted(size, remedy):
        yield


def memory_of_machine() -> int:
    """Bytes of its memory, or as good as endless where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 1 << 62


class _Counted(TorchFunctionMode):
    def __init__(self, most: int, remedy: str) -> None:
        super().__init__()
        self.most, self.remedy, self.total = most, remedy, 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in _MAKE:
            first = kwargs.get("size", args[0] if args else ())
            sizes = first if isinstance(first, tuple | list) else [each for each in args if isinstance(each, int)]
            self.total += 4 * math.prod(sizes)
            if self.total > self.most:
                raise ValueError(
                    f"expected a model of at most {self.most:,} bytes, got one of {self.total:,} or more; {self.remedy}"
                )
        return func(*args, **kwargs)
