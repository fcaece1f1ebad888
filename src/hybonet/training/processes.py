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

    def wrap(self, model: nn.Module) -> nn.Module:
        """The model as the loss calls it: with gradients averaged over processes if there are several."""
        return nn.parallel.DistributedDataParallel(model) if self.world > 1 else model

    def agree(self, value: Any) -> Any:
        """The main process's value, in every process."""
        if self.world == 1:
            return value
        box = [value]
        distributed.broadcast_object_list(box, src=0)
        return box[0]

    def main_first(self, action: Callable[[], None]) -> None:
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


@contextmanager
def joined_processes(device: str) -> Iterator[Processes]:
    """Join the group that `torchrun` (or accelerate) announces in the environment; alone without one."""
    world = process_count()
    if world == 1:
        yield Processes()
        return
    fresh = not distributed.is_initialized()
    if fresh:
        distributed.init_process_group("nccl" if torch.device(device).type == "cuda" else "gloo")
    processes = Processes(distributed.get_rank(), world)
    try:
        yield processes
        processes.wait_for_all()  # a process that leaves early closes connections the others still use
    finally:
        if fresh:
            distributed.destroy_process_group()
