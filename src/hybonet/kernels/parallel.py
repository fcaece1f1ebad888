"""How loops are compiled and called."""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from types import FunctionType
from typing import Any

import torch
from numba import config, njit, set_num_threads
from torch import Tensor

#: Sums may be made in another order and with fused multiplications; NaN and infinity stay what they are.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"}}
#: Not every pool of threads that numba may find can be entered twice at a time.
_one_at_a_time = threading.Lock()
#: A process that was forked from one with threads has none of them, and OpenMP would end it for asking.
_threads_allowed = True


def _after_fork() -> None:
    global _one_at_a_time, _threads_allowed
    _one_at_a_time, _threads_allowed = threading.Lock(), False


os.register_at_fork(after_in_child=_after_fork)


def part(loop: Callable[..., Any]) -> Callable[..., Any]:
    """A function that such loops call, compiled with them."""
    return njit(**_OPTIONS)(loop)


def serial(loop: Callable[..., None]) -> Callable[..., None]:
    """A function over arrays, compiled when it is first called, and kept on disk for the next process.

    It is called with tensors.
    """
    compiled = _compiled(loop, parallel=False)

    @wraps(loop)
    def call(*arguments: Tensor) -> None:
        compiled(*(a.numpy() for a in arguments))

    return call


def parallel(loop: Callable[..., None]) -> Callable[..., None]:
    """The same, its ``prange`` shared by as many threads as torch has.

    A number must be written by one thread alone, so that a training repeats itself.
    """
    alone, shared = _compiled(loop, parallel=False), _compiled(loop, parallel=True)

    @wraps(loop)
    def call(*arguments: Any) -> None:
        arrays = [a.detach().numpy() if isinstance(a, Tensor) else a for a in arguments]
        threads = min(torch.get_num_threads(), config.NUMBA_NUM_THREADS)
        if threads == 1 or not _threads_allowed:  # a pool of one would keep the others waiting busily
            alone(*arrays)
            return
        with _one_at_a_time:
            set_num_threads(threads)
            shared(*arrays)

    return call


def _compiled(loop: Callable[..., None], *, parallel: bool) -> Callable[..., None]:
    # Numba finds what it has kept by name alone, whatever the options: they go into the name.
    options = {**_OPTIONS, "parallel": parallel}
    mark = zlib.crc32(
        repr(sorted((key, sorted(v) if isinstance(v, set) else v) for key, v in options.items())).encode()
    )
    own: Any = FunctionType(loop.__code__, loop.__globals__, loop.__name__)
    own.__module__, own.__qualname__ = loop.__module__, f"{loop.__name__}_{mark:08x}"
    compiled = njit(**options)(own)
    with suppress(RuntimeError):  # no folder to write to: compiled anew in every process
        compiled.enable_caching()
    return compiled
