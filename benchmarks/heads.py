"""`LorentzDistanceHead` with cross-entropy against `nn.Linear` with torch's: forward and backward, 10,000 classes."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.timing import Job, Ratio, lower_is_better, medians
from hybonet.nn import LorentzDistanceHead, LorentzEmbedding, LorentzNorm

ROWS, CLASSES = 1024, 10_000


def run() -> list[Ratio]:
    rows = []
    for size in (64, 256):
        torch.manual_seed(0)
        target = torch.randint(CLASSES, (ROWS,))
        norm = LorentzNorm(size)
        points = norm(norm.manifold.random_normal(ROWS, size)).detach().requires_grad_()
        table = LorentzEmbedding(CLASSES, size)
        heads = {
            "squared": LorentzDistanceHead(size, CLASSES),
            "geodesic": LorentzDistanceHead(size, CLASSES, distance="geodesic"),
            "geodesic, tied": LorentzDistanceHead(size, CLASSES, distance="geodesic", tied=table),
        }
        jobs = {"linear": step(nn.Linear(size, CLASSES), torch.randn(ROWS, size, requires_grad=True), target)}
        for name, head in heads.items():
            jobs[name] = step(head, points, target)
            jobs[f"{name}, head.cross_entropy"] = step(head, points, target, fused=True)
        t = medians(jobs, repeats=9)
        topic = f"LorentzDistanceHead / nn.Linear, {CLASSES:,} classes"
        for name in list(jobs)[1:]:
            bound = 1.0 if "head.cross_entropy" in name else 0.0
            rows.append(lower_is_better(topic, f"d={size}, {name}", t[name], t["linear"], bound))
    return rows


def step(head: nn.Module, x: Tensor, target: Tensor, *, fused: bool = False) -> Job:
    """Forward and backward, gradients of input and parameters."""

    def job() -> None:
        x.grad = None
        head.zero_grad()
        loss = head.cross_entropy(x, target) if fused else F.cross_entropy(head(x), target)  # type: ignore[operator]
        loss.backward()

    return job
