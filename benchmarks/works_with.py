"""Tools that people use, on our layers and on geoopt's parameters: do points stay on the manifold, and at what cost?

    python -m benchmarks.works_with --json benchmarks/results/works_with.json

A small model (a table of points and a head of class points) sorts 2,000 words, with each tool. "Off" is the
largest |<x,x> - 1/K|/x_t² of its points, as the model reads them; loss after 60 steps, processor time of a step.
"Same" is how far that loss is from the loss without the tool, where the tool promises the same. Hugging Face's Trainer
needs ``accelerate``, and Lightning's callbacks are tried where ``lightning`` is installed. What looking at inputs costs
(:func:`hybonet.set_checks`) is measured as well.
"""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import geoopt
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from benchmarks.environment import environment
from hybonet import Lorentz, set_checks
from hybonet.nn import LorentzDistanceHead, LorentzEmbedding, LorentzLinear
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
        self.table = nn.Embedding(WORDS, SIZE, _weight=torch.empty(WORDS, SIZE))
        self.table.weight = geoopt.ManifoldParameter(draw(WORDS, SIZE, std=SIZE**-0.5), manifold=manifold)
        self.head = nn.utils.skip_init(nn.Linear, SIZE, CLASSES, bias=False)
        self.head.weight = geoopt.ManifoldParameter(draw(CLASSES, SIZE, std=SIZE**-0.5), manifold=manifold)

    def forward(self, input_ids: Tensor, labels: Tensor | None = None) -> Any:
        x = self.table(input_ids)
        return with_loss(2.0 + 2.0 * self.head(torch.cat((-x[:, :1], x[:, 1:]), dim=1)), labels)

    def points(self) -> Tensor:
        return torch.cat((self.table.weight, self.head.weight))


def off_manifold(x: Tensor) -> float:
    x = x.detach().double()
    return float(((x[:, 1:].square().sum(1) - x[:, 0].square() + 1).abs() / x[:, 0].square()).max())


def with_optimizer(make: Callable[..., torch.optim.Optimizer], **options: Any) -> Callable[[nn.Module], Any]:
    return lambda model: make(model.parameters(), **options)


def train(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    *,
    average: str | None = None,
    compiled: bool = False,
    schedule: Callable[[torch.optim.Optimizer], Any] | None = None,
    wrapped: nn.Module | None = None,
    finish: Callable[[], nn.Module] | None = None,
) -> Any:
    averaged = None
    if average:
        decay = torch.optim.swa_utils.get_ema_multi_avg_fn(0.9) if average == "ema" else None
        averaged = AveragedModel(model, multi_avg_fn=decay)
    step = torch.compile(optimizer.step) if compiled else optimizer.step
    scheduler = schedule(optimizer) if schedule else None
    times = []

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy((wrapped or model)(torch.arange(WORDS)), LABELS)
        loss.backward()
        return loss

    for _ in range(STEPS):
        start = time.process_time()
        if isinstance(optimizer, torch.optim.LBFGS):
            step(closure)
        else:
            closure()
            step()
        if scheduler is not None:
            scheduler.step()
        if averaged is not None:
            averaged.update_parameters(model)
        times.append(time.process_time() - start)
    end: Any = finish() if finish else model if averaged is None else averaged.module
    return found(end, 1e3 * statistics.median(times[5:]))


@torch.no_grad()
def found(model: Any, milliseconds: float) -> dict[str, float]:
    loss = nn.functional.cross_entropy(model(torch.arange(WORDS)), LABELS).item()
    if hasattr(model, "unshard"):
        model.unshard()
    return {"off": off_manifold(model.points()), "loss": loss, "milliseconds": milliseconds}


@contextmanager
def one_process() -> Iterator[Any]:
    """A group of processes that has one member, as DDP and FSDP2 want it; its mesh."""
    with tempfile.TemporaryDirectory() as folder:
        torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=0, world_size=1)
        try:
            yield torch.distributed.device_mesh.init_device_mesh("cpu", (1,))
        finally:
            torch.distributed.destroy_process_group()


def by_ddp(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, float]:
    with one_process():
        return train(model, optimizer, wrapped=nn.parallel.DistributedDataParallel(model))


def by_fsdp2(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, float]:
    """Sharded parameters are new ones, so that the optimiser is made anew."""
    with one_process() as mesh:
        torch.distributed.fsdp.fully_shard(model, mesh=mesh)
        return train(model, type(optimizer)(model.parameters(), **ADAM))


