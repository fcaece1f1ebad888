"""Tools that people use, on our layers and on geoopt's parameters: do points stay on the manifold, and at what cost?

    python -m benchmarks.works_with --json benchmarks/results/works_with.json

A small model (a table of points and a head of class points) sorts 2,000 words, with each tool. "Off" is the
largest |<x,x> - 1/K|/x_t² of its points, as the model reads them; loss after 60 steps, processor time of a step.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import geoopt
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from benchmarks.environment import environment
from hybonet import Lorentz
from hybonet.nn import LorentzDistanceHead, LorentzEmbedding
from hybonet.optim import RiemannianAdam

WORDS, CLASSES, SIZE, STEPS = 2000, 20, 32, 60
LABELS = torch.arange(WORDS) % CLASSES


class Ours(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = LorentzEmbedding(WORDS, SIZE, form="paper")
        self.head = LorentzDistanceHead(SIZE, CLASSES, form="paper")

    def forward(self, index: Tensor) -> Tensor:
        return self.head(self.table(index))

    def points(self) -> Tensor:
        return torch.cat((self.table.points(), self.head.points()))


class Geoopt(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        draw, manifold = Lorentz().random_normal, geoopt.Lorentz()
        self.table = geoopt.ManifoldParameter(draw(WORDS, SIZE, std=SIZE**-0.5), manifold=manifold)
        self.head = geoopt.ManifoldParameter(draw(CLASSES, SIZE, std=SIZE**-0.5), manifold=manifold)

    def forward(self, index: Tensor) -> Tensor:
        x = torch.nn.functional.embedding(index, self.table)
        return 2.0 + 2.0 * (x[:, 1:] @ self.head[:, 1:].T - x[:, :1] * self.head[:, 0])

    def points(self) -> Tensor:
        return torch.cat((self.table, self.head))


def off_manifold(x: Tensor) -> float:
    x = x.detach().double()
    return float(((x[:, 1:].square().sum(1) - x[:, 0].square() + 1).abs() / x[:, 0].square()).max())


def with_optimizer(make: Callable[..., torch.optim.Optimizer], **options: Any) -> Callable[[nn.Module], Any]:
    return lambda model: make(model.parameters(), **options)


def train(
    model: nn.Module, optimizer: torch.optim.Optimizer, *, average: str | None = None, compiled: bool = False
) -> Any:
    averaged = None
    if average:
        decay = torch.optim.swa_utils.get_ema_multi_avg_fn(0.9) if average == "ema" else None
        averaged = AveragedModel(model, multi_avg_fn=decay)
    step = torch.compile(optimizer.step) if compiled else optimizer.step
    times = []

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(torch.arange(WORDS)), LABELS)
        loss.backward()
        return loss

    for _ in range(STEPS):
        start = time.process_time()
        if isinstance(optimizer, torch.optim.LBFGS):
            step(closure)
        else:
            closure()
            step()
        if averaged is not None:
            averaged.update_parameters(model)
        times.append(time.process_time() - start)
    final = model if averaged is None else averaged.module
    with torch.no_grad():
        loss = nn.functional.cross_entropy(final(torch.arange(WORDS)), LABELS).item()
    return {"off": off_manifold(final.points()), "loss": loss, "milliseconds": 1e3 * statistics.median(times[5:])}


ADAM = {"lr": 0.01}
TOOLS: dict[str, tuple[Callable[[nn.Module], torch.optim.Optimizer], dict[str, Any]]] = {
    "Riemannian Adam of the library": (with_optimizer(RiemannianAdam, **ADAM), {}),
    "the same, torch.compile(optimizer.step)": (with_optimizer(RiemannianAdam, **ADAM), {"compiled": True}),
    "the same, averaged weights": (with_optimizer(RiemannianAdam, **ADAM), {"average": "mean"}),
    "the same, moving average": (with_optimizer(RiemannianAdam, **ADAM), {"average": "ema"}),
    "torch.optim.AdamW (Trainer's default)": (with_optimizer(torch.optim.AdamW, **ADAM), {}),
    "AdamW, foreach": (with_optimizer(torch.optim.AdamW, foreach=True, **ADAM), {}),
    "AdamW, fused": (with_optimizer(torch.optim.AdamW, fused=True, **ADAM), {}),
    "AdamW, averaged weights": (with_optimizer(torch.optim.AdamW, **ADAM), {"average": "mean"}),
    "SGD with momentum": (with_optimizer(torch.optim.SGD, lr=1.0, momentum=0.9), {}),
    "LBFGS": (with_optimizer(torch.optim.LBFGS, lr=0.1), {}),
}


def row(kind: type[nn.Module], name: str) -> dict[str, Any]:
    make, options = TOOLS[name]
    if (kind is Geoopt and "Riemannian" in name) or (kind is Geoopt and "the same" in name):
        make = with_optimizer(geoopt.optim.RiemannianAdam, **ADAM)
    torch.manual_seed(0)
    model = kind()
    try:
        return train(model, make(model), **options)
    except Exception as error:
        return {"error": f"{type(error).__name__}"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = [{"tool": name, "ours": row(Ours, name), "geoopt": row(Geoopt, name)} for name in TOOLS]
    table = Table("tool", *(f"{who}: {what}" for who in ("ours", "geoopt") for what in ("off", "loss", "ms a step")))
    for each in rows:
        table.add_row(each["tool"], *(text for who in ("ours", "geoopt") for text in _cells(each[who])))
    Console(width=140).print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps({"environment": environment(), "rows": rows}, indent=1) + "\n")


def _cells(result: dict[str, Any]) -> list[str]:
    if "error" in result:
        return [result["error"], "", ""]
    return [f"{result['off']:.1g}", f"{result['loss']:.4f}", f"{result['milliseconds']:.2f}"]


if __name__ == "__main__":
    main()
