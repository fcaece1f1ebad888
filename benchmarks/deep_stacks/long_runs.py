"""What only many steps show: that a deep stack stays sound."""

from __future__ import annotations

import math
import time
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.deep_stacks.models import build
from benchmarks.deep_stacks.tasks import batches
from benchmarks.deep_stacks.training import gradient_norm, loss_of
from hybonet.optim import RiemannianAdam

Cell = dict[str, Any]

#: Where a soak stands between its parts.
STATE = Path("runs/deep_stacks_soak.pt")
EVERY = 50


def soak(cell: Cell) -> Cell:
    """The part of a long training that ends at step ``until``; every so many steps its loss, the norm of all gradients,
    the farthest point of the stream, and how far the stream is off the hyperboloid, relative to time squared.
    """
    torch.manual_seed(0)
    model: Any = build({**cell, "model": "ours"})
    optimizer = RiemannianAdam(model, lr=cell["rate"])
    first = cell["until"] - cell["steps"]
    if first:
        if not STATE.exists():
            raise ValueError(f"expected the soak's state at step {first} in {STATE}; take its cells off the record")
        state = torch.load(STATE, weights_only=True)
        if state["step"] != first:
            raise ValueError(f"expected the soak's state at step {first}, got {state['step']}; take its cells off")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    stream: list[Tensor] = []
    samples: dict[str, list[float]] = {"loss": [], "gradient": [], "radius": [], "off_sheet": []}
    worst, begin = 0.0, time.process_time()
    for step, batch in enumerate(islice(batches({**cell, "seed": first}), cell["steps"]), first + 1):
        hooks = []
        if step % EVERY == 0:
            hooks = [
                layer.register_forward_hook(lambda _, __, x: stream.append(x.detach())) for layer in model.body.layers
            ]
        loss = loss_of(model, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        worst = max(worst, loss.item() if math.isfinite(loss.item()) else math.inf)
        for hook in hooks:
            hook.remove()
        if stream:
            points = torch.stack(stream).double()
            samples["loss"].append(loss.item())
            samples["gradient"].append(gradient_norm(model))
            samples["radius"].append(float(points[..., 1:].norm(dim=-1).max().asinh()))
            gap = points[..., 1:].square().sum(-1) - points[..., 0].square() + 1.0
            samples["off_sheet"].append(float((gap.abs() / points[..., 0].square()).max()))
            stream.clear()
    finite = math.isfinite(worst) and all(bool(parameter.isfinite().all()) for parameter in model.parameters())
    STATE.parent.mkdir(exist_ok=True)
    torch.save({"step": cell["until"], "model": model.state_dict(), "optimizer": optimizer.state_dict()}, STATE)
    seconds = round(time.process_time() - begin, 1)
    return {"samples": samples, "every": EVERY, "worst_loss": worst, "finite": finite, "seconds": seconds}