def by_sparse_ddp(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, float]:
    model.table.sparse = True  # type: ignore[union-attr]
    return by_ddp(model, optimizer)


def by_lora(model: nn.Module, _: torch.optim.Optimizer) -> dict[str, float]:
    """PEFT's adapters of the points' parameters, trained and merged."""
    import peft

    adapted = peft.get_peft_model(model, peft.LoraConfig(target_parameters=["table.weight", "head.weight"], r=4))
    return train(adapted, ADAMW(adapted), finish=adapted.merge_and_unload)


def by_resizing(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, float]:
    """Trained; then Hugging Face adds 200 words to the table, drawn from the others' mean and covariance."""
    import transformers

    class Pretrained(transformers.PreTrainedModel):
        config_class = transformers.PretrainedConfig

        def __init__(self, config: Any) -> None:
            super().__init__(config)
            self.net = model

        def get_input_embeddings(self) -> nn.Module:
            return self.net.table

        def set_input_embeddings(self, table: nn.Module) -> None:
            self.net.table = table

    def resized() -> nn.Module:
        Pretrained(transformers.PretrainedConfig(vocab_size=WORDS)).resize_token_embeddings(WORDS + 200)
        return model

    return train(model, optimizer, finish=resized)


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
    "Riemannian Adam, OneCycleLR": (
        RIEMANNIAN,
        by_hand(schedule=lambda o: torch.optim.lr_scheduler.OneCycleLR(o, 0.02, total_steps=STEPS)),
        None,
    ),
    "Riemannian Adam, DDP": (RIEMANNIAN, by_ddp, "Riemannian Adam"),
    "Riemannian Adam, DDP, sparse rows": (RIEMANNIAN, by_sparse_ddp, "Riemannian Adam"),
    "Riemannian Adam, FSDP2": (RIEMANNIAN, by_fsdp2, "Riemannian Adam"),
    "Riemannian Adam, resize_token_embeddings": (RIEMANNIAN, by_resizing, "Riemannian Adam"),
    "AdamW": (ADAMW, by_hand(), None),
    "AdamW, Hugging Face's Trainer": (ADAMW, by_trainer, "AdamW"),
    "AdamW, foreach": (with_optimizer(torch.optim.AdamW, foreach=True, **ADAM), by_hand(), "AdamW"),
    "AdamW, fused": (with_optimizer(torch.optim.AdamW, fused=True, **ADAM), by_hand(), "AdamW"),
    "AdamW, AveragedModel": (ADAMW, by_hand(average="mean"), None),
    "AdamW, CosineAnnealingLR": (
        ADAMW,
        by_hand(schedule=lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, STEPS)),
        None,
    ),
    "AdamW, DDP": (ADAMW, by_ddp, "AdamW"),
    "AdamW, FSDP2": (ADAMW, by_fsdp2, "AdamW"),
    "AdamW, resize_token_embeddings": (ADAMW, by_resizing, "AdamW"),
    "AdamW, PEFT's LoRA": (ADAMW, by_lora, None),
    "Muon": (lambda model: torch.optim.Muon([p for p in model.parameters() if p.dim() == 2], **ADAM), by_hand(), None),
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
    except (RuntimeError, ValueError) as error:  # a tool that refuses a model is a result
        return {"error": f"{type(error).__name__}: {str(error).splitlines()[0][:100]}"}


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


def checking() -> dict[str, float]:
    """Milliseconds of a layer on 64 points of 32 coordinates, by what is looked at."""
    layer, x = LorentzLinear(SIZE, SIZE), Lorentz().random_normal(64, SIZE)
    times: dict[str, list[float]] = {when: [] for when in ("never", "once", "always")}
    for _ in range(100):
        for when, each in times.items():
            set_checks(when)
            layer(x)
            start = time.process_time()
            for _ in range(20):
                layer(x)
            each.append(1e3 * (time.process_time() - start) / 20)
    set_checks("once")
    return {when: statistics.median(each) for when, each in times.items()}


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
    checks = checking()
    Console(width=160).print(table, "A layer, by what is looked at:", checks)
    if arguments.json:
        record = {"environment": environment(), "rows": rows, "checks": checks}
        arguments.json.write_text(json.dumps(record, indent=1) + "\n")


def _cells(result: dict[str, Any]) -> list[str]:
    if "error" in result:
        return [result["error"], "", "", ""]
    same = f"{result['same']:.1g}" if "same" in result else ""
    return [f"{result['off']:.1g}", f"{result['loss']:.4f}", same, f"{result['milliseconds']:.2f}"]


if __name__ == "__main__":
    main()
