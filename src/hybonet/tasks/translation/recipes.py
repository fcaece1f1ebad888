"""Settings for machine translation: small ones for any text, those for Multi30k, and the paper's."""

from __future__ import annotations

from typing import Any

from hybonet.tasks.translation.settings import TranslationSettings
from hybonet.training import ScheduleSettings
from hybonet.training.ranges import Between, Range


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
_AT_128: dict[str, Any] = {"dim": 128, "layers": 4, "epochs": 11}
#: The paper warms up for thousands of steps.
_PAPER_RANGES: dict[str, Range] = {**_RANGES, "schedule.warmup": Between(1000, 16_000, log=True)}


def _ours(data: str, about: str, **changes: Any) -> dict[str, Any]:
    return {"about": about, "settings": quick(feedforward=256, **changes), "data": data, "ranges": _RANGES}


def _wmt(dim: int, heads: int, bleu: float, size: str = "the paper's settings") -> dict[str, Any]:
    return {
        "about": f"{size}, {dim} ambient coordinates (published on all of WMT'14)",
        "settings": paper(6000, dim, heads=heads, vocabulary=32_000, **_WMT),
        "data": "wmt14",
        "ranges": _PAPER_RANGES,
        "published": {"tokenized_bleu": bleu},
    }


RECIPES: dict[str, dict[str, Any]] = {
    "translation": {
        "about": "a few hundred to some thousand short pairs; the toy language in about a minute",
        "settings": TranslationSettings(
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
        ),
        "ranges": _RANGES,
    },
    "multi30k-64": _ours(
        "multi30k", "64 ambient coordinates, 3 layers, a quarter of an hour on one core", dim=64, epochs=9
    ),
    "multi30k-128": _ours(
        "multi30k", "128 ambient coordinates, 4 layers, forty minutes on one core", **_AT_128, residual_dropout=0.1
    ),
    "multi30k-128-long": _ours(
        "multi30k",
        "the same for eighty minutes on one core, with more dropout against learning the pairs by heart",
        **_AT_128 | {"epochs": 25, "dropout": 0.2, "residual_dropout": 0.2, "average": 5, "average_of": "last"},
    ),
    "iwslt14-64": _ours(
        "iwslt14", "64 ambient coordinates, 3 layers, half an hour on one core", dim=64, vocabulary=6000, epochs=8
    ),
    "paper-iwslt14-64": {
        "about": "the paper's settings, 64 ambient coordinates (published on three times the pairs here)",
        "settings": paper(8000, 64, steps=40_000, heads=4, dropout=0.0, attention_dropout=0.1, vocabulary=10_000),
        "data": "iwslt14",
        "ranges": _PAPER_RANGES,
        "published": {"tokenized_bleu": 25.9},
    },
    "paper-wmt14-64": _wmt(64, 4, 19.7),
    "paper-wmt14-128": _wmt(128, 8, 23.3),
    "paper-wmt14-256": _wmt(256, 8, 26.2),
    "paper-wmt14-base": _wmt(512, 8, 28.2, "the size of the base Transformer"),
}
