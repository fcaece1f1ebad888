"""Tools that people use, on our layers and on geoopt's parameters: do points stay on the manifold, and at what cost?

    python -m benchmarks.works_with --json benchmarks/results/works_with.json

A small model (a table of points and a head of class points) sorts 2,000 words, with each tool. "Off" is the
largest |<x,x> - 1/K|/x_t² of its points, as the model reads them; loss after 60 steps, processor time of a step.
"Same" is how far that loss is from the loss without the tool, where the tool promises the same. Hugging Face's Trainer
needs ``accelerate``, and Lightning's callbacks are tried where ``lightning`` is installed.
"""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import tempfile
import time
import warnings
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


def with_loss(logits: Tensor, labels: Tensor | None) -> Any:
    """As Hugging Face's Trainer wants it; without labels, the logits alone."""
    if labels is None:
        return logits
    return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


class Ours(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = LorentzEmbedding(WORDS, SIZE, form="paper")
        self.head = LorentzDistanceHead(SIZE, CLASSES, form="paper")

    def forward(self, input_ids: Tensor, labels: Tensor | None = None) -> Any:
        return with_loss(self.head(self.table(input_ids)), labels)

    def points(self) -> Tensor:
        return torch.cat((self.table.points(), self.head.points()))


class Geoopt(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        draw, manifold = Lorentz().random_normal, geoopt.Lorentz()
        self.table = geoopt.ManifoldParameter(draw(WORDS, SIZE, std=SIZE**-0.5), manifold=manifold)
        self.head = geoopt.ManifoldParameter(draw(CLASSES, SIZE, std=SIZE**-0.5), manifold=manifold)

    def forward(self, input_ids: Tensor, labels: Tensor | None = None) -> Any:
        x = torch.nn.functional.embedding(input_ids, self.table)
        return with_loss(2.0 + 2.0 * (x[:, 1:] @ self.head[:, 1:].T - x[:, :1] * self.head[:, 0]), labels)

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
    return found(model if averaged is None else averaged.module, 1e3 * statistics.median(times[5:]))


@torch.no_grad()
def found(model: Any, milliseconds: float) -> dict[str, float]:
    loss = nn.functional.cross_entropy(model(torch.arange(WORDS)), LABELS).item()
    return {"off": off_manifold(model.points()), "loss": loss, "milliseconds": milliseconds}


def by_trainer(model: nn.Module, _: torch.optim.Optimizer) -> dict[str, float]:
    """Hugging Face's Trainer with its default AdamW, at a constant rate on all words at once."""
    import transformers

    examples = [{"input_ids": word, "labels": label} for word, label in zip(torch.arange(WORDS), LABELS, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        options: dict[str, Any] = {"use_cpu": True, "report_to": [], "disable_tqdm": True, "save_strategy": "no"}
        options |= {"learning_rate": ADAM["lr"], "lr_scheduler_type": "constant", "weight_decay": 0.01}
        options |= {"max_grad_norm": 0.0, "logging_strategy": "no", "per_device_train_batch_size": WORDS}
        arguments = transformers.TrainingArguments(folder, max_steps=STEPS, **options)
        trainer = transformers.Trainer(model, arguments, train_dataset=examples)
        start = time.process_time()
        trainer.train()
    return found(model, 1e3 * (time.process_time() - start) / STEPS)


def by_lightning(callback: str, **of_callback: Any) -> Callable[..., dict[str, float]]:
    """Lightning's Trainer with a callback that averages weights."""

    def fit(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, float]:
        import lightning
        from lightning.pytorch import callbacks

        class Module(lightning.LightningModule):
            def __init__(self) -> None:
                super().__init__()
                self.net = model

            def training_step(self, batch: Any, _: int) -> Tensor:
                return self.net(*batch)["loss"]

            def configure_optimizers(self) -> torch.optim.Optimizer:
                return optimizer

        logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
        quiet: dict[str, Any] = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
        quiet |= {"enable_model_summary": False, "accelerator": "cpu", "log_every_n_steps": 1}
        trainer = lightning.Trainer(max_epochs=STEPS, callbacks=[getattr(callbacks, callback)(**of_callback)], **quiet)
        data = torch.utils.data.TensorDataset(torch.arange(WORDS), LABELS)
        module = Module()
        start = time.process_time()
        trainer.fit(module, torch.utils.data.DataLoader(data, batch_size=WORDS))
        return found(module.net, 1e3 * (time.process_time() - start) / STEPS)

    return fit


ADAM = {"lr": 0.01}
RIEMANNIAN, ADAMW = with_optimizer(RiemannianAdam, **ADAM), with_optimizer(torch.optim.AdamW, **ADAM)


def by_hand(**options: Any) -> Callable[..., dict[str, float]]:
    return lambda model, optimizer: train(model, optimizer, **options)


#: The optimiser, how it is run, and the tool without which the result is to be the same.
TOOLS: dict[str, tuple[Callable[[nn.Module], torch.optim.Optimizer], Callable[..., dict[str, float]], str | None]] = {
    "Riemannian Adam": (RIEMANNIAN, by_hand(), None),
    "Riemannian Adam, torch.compile(optimizer.step)": (RIEMANNIAN, by_hand(compiled=True), "Riemannian Adam"),
    "Riemannian Adam, AveragedModel": (RIEMANNIAN, by_hand(average="mean"), None),
    "Riemannian Adam, AveragedModel (EMA)": (RIEMANNIAN, by_hand(average="ema"), None),
    "Riemannian Adam, Lightning's SWA": (
        RIEMANNIAN,
        by_lightning("StochasticWeightAveraging", swa_lrs=0.01, swa_epoch_start=10),
        None,
    ),
    "Riemannian Adam, Lightning's EMA": (RIEMANNIAN, by_lightning("EMAWeightAveraging", decay=0.9), None),
    "AdamW": (ADAMW, by_hand(), None),
    "AdamW, Hugging Face's Trainer": (ADAMW, by_trainer, "AdamW"),
    "AdamW, foreach": (with_optimizer(torch.optim.AdamW, foreach=True, **ADAM), by_hand(), "AdamW"),
    "AdamW, fused": (with_optimizer(torch.optim.AdamW, fused=True, **ADAM), by_hand(), "AdamW"),
    "AdamW, AveragedModel": (ADAMW, by_hand(average="mean"), None),
    "SGD with momentum": (with_optimizer(torch.optim.SGD, lr=1.0, momentum=0.9), by_hand(), None),
    "LBFGS": (with_optimizer(torch.optim.LBFGS, lr=0.1), by_hand(), None),
}


def row(kind: type[nn.Module], name: str) -> dict[str, Any]:
    make, run, _ = TOOLS[name]
    if kind is Geoopt and "Riemannian" in name:
        make = with_optimizer(geoopt.optim.RiemannianAdam, **ADAM)
    torch.manual_seed(0)
    model = kind()
    try:
        return run(model, make(model))
    except ImportError as error:
        return {"error": f"{error.name} is not installed"}


def measured() -> list[dict[str, Any]]:
    rows = []
    for name, (_, _, plain) in TOOLS.items():
        found = {"tool": name, "ours": row(Ours, name), "geoopt": row(Geoopt, name)}
        for who in ("ours", "geoopt"):
            without = next((each[who] for each in rows if each["tool"] == plain), None)
            if without is not None and "loss" in found[who]:
                found[who]["same"] = abs(found[who]["loss"] - without["loss"])
        rows.append(found)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    rows = measured()
    quantities = ("off", "loss", "same", "ms per step")
    table = Table("tool", *(f"{who}: {what}" for who in ("ours", "geoopt") for what in quantities))
    for each in rows:
        table.add_row(each["tool"], *(text for who in ("ours", "geoopt") for text in _cells(each[who])))
    Console(width=160).print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps({"environment": environment(), "rows": rows}, indent=1) + "\n")


def _cells(result: dict[str, Any]) -> list[str]:
    if "error" in result:
        return [result["error"], "", "", ""]
    same = f"{result['same']:.1g}" if "same" in result else ""
    return [f"{result['off']:.1g}", f"{result['loss']:.4f}", same, f"{result['milliseconds']:.2f}"]


if __name__ == "__main__":
    main()
