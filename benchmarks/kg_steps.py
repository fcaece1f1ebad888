"""A knowledge-graph training that benchmarks advance step by step, as the training loop does."""

from __future__ import annotations

import time
from typing import Any

import torch

from hybonet.data.triples.triple_data import TripleData
from hybonet.optim import clip_grad_norm_
from hybonet.tasks.knowledge_graph.task import KnowledgeGraphSettings, KnowledgeGraphTask


class Steps:
    """A task with its model, its optimiser and the batches of its first epoch, which begins anew when it ends."""

    def __init__(self, settings: KnowledgeGraphSettings, data: TripleData) -> None:
        self.task = KnowledgeGraphTask(settings, data)
        torch.manual_seed(0)
        self.model = self.task.build_model().train()
        self.optimizer = self.task.build_optimizer(self.model)
        self._batches = self._endless()

    def _endless(self) -> Any:
        while True:
            yield from self.task.batches(0, 0)

    def __call__(self) -> None:
        """One batch: made, scored, and the parameters moved."""
        self.task.loss(self.model, next(self._batches)).backward()
        if self.task.settings.max_grad_norm is not None:
            clip_grad_norm_(self.model.parameters(), self.task.settings.max_grad_norm)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def seconds(self, count: int) -> list[float]:
        """Times of so many steps."""
        times = []
        for _ in range(count):
            start = time.perf_counter()
            self()
            times.append(time.perf_counter() - start)
        return times
