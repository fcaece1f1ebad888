"""``python -m benchmarks.deep_stacks``: how stacks of the default layers learn, beside torch's with norms first.

Both sides have the same harness, sizes and optimiser rate, and the same tricks: a final norm, a small start of what
adds to the stream, and logits twice as sharp. Cells are stored as they finish; a second call goes on where one ended.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import mean, stdev
from typing import Any
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.environment import environment
from hybonet.nn import (
    LorentzDistanceHead,
    LorentzEmbedding,
    LorentzPositionalEncoding,
    LorentzTransformerEncoder,
    LorentzTransformerEncoderLayer,
    scales,
)
from hybonet.optim import RiemannianAdam

RECORD = Path(__file__).parent / "results" / "deep_stacks.json"
WORDS, LENGTH, BATCH, WIDTH, HEADS = 50, 12, 32, 32, 4
KINDS = 8  # of brackets
STEPS = {"copy": 150, "reversal": 400, "brackets": 400}
DEPTHS = (2, 6, 12, 24)

#: One piece of the default layers replaced: what is patched, and by what.
PIECES: dict[str, dict[str, Any]] = {
    "attention as in the paper, 1/√d": {"multihead_attention.attention_scale": lambda d, m, K: m**-0.5},
    "raw time columns": {"linear.time_unit": lambda d: 1.0},
    "raw biases": {"linear.unit": lambda d, K: 1.0},
    "logits as in the paper, β = 1": {"heads.class_scale": lambda *_, **__: 1.0, "heads.CLASS_GAIN": 1.0},
    "logits not sharpened": {"heads.CLASS_GAIN": 1.0},
    "residual maps start as others": {"transformer.residual_std": lambda depth: None},
    "radius ρ = 1": {f"{name}.NORM_LENGTH": 1.0 for name in ("scales", "norm", "embedding", "heads")},
    "radius ρ = 4": {f"{name}.NORM_LENGTH": 4.0 for name in ("scales", "norm", "embedding", "heads")},
    "norms after the sums": {"layer": {"norm_first": False}},
    "no final norm": {"norm": False},
    "layers of the paper's form": {"layer": {"form": "paper"}},
}


class Lorentz(nn.Module):
    """Ours, as a user would write it."""

    def __init__(self, layers: int, positions: bool, layer: dict[str, Any], norm: bool | None) -> None:
        super().__init__()
        self.table = LorentzEmbedding(WORDS, WIDTH)
        self.position = LorentzPositionalEncoding(WIDTH, LENGTH) if positions else nn.Identity()
        block = LorentzTransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, 0.0, **layer)
        self.encoder = LorentzTransformerEncoder(block, layers, norm)
        self.head = LorentzDistanceHead(WIDTH, WORDS)

    def forward(self, words: Tensor, causal: bool) -> Tensor:
        return self.head(self.encoder(self.position(self.table(words)), is_causal=causal))


class Torch(nn.Module):
    """``nn.TransformerEncoder`` with norms first, and the tricks."""

    def __init__(self, layers: int, positions: bool, tricks: bool = True) -> None:
        super().__init__()
        self.table = nn.Embedding(WORDS, WIDTH)
        nn.init.normal_(self.table.weight, std=WIDTH**-0.5)
        std = scales.POSITION_STD if tricks else 0.02
        self.position = nn.Parameter(torch.randn(LENGTH, WIDTH) * std) if positions else None
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, 0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, nn.LayerNorm(WIDTH), enable_nested_tensor=False)
        for name, parameter in self.encoder.named_parameters():
            if parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter)
                if tricks and ("out_proj" in name or "linear2" in name):
                    nn.init.normal_(parameter, std=scales.residual_std(layers))
        self.head = nn.Linear(WIDTH, WORDS)
        self.gain = scales.CLASS_GAIN if tricks else 1.0

    def forward(self, words: Tensor, causal: bool) -> Tensor:
        x = self.table(words) * WIDTH**0.5
        x = x if self.position is None else x + self.position[: words.shape[1]]
        mask = nn.Transformer.generate_square_subsequent_mask(words.shape[1]) if causal else None
        return self.head(self.gain * self.encoder(x, mask, is_causal=causal))


def batch(task: str, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Words and what is to be said of them; -100 where nothing is."""
    if task != "brackets":
        words = torch.randint(WORDS, (BATCH, LENGTH), generator=generator)
        return words, words if task == "copy" else words.flip(1)
    rows = [_nested(generator) for _ in range(BATCH)]
    words = torch.tensor(rows)
    labels = words[:, 1:].clone()
    labels[labels < KINDS] = -100  # which bracket opens next is chance
    return words[:, :-1], labels


def _nested(generator: torch.Generator) -> list[int]:
    """A balanced row of brackets: kinds 0 to 7 open, the same plus 8 close."""
    row: list[int] = []
    waiting: list[int] = []
    while len(row) < LENGTH:
        left = LENGTH - len(row)
        opens = len(waiting) < left and (not waiting or torch.rand((), generator=generator) < 0.5)
        if opens:
            waiting.append(int(torch.randint(KINDS, (), generator=generator)))
        row.append(waiting[-1] if opens else waiting.pop() + KINDS)
    return row


def build(model: str, layers: int, task: str) -> nn.Module:
    if model.startswith("torch"):
        return Torch(layers, task != "copy", tricks=model == "torch")
    changes = PIECES.get(model, {})
    return Lorentz(layers, task != "copy", changes.get("layer", {}), changes.get("norm"))


