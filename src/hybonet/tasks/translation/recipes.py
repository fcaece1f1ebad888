"""Settings for machine translation: small ones for any text, those for Multi30k, and the paper's."""

from __future__ import annotations

from typing import Any

from hybonet.tasks.translation.settings import TranslationSettings
from hybonet.training import ScheduleSettings
from hybonet.training.ranges import Between, Range


def small() -> TranslationSettings:
    """For a few hundred to some thousand short sentences, and to try things out."""
    return TranslationSettings(
        epochs=40,
        dim=32,
        layers=2,
        heads=4,
        dropout=0.0,
        tokenizer="bpe",
        vocabulary=300,
        batch_tokens=512,
        lr=0.005,
        max_grad_norm=0.5,
        schedule=ScheduleSettings(kind="linear", warmup=100, hold=0.3),
        validate_every=5,
    )


def quick(**changes: Any) -> TranslationSettings:
    """For some ten thousand sentences and less than an hour on a processor core.

    Few subwords and small batches, since most of the time goes into scoring subwords and many steps count for more than
    large ones. Tokens are moved in the chart, which lowers the perplexity far sooner than steps along geodesics, and
    blocks add to their input (norm_first).
    """
    settings: dict[str, Any] = {
        "form": "paper",
        "epochs": 8,
        "layers": 3,
        "heads": 4,
        "dropout": 0.1,
        "norm_first": True,
        "vocabulary": 4000,
        "batch_tokens": 2048,
        "optimizer": "chart",
        "lr": 0.012,
        "max_grad_norm": 0.5,
        "schedule": ScheduleSettings(kind="linear", warmup=60),
        "validate_every": 1,
        **changes,
    }
    return TranslationSettings(**settings)


def paper(warmup: int, dim: int, **changes: Any) -> TranslationSettings:
    """The paper's training; its learning rate of 5 is a factor, and what it gives at the end of the warm-up is ours."""
    settings: dict[str, Any] = {
        "form": "paper",
        "epochs": 1_000_000,  # the steps decide
        "dim": dim,
        "feedforward": 4 * dim,
        "layers": 6,
        "label_smoothing": 0.1,
        "max_grad_norm": 0.5,
        "batch_tokens": 10240,
        "max_length": 100,
        "lr": noam_peak(5.0, dim, warmup),
        "schedule": ScheduleSettings(kind="noam", warmup=warmup),
        "validate_every": 1,
        **changes,
    }
    return TranslationSettings(**settings)


def noam_peak(factor: float, dim: int, warmup: int) -> float:
    """The highest learning rate of factor · dim^-½ · min(step^-½, step · warmup^-1½).

    Example:
        >>> round(noam_peak(5.0, 64, 8000), 5)
        0.00699
    """
    return factor * (dim * warmup) ** -0.5


#: The paper trained on four GPUs with 10,240 tokens each.
_WMT: dict[str, Any] = {"steps": 200_000, "accumulate": 4, "dropout": 0.1, "attention_dropout": 0.0}

_RANGES: dict[str, Range] = {
    "lr": Between(0.001, 0.03, log=True),
    "schedule.warmup": Between(20, 400, log=True),
    "dropout": Between(0.0, 0.3),
    "attention_dropout": Between(0.0, 0.3),
}
#: The paper warms up for thousands of steps.
_PAPER_RANGES: dict[str, Range] = {**_RANGES, "schedule.warmup": Between(1000, 16_000, log=True)}

RECIPES: dict[str, dict[str, Any]] = {
    "translation": {
        "about": "a few hundred to some thousand short pairs; the toy language in about a minute",
        "settings": small(),
        "ranges": _RANGES,
    },
    "multi30k-64": {
        "about": "64 ambient coordinates, 3 layers, a quarter of an hour on one core",
        "settings": quick(dim=64, feedforward=256, epochs=9),
        "data": "multi30k",
        "ranges": _RANGES,
    },
    "multi30k-128": {
        "about": "128 ambient coordinates, 4 layers, forty minutes on one core",
        "settings": quick(dim=128, feedforward=256, layers=4, epochs=11, residual_dropout=0.1),
        "data": "multi30k",
        "ranges": _RANGES,
    },
    "multi30k-128-long": {
        "about": "the same for eighty minutes on one core, with more dropout against learning the pairs by heart",
        "settings": quick(
            dim=128,
            feedforward=256,
            layers=4,
            epochs=25,
            dropout=0.2,
            residual_dropout=0.2,
            average=5,
            average_of="last",
        ),
        "data": "multi30k",
        "ranges": _RANGES,
    },
    "iwslt14-64": {
        "about": "64 ambient coordinates, 3 layers, half an hour on one core",
        "settings": quick(dim=64, feedforward=256, vocabulary=6000, epochs=8),
        "data": "iwslt14",
        "ranges": _RANGES,
    },
    "paper-iwslt14-64": {
        "about": "the paper's settings, 64 ambient coordinates (published on three times the pairs here)",
        "settings": paper(8000, 64, steps=40_000, heads=4, dropout=0.0, attention_dropout=0.1, vocabulary=10_000),
        "data": "iwslt14",
        "ranges": _PAPER_RANGES,
        "published": {"tokenized_bleu": 25.9},
    },
    "paper-wmt14-64": {
        "about": "the paper's settings, 64 ambient coordinates (published on all of WMT'14)",
        "settings": paper(6000, 64, heads=4, vocabulary=32_000, **_WMT),
        "data": "wmt14",
        "ranges": _PAPER_RANGES,
        "published": {"tokenized_bleu": 19.7},
    },
    "paper-wmt14-128": {
        "about": "the paper's settings, 128 ambient coordinates (published on all of WMT'14)",
        "settings": paper(6000, 128, heads=8, vocabulary=32_000, **_WMT),
        "data": "wmt14",
        "ranges": _PAPER_RANGES,
        "published": {"tokenized_bleu": 23.3},
    },
    "paper-wmt14-256": {
        "about": "the paper's settings, 256 ambient coordinates (published on all of WMT'14)",
        "settings": paper(6000, 256, heads=8, vocabulary=32_000, **_WMT),
        "data": "wmt14",
        "ranges": _PAPER_RANGES,
        "published": {"tokenized_bleu": 26.2},
    },
    "paper-wmt14-base": {
        "about": "the size of the base Transformer, 512 ambient coordinates (published on all of WMT'14)",
        "settings": paper(6000, 512, heads=8, vocabulary=32_000, **_WMT),
        "data": "wmt14",
        "ranges": _PAPER_RANGES,
        "published": {"tokenized_bleu": 28.2},
    },
}
