"""A measurement in a process of its own, whose memory is its own too."""

from __future__ import annotations

import multiprocessing
import resource
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import torch


def in_child(measure: Callable[..., dict[str, Any]], *arguments: Any, threads: int) -> dict[str, Any]:
    """What a function of a benchmark's module returns there, with so many threads."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, initializer=torch.set_num_threads, initargs=(threads,)) as process:
        return process.submit(measure, *arguments).result()


def peak_mebibytes() -> float:
    """The largest memory that this process has held so far."""
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage tells on Linux may be that of the process which started this one
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
