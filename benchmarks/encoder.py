"""A training step of `LorentzTransformerEncoder` against `nn.TransformerEncoder` of the same size, norms first."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from benchmarks.timing import Job, Ratio, lower_is_better, medians
from hybonet.nn import LorentzTransformerEncoder, LorentzTransformerEncoderLayer

SIZE, LAYERS, LENGTH, HEADS, INNER, BATCH = 256, 6, 128, 8, 1024, 8


def run() -> list[Ratio]:
    rows = []
    for dropout in (0.0, 0.1):
        torch.manual_seed(0)
        euclidean = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(SIZE, HEADS, INNER, dropout, batch_first=True, norm_first=True),
            LAYERS,
            nn.LayerNorm(SIZE),
            enable_nested_tensor=False,
        )
        lorentz = LorentzTransformerEncoder(LorentzTransformerEncoderLayer(SIZE, HEADS, INNER, dropout), LAYERS)
        x = torch.randn(BATCH, LENGTH, SIZE)
        points = lorentz.manifold.random_normal(BATCH, LENGTH, SIZE, std=SIZE**-0.5)
        t = medians(
            {
                "euclidean": step(euclidean, x),
                "euclidean compiled": step(euclidean, x, compiled=True),
                "lorentz": step(lorentz, points),
                "lorentz compiled": step(lorentz, points, compiled=True),
            },
            repeats=9,
        )
        topic, case = (
            "LorentzTransformerEncoder / nn.TransformerEncoder",
            f"d={SIZE}, {LAYERS} layers, dropout {dropout}",
        )
        rows += [
            lower_is_better(topic, f"{case}, both compiled", t["lorentz compiled"], t["euclidean compiled"], 1.0),
            lower_is_better(topic, f"{case}, eager", t["lorentz"], t["euclidean"], 1.0),
            lower_is_better(
                topic,
                f"{case}, best of each",
                min(t["lorentz"], t["lorentz compiled"]),
                min(t["euclidean"], t["euclidean compiled"]),
            ),
        ]
    return rows


def step(model: nn.Module, x: Tensor, *, compiled: bool = False) -> Job:
    """Forward, backward and Adam."""
    forward = torch.compile(model) if compiled else model
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)

    def job() -> None:
        optimizer.zero_grad()
        forward(x).square().mean().backward()
        optimizer.step()

    return job