def train(cell: dict[str, Any]) -> dict[str, Any]:
    """Losses after equal steps: means of the last ten at each mark."""
    torch.manual_seed(cell["seed"])
    generator = torch.Generator().manual_seed(1000 + cell["seed"])
    losses, start = [], time.process_time()
    with ExitStack() as stack:
        for name, value in PIECES.get(cell["model"], {}).items():
            if "." in name:
                stack.enter_context(patch(f"hybonet.nn.{name}", value))
        model = build(cell["model"], cell["layers"], cell["task"])
        optimizer = RiemannianAdam(model, lr=cell["rate"])
        for _ in range(cell["steps"]):
            words, labels = batch(cell["task"], generator)
            loss = F.cross_entropy(model(words, cell["task"] == "brackets").flatten(0, 1), labels.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    marks = sorted({cell["steps"] // 3, 2 * cell["steps"] // 3, cell["steps"]})
    return {
        "loss": {str(mark): mean(losses[mark - 10 : mark]) for mark in marks},
        "finite": all(map(math.isfinite, losses)),
        "processor_seconds": round(time.process_time() - start, 1),
    }


def signal(cell: dict[str, Any]) -> dict[str, Any]:
    """By layer, at the start and after 100 steps of copying: mean radius of the stream, mean cosine between points
    of a row, and the norm of the layer's gradient.
    """
    torch.manual_seed(cell["seed"])
    model = build("ours", cell["layers"], "copy")
    optimizer = RiemannianAdam(model, lr=cell["rate"])
    generator, found = torch.Generator().manual_seed(1000), {}
    stream: list[Tensor] = []
    for layer in model.encoder.layers:
        layer.register_forward_hook(lambda _, __, out: stream.append(out.detach()))
    for step in range(101):
        stream.clear()
        words, labels = batch("copy", generator)
        loss = F.cross_entropy(model(words, False).flatten(0, 1), labels.flatten())
        optimizer.zero_grad()
        loss.backward()
        if step in (0, 100):
            found[str(step)] = {
                "radius": [float(torch.asinh(x[..., 1:].norm(dim=-1)).mean()) for x in stream],
                "cosine": [_cosine(x[..., 1:]) for x in stream],
                "gradient": [
                    math.sqrt(sum(float(p.grad.square().sum()) for p in layer.parameters()))
                    for layer in model.encoder.layers
                ],
            }
        optimizer.step()
    return {"by_layer": found}


def _cosine(x: Tensor) -> float:
    unit = F.normalize(x, dim=-1)
    every = unit @ unit.mT
    others = every.sum() - every.diagonal(dim1=-2, dim2=-1).sum()
    return float(others / (every.numel() - every.shape[0] * every.shape[1]))


def cells() -> Iterator[dict[str, Any]]:
    """All that is to be measured, what matters most first."""
    common = {"width": WIDTH, "heads": HEADS, "words": WORDS, "length": LENGTH, "batch": BATCH}
    for seed in range(3):
        for task, rate in (("copy", 3e-3), ("reversal", 1e-3)):
            for layers in DEPTHS:
                for model in ("ours", "torch"):
                    yield {"task": task, "layers": layers, "model": model, "rate": rate, "seed": seed, **common}
        if seed == 0:
            for model in PIECES:
                yield {"task": "copy", "layers": 6, "model": model, "rate": 3e-3, "seed": 0, **common}
            yield {"task": "signal", "layers": 24, "model": "ours", "rate": 3e-3, "seed": 0, **common}
    for seed in range(3):
        for layers in DEPTHS:
            for rate in (1e-3, 1e-2) if seed == 0 else ():
                for model in ("ours", "torch"):
                    yield {"task": "copy", "layers": layers, "model": model, "rate": rate, "seed": seed, **common}
            for model in ("ours", "torch"):
                yield {"task": "brackets", "layers": layers, "model": model, "rate": 1e-3, "seed": seed, **common}


def markdown(done: list[dict[str, Any]]) -> str:
    """Loss after all steps, mean ± deviation over the seeds that are there."""
    lines = [
        "| task | layers | rate | model | steps | loss | seeds | processor seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for cell in done:
        if "loss" in cell:
            key = tuple(cell[name] for name in ("task", "layers", "rate", "model", "steps"))
            groups.setdefault(key, []).append(cell)
    for (task, layers, rate, model, steps), members in groups.items():
        losses = [each["loss"][str(steps)] for each in members]
        spread = f" ± {stdev(losses):.4f}" if len(losses) > 1 else ""
        seconds = mean(each["processor_seconds"] for each in members)
        result = f"{mean(losses):.4f}{spread} | {len(losses)} | {seconds:.1f} |"
        lines.append(f"| {task} | {layers} | {rate:g} | {model} | {steps} | {result}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.deep_stacks", description=__doc__)
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no cell after so long")
    parser.add_argument("--record", type=Path, default=RECORD)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    done: list[dict[str, Any]] = json.loads(arguments.record.read_text()) if arguments.record.exists() else []
    start, here = time.monotonic(), environment()
    for cell in cells():
        cell |= {"steps": STEPS.get(cell["task"], 101)}
        if any(all(each.get(name) == value for name, value in cell.items()) for each in done):
            continue
        if time.monotonic() - start > 60 * arguments.minutes:
            break
        found = signal(cell) if cell["task"] == "signal" else train(cell)
        done.append({**cell, **found, **here})
        arguments.record.write_text(json.dumps(done, indent=1, ensure_ascii=False) + "\n")
        print({**cell, **{name: value for name, value in found.items() if name != "by_layer"}}, flush=True)
    print(markdown(done))


if __name__ == "__main__":
    main()
