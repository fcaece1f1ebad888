"""`Translator` against the Euclidean Transformer of the same size: training, and what the cache of decoding saves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from benchmarks.timing import Job, Ratio, medians, share_of_speed, times_faster
from hybonet.optim import RiemannianAdam, clip_grad_norm_
from hybonet.tasks.translation.models.euclidean_translator import EuclideanTranslator
from hybonet.tasks.translation.models.translation_model import TranslatorBase
from hybonet.tasks.translation.models.translator import Translator

VOCABULARY, LAYERS, SENTENCES, LONG = 10_000, 6, 64, 60
#: Lengths of the batches, so that no graph may be made for one of them.
LENGTHS = (20, 24, 28)
#: The paper's sizes for IWSLT'14 and WMT'14.
SIZES: dict[int, dict[str, Any]] = {
    64: {"heads": 4, "dropout": 0.0, "attention_dropout": 0.1},
    256: {"heads": 8, "dropout": 0.1, "attention_dropout": 0.0},
}
KINDS: dict[str, type[TranslatorBase]] = {"lorentz": Translator, "euclidean": EuclideanTranslator}


def run() -> list[Ratio]:
    rows = []
    for dim in SIZES:
        rows += training(dim) + caching(dim)
    return rows


def build(name: str, dim: int) -> TranslatorBase:
    torch.manual_seed(0)
    return KINDS[name](VOCABULARY, VOCABULARY, dim, layers=LAYERS, **SIZES[dim])  # type: ignore[call-arg]


def training(dim: int) -> list[Ratio]:
    """Target tokens a second of whole steps: forward, loss, backward, clipping, optimiser."""
    batches = [batch(length) for length in LENGTHS]
    jobs = {name: steps(build(name, dim), batches) for name in KINDS}
    for name in KINDS:
        model = build(name, dim)
        model.compile(dynamic=True)
        jobs[f"{name} compiled"] = steps(model, batches)
    tokens = sum(int((labels != 0).sum()) for _, _, labels in batches)
    speed = {name: 1e3 * tokens / milliseconds for name, milliseconds in medians(jobs, repeats=5, warmup=2).items()}
    topic, case = "Translator / Euclidean Transformer", f"d={dim}, {LAYERS}+{LAYERS} layers, training"
    unit = "target tokens/s"
    return [
        share_of_speed(
            topic, f"{case}, both compiled", speed["lorentz compiled"], speed["euclidean compiled"], unit, 0.75
        ),
        share_of_speed(topic, f"{case}, eager", speed["lorentz"], speed["euclidean"], unit),
    ]


def batch(length: int) -> tuple[Tensor, Tensor, Tensor]:
    """Random sentences of nearly one length, as bucketing gives them: source, decoder input, labels."""
    generator = torch.Generator().manual_seed(length)
    draw = torch.randint(4, VOCABULARY, (3, SENTENCES, length), generator=generator)
    lengths = torch.randint(length - 3, length + 1, (SENTENCES, 1), generator=generator)
    source, target_in, labels = draw.masked_fill(torch.arange(length) >= lengths, 0)
    target_in[:, 0] = 2
    return source, target_in, labels


def steps(model: TranslatorBase, batches: list[tuple[Tensor, Tensor, Tensor]]) -> Job:
    """A training step with each batch."""
    optimizer = RiemannianAdam(model, lr=1e-4)

    def job() -> None:
        for source, target_in, labels in batches:
            model(source, target_in, labels, label_smoothing=0.1).backward()
            clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    return job


def caching(dim: int) -> list[Ratio]:
    """One batch decoded greedily, with and without the cache."""
    lorentz, source = build("lorentz", dim).eval(), batch(LENGTHS[1])[0]
    t = medians(
        {
            "cache": lambda: with_cache(lorentz, source),
            "decoder anew": lambda: decoder_anew(lorentz, source),
            "all anew": lambda: all_anew(lorentz, source),
        },
        repeats=3,
        warmup=1,
    )
    saved, length = "KV cache / re-computation", f"d={dim}, greedy, {LONG} tokens, batch {SENTENCES}"
    return [
        times_faster(saved, f"{length}, model called anew", t["cache"], t["all anew"], 5.0),
        times_faster(saved, f"{length}, only its decoder anew", t["cache"], t["decoder anew"]),
    ]


@torch.no_grad()
def with_cache(model: TranslatorBase, source: Tensor) -> Tensor:
    """LONG likeliest tokens in turn, ``(B, LONG + 1)`` with ``begin``."""
    cache = model.start(model.encode(source))
    return greedily(model, source, lambda tokens: model.step(tokens[:, -1], cache))


@torch.no_grad()
def decoder_anew(model: TranslatorBase, source: Tensor) -> Tensor:
    """The same without a cache: the source is encoded once, and only the last position gets logits."""
    memory = model.encode(source)
    return greedily(model, source, lambda tokens: model.logits(model.decode(tokens, memory)[:, -1]))


@torch.no_grad()
def all_anew(model: TranslatorBase, source: Tensor) -> Tensor:
    """The same by calling the model with all that is there so far."""
    return greedily(model, source, lambda tokens: model(source, tokens)[:, -1])


def greedily(model: TranslatorBase, source: Tensor, logits: Callable[[Tensor], Tensor]) -> Tensor:
    tokens = torch.full((len(source), 1), model.begin)
    for _ in range(LONG):
        tokens = torch.cat((tokens, logits(tokens).argmax(-1, keepdim=True)), dim=1)
    return tokens
