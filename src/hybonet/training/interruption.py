"""Ctrl-C and SIGTERM end a training at the next safe place, after a save."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Interrupted(Exception):  # noqa: N818 - not an error: the run was asked to stop and can go on later
    """The training was asked to stop and has saved its state."""


class StopRequest:
    """Whether a signal has asked for a stop, and which."""

    def __init__(self) -> None:
        self.signal: str | None = None

    def __bool__(self) -> bool:
        return self.signal is not None


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """While the block runs, the first SIGINT or SIGTERM is noted; a second one acts as usual, for the impatient.

    Example:
        >>> import os, signal
        >>> with stop_requests() as stop:
        ...     os.kill(os.getpid(), signal.SIGTERM)
        ...     print(stop.signal)
        SIGTERM
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request  # only the main thread may set handlers
        return
    before: dict[int, Any] = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def note(number: int, frame: FrameType | None) -> None:
        request.signal = signal.Signals(number).name
        signal.signal(number, before[number])

    for number in before:
        signal.signal(number, note)
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
