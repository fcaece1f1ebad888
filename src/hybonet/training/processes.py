"""Where a training runs: its device, one process or what `torchrun` sets up, and signals that ask it to stop."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from types import FrameType
from typing import Any

import torch
from torch import distributed, nn

from hybonet.training.settings import LoopSettings


def check_device(name: str) -> None:
    """Raise a ValueError unless torch can compute on the device ``name``."""
    try:
        torch.zeros(1, device=name).item()
    except (RuntimeError, AssertionError, NotImplementedError):
        # AssertionError: what torch raises if it was built without CUDA. NotImplementedError: devices without values.
        usable = "cpu or device=cuda" if torch.cuda.is_available() else "cpu"
        raise ValueError(f"expected a device of this machine, got {name!r}; use device={usable}") from None


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
    """While the block runs, the first SIGINT or SIGTERM is noted; a second one acts as usual, for the impatient."""
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


@dataclass(frozen=True)
class Processes:
    """This process among those that train together."""

    rank: int = 0
    world: int = 1

    @property
    def is_main(self) -> bool:
        """Whether this process validates, saves and prints."""
        return self.rank == 0

    def wrap(self, step: nn.Module) -> nn.Module:
        """What gives the loss of a batch, with gradients averaged over processes if there are several."""
        return nn.parallel.DistributedDataParallel(step) if self.world > 1 else step

    def agree(self, value: Any) -> Any:
        """The main process's value, in every process."""
        if self.world == 1:
            return value
        box = [value]
        distributed.broadcast_object_list(box, src=0)
        return box[0]

    def mean(self, value: float) -> float:
        """The mean of every process's value, in every process."""
        if self.world == 1:
            return value
        device = "cuda" if distributed.get_backend() == "nccl" else "cpu"
        total = torch.tensor(value, dtype=torch.float64, device=device)
        distributed.all_reduce(total)
        return total.item() / self.world

    def main_first(self, action: Callable[[], object]) -> None:
        """Let the main process do something on its own while the others wait; if it fails, it fails in all of them."""
        if self.world == 1:
            action()
            return
        failure: str | None = None
        if self.is_main:
            try:
                action()
            except (ValueError, OSError) as error:
                failure = str(error)
        failure = self.agree(failure)
        if failure is not None:
            raise ValueError(failure)

    def wait_for_all(self) -> None:
        """Return when every process has come here."""
        if self.world > 1:
            distributed.barrier()


def process_count() -> int:
    """How many processes `torchrun` (or accelerate) has started; one without them."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_main_process() -> bool:
    """Whether this one writes for all, before they have joined."""
    return os.environ.get("RANK", "0") == "0"


def restarts() -> int:
    """How often `torchrun --max-restarts` has started these processes again."""
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))


@contextmanager
def joined_processes(settings: LoopSettings) -> Iterator[Processes]:
    """Join the group that `torchrun` (or accelerate) announces in the environment; alone without one.

    The GPU that is asked for, or with ``cuda`` this process's own of several, becomes the current one: what is put on
    ``cuda`` goes there, and random numbers are drawn, saved and restored there.

    Raises:
        ValueError: if another process ends, or does not answer in time.
    """
    world, chosen = process_count(), torch.device(settings.device)
    if chosen.type == "cuda":
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")) if chosen.index is None else chosen.index)
    if world == 1:
        yield Processes()
        return
    fresh, limit = not distributed.is_initialized(), timedelta(seconds=settings.rank_timeout)
    try:
        if fresh:
            # torchrun keeps one store over all restarts: without a name for each, a process would look for peers that
            # died.
            store, rank, world = next(distributed.rendezvous("env://", timeout=limit))
            distributed.init_process_group(
                "nccl" if chosen.type == "cuda" else "gloo",
                store=distributed.PrefixStore(f"start-{restarts()}", store),
                rank=rank,
                world_size=world,
                timeout=limit,
            )
        processes = Processes(distributed.get_rank(), world)
        yield processes
        processes.wait_for_all()  # a process that leaves early closes connections the others still use
    except RuntimeError as error:
        text = str(error).splitlines()[0]
        if not isinstance(error, distributed.DistError) and "gloo" not in text.lower():
            raise
        reason = (text.partition("] ")[2] or text).partition(". ")[0]
        raise ValueError(
            f"expected {world} processes that answer within rank_timeout={settings.rank_timeout:g} seconds, but one "
            f"has ended or hangs ({reason}); go on with --resume (torchrun --max-restarts=3 does so by itself)"
        ) from error
    finally:
        if fresh and distributed.is_initialized():
            # Gloo's threads need Python's lock to let go of their last tensors. What ends the group holds it, and waits
            # for them: without a pause, both waited for ever in one of ten trainings whose other process hung.
            time.sleep(0.5)
            distributed.destroy_process_group()
