"""`Translator` against the Euclidean Transformer of the same size: training, decoding, and what the cache saves."""

from __future__ import annotations

import torch
from torch import Tensor

from benchmarks.timing import Job, Ratio, lower_is_better, medians, times_faster
from hybonet.models import TranslationModel, Translator
from hybonet.models.baselines.euclidean_translator import EuclideanTranslator
from hybonet.models.decoding import beam_search
from hybonet.optim import RiemannianAdam, clip_grad_norm_

VOCABULARY, LAYERS, SENTENCES, LENGTH, BEAM = 10_000, 6, 64, 24, 4
#: The paper's sizes for IWSLT'14 and WMT'14: coordinates, heads, dropout, attention dropout.
SIZES = ((64, 4, 0.0, 0.1), (256, 8, 0.1, 0.0))


def run() -> list[Ratio]:
    rows = []
    for dim, heads, dropout, attention_dropout in SIZES:
        torch.manual_seed(0)
        options = {"layers": LAYERS, "heads": heads, "dropout": dropout, "attention_dropout": attention_dropout}
        models = [build(VOCABULARY, VOCABULARY, dim, **options) for build in (Translator, EuclideanTranslator)]
        rows += training(dim, *models) + decoding(dim, *models)
    return rows


def training(dim: int, lorentz: TranslationModel, euclidean: TranslationModel) -> list[Ratio]:
    """Target tokens a second: forward, loss, backward, clipping and optimiser, batches of changing lengths."""
    batches = [batch(length) for length in (LENGTH - 4, LENGTH, LENGTH + 4)]
    jobs = {}
    for name, model in (("lorentz", lorentz), ("euclidean", euclidean)):
        jobs[name] = training_job(model, batches)
    for name, model in (("lorentz compiled", lorentz), ("euclidean compiled", euclidean)):
        jobs[name] = training_job(model, batches, torch.compile(model, dynamic=True))
    t = medians(jobs, repeats=5, warmup=2)
    case = f"d={dim}, {LAYERS}+{LAYERS} layers, {VOCABULARY:,} tokens"
    tokens = sum(int((target != 0).sum()) for _, target, _ in batches)
    speed = {name: 1e3 * tokens / milliseconds for name, milliseconds in t.items()}
    topic = "Translator / Euclidean Transformer, training"
    return [
        at_least(topic, f"{case}, both compiled", speed["lorentz compiled"], speed["euclidean compiled"], 0.75),
        at_least(topic, f"{case}, eager", speed["lorentz"], speed["euclidean"]),
    ]
