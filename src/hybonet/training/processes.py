"""One process or several: what `torchrun` sets up, in one place."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import distributed, nn


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


@contextmanager
def joined_processes(device: str) -> Iterator[Processes]:
    """Join the group that `torchrun` (or accelerate) announces in the environment; alone without one.

    The GPU that is asked for, or with ``cuda`` this process's own of several, becomes the current one: what is put on
    ``cuda`` goes there, and random numbers are drawn, saved and restored there.
    """
    world, chosen = process_count(), torch.device(device)
    if chosen.type == "cuda":
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")) if chosen.index is None else chosen.index)
    if world == 1:
        yield Processes()
        return
    fresh = not distributed.is_initialized()
    if fresh:
        distributed.init_process_group("nccl" if chosen.type == "cuda" else "gloo")
    processes = Processes(distributed.get_rank(), world)
    try:
        yield processes
        processes.wait_for_all()  # a process that leaves early closes connections the others still use
    finally:
        if fresh:
            distributed.destroy_process_group()
