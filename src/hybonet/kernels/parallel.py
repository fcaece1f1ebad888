"""How loops are compiled and called."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

import torch
from numba import config, njit, set_num_threads
from torch import Tensor

#: Sums may be made in another order and with fused multiplications; NaN and infinity stay what they are.
_FREEDOM = {"reassoc", "contract", "nsz"}
#: Not every pool of threads that numba may find can be entered twice at a time.
_one_at_a_time = threading.Lock()


def serial(loop: Callable[..., None]) -> Callable[..., None]:
    """The same for a loop that one thread does."""
    compiled = _compiled(loop, parallel=False)

    @wraps(loop)
    def call(*arguments: Tensor) -> None:
        compiled(*(a.numpy() for a in arguments))

    return call


def parallel(loop: Callable[..., None]) -> Callable[..., None]:
    """A function over arrays, its ``prange`` shared by as many threads as torch has; it is called with tensors.

    A number must be written by one thread alone, so that a training repeats itself. It is compiled when it is first
    called, and kept on disk for the next process.
    """
    alone, shared = _compiled(loop, parallel=False), _compiled(loop, parallel=True)

    @wraps(loop)
    def call(*arguments: Any) -> None:
        arrays = [a.detach().numpy() if isinstance(a, Tensor) else a for a in arguments]
        threads = min(torch.get_num_threads(), config.NUMBA_NUM_THREADS)
        if threads == 1:  # a pool of one would keep the others waiting busily
            alone(*arrays)
            return
        with _one_at_a_time:
            set_num_threads(threads)
            shared(*arrays)

    return call


def _compiled(loop: Callable[..., None], *, parallel: bool) -> Callable[..., None]:
    # Numba keeps what it has compiled by name alone, whatever the options.
    own: Any = FunctionType(loop.__code__, loop.__globals__, loop.__name__)
    own.__module__, own.__qualname__ = loop.__module__, f"{loop.__name__}_{'shared' if parallel else 'alone'}"
    return njit(parallel=parallel, cache=True, nogil=True, error_model="numpy", fastmath=_FREEDOM)(own)
