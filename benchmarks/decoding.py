"""Beam search with `Translator` and with the Euclidean Transformer of the same size."""

from __future__ import annotations

import torch

from benchmarks.timing import Job, Ratio, medians, share_of_speed
from benchmarks.translation import KINDS, LAYERS, LENGTHS, SENTENCES, SIZES, batch, build
from hybonet.tasks.translation.models.decoding import beam_search
from hybonet.tasks.translation.models.translation_model import TranslatorBase

BEAM, LENGTH = 4, LENGTHS[1]


def run() -> list[Ratio]:
    return [searching(dim) for dim in SIZES]


def searching(dim: int) -> Ratio:
    """Tokens a second, to a fixed length."""
    source = batch(LENGTH)[0]

    def search(model: TranslatorBase) -> Job:
        return lambda: beam_search(model, source, beam=BEAM, max_length=LENGTH)

    t = medians({name: search(without_end(build(name, dim).eval())) for name in KINDS}, repeats=7, warmup=1)
    speed = {name: 1e3 * SENTENCES * (LENGTH + 1) / milliseconds for name, milliseconds in t.items()}
    case = f"d={dim}, {LAYERS}+{LAYERS} layers, beam {BEAM}, batch {SENTENCES}"
    topic = "Translator / Euclidean Transformer"
    return share_of_speed(topic, case, speed["lorentz"], speed["euclidean"], "target tokens/s", 0.75)


def without_end(model: TranslatorBase) -> TranslatorBase:
    """The model with an ``end`` that is never likely, so that both sides decode to the limit."""
    with torch.no_grad():
        model.head.bias[model.end] = -1e4  # type: ignore[union-attr, index]
    return model
