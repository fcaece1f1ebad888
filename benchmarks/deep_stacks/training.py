"""One cell trained and measured: losses after equal steps, and signal and gradient by depth."""

from __future__ import annotations

import math
import time
from itertools import islice
from statistics import mean
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.deep_stacks.models import build
from benchmarks.deep_stacks.tasks import IGNORED, WARM_UP, Batch, batches, held_out
from hybonet.optim import RiemannianAdam

Cell = dict[str, Any]

#: At how many steps losses are read besides the last, and over how many steps they are means.
MARKS = {"copy": (50, 100), "reversal": (100, 200), "brackets": (100, 200), "multi30k": (320, 650)}
WINDOW = 20


def loss_of(model: nn.Module, batch: Batch, reduction: str = "mean") -> Tensor:
    inputs, labels = batch
    logits = model(*inputs).flatten(0, 1)
    return F.cross_entropy(logits, labels.flatten(), ignore_index=IGNORED, reduction=reduction)


def train(cell: Cell) -> Cell:
    """Mean training loss over the last steps before each mark, or of Multi30k the loss per token of validation
    sentences; and the first step at which the training loss was half of the first.
    """
    torch.manual_seed(cell["seed"])
    model = build(cell)
    optimizer = RiemannianAdam(model, lr=cell["rate"])
    warm_up = WARM_UP.get(cell["task"], 1)
    marks = {mark for mark in (*MARKS[cell["task"]], cell["steps"]) if mark <= cell["steps"]}
    losses: list[float] = []
    found: Cell = {"loss": {}}
    seconds = 0.0
    for step, batch in enumerate(islice(batches(cell), cell["steps"]), 1):
        start = time.process_time()
        for group in optimizer.param_groups:
            group["lr"] = cell["rate"] * min(1.0, step / warm_up)
        loss = loss_of(model, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        seconds += time.process_time() - start
        if step in marks:
            found["loss"][str(step)] = _held_out_loss(model, held_out(cell)) or mean(losses[-WINDOW:])
    half = next((step for step, loss in enumerate(losses, 1) if loss < losses[0] / 2), None)
    found |= {"half": half, "finite": all(map(math.isfinite, losses)), "seconds": round(seconds, 1)}
    if hasattr(model, "log_rho"):
        found["learned"] = _learned(model)
    return found


@torch.no_grad()
def _held_out_loss(model: nn.Module, rows: list[Batch]) -> float:
    tokens = sum(int((labels != IGNORED).sum()) for _, labels in rows)
    return sum(float(loss_of(model, batch, "sum")) for batch in rows) / max(tokens, 1)


def _learned(model: Any) -> Cell:
    """ρ by block, and factors of attention's scale by head, after training."""
    found = {"rho": {n: p.exp() for n, p in model.log_rho.items()}, "scale": model.log_scale}
    found["scale"] = {name: part.exp().flatten() for name, part in model.log_scale.items()}
    return {kind: {n: p.tolist() for n, p in parts.items()} for kind, parts in found.items() if parts}


def signal(cell: Cell) -> Cell:
    """By layer, at the start and after 100 steps: mean length of the stream (ours: geodesic radius, too), mean angle
    between the points of a row in degrees, and the norm of the layer's gradient.
    """
    torch.manual_seed(cell["seed"])
    model: Any = build(cell)
    ours = cell["model"] == "ours"
    layers = model.body.layers if ours else model.encoder.layers
    optimizer = RiemannianAdam(model, lr=cell["rate"])
    stream: list[Tensor] = []
    for layer in layers:
        layer.register_forward_hook(lambda _, __, out: stream.append(out.detach()[..., 1 if ours else 0 :]))
    found: Cell = {}
    for step, batch in enumerate(islice(batches(cell), cell["steps"] + 1)):
        stream.clear()
        loss = loss_of(model, batch)
        optimizer.zero_grad()
        loss.backward()
        if step in (0, cell["steps"]):
            found[str(step)] = {
                "length": [float(x.norm(dim=-1).mean()) for x in stream],
                "angle": [_mean_angle(x) for x in stream],
                "gradient": [gradient_norm(layer) for layer in layers],
            }
            if ours:
                found[str(step)]["radius"] = [float(x.norm(dim=-1).asinh().mean()) for x in stream]
        optimizer.step()
    return {"by_layer": found}


def gradient_norm(layer: nn.Module) -> float:
    return math.sqrt(sum(float(p.grad.square().sum()) for p in layer.parameters() if p.grad is not None))


def _mean_angle(x: Tensor) -> float:
    unit = F.normalize(x, dim=-1)
    above = torch.ones(x.shape[-2], x.shape[-2], dtype=torch.bool).triu(1)
    return float((unit @ unit.mT)[..., above].clamp(-1, 1).acos().rad2deg().mean())
