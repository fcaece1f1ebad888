"""Settings for entity typing: the paper's, and ones for some thousand mentions."""

from __future__ import annotations

from typing import Any

from hybonet.tasks.typing.settings import HyboNetSettings, TypingSettings
from hybonet.training import ScheduleSettings
from hybonet.training.ranges import Between, OneOf, Range


def default(**changes: Any) -> TypingSettings:
    """For some thousand mentions.

    Types start near the origin and are moved coordinate by coordinate, so that rare ones lie where their few mentions
    put them and not where chance did; those that hold weigh twice, since most do not. Batches are small, since with few
    mentions steps count for more than their size, and blocks add to their input (norm_first).
    """
    settings: dict[str, Any] = {
        "dim": 64,
        "feedforward": 128,
        "merge_feedforward": 64,
        "form": "paper",
        "norm_first": True,
        "epochs": 12,
        "batch_size": 50,
        "lr": 0.004,
        "optimizer": "chart",
        "type_std": 0.01,
        "positive_weight": 2.0,
        "word_dropout": 0.15,
        "merge_dropout": 0.3,
        "validate_every": 4,
        "schedule": ScheduleSettings(kind="linear", warmup=20),
        **changes,
    }
    return TypingSettings(**settings)


_RANGES: dict[str, Range] = {
    "lr": Between(0.001, 0.02, log=True),
    "positive_weight": Between(1.0, 20.0, log=True),
    "word_dropout": Between(0.0, 0.4),
    "dropout": Between(0.0, 0.4),
    "merge_dropout": Between(0.0, 0.5),
    "attention_dropout": Between(0.0, 0.4),
    "batch_size": OneOf((50, 100, 200, 400, 900)),
    "dim": OneOf((32, 64, 128)),
}
#: The paper's figures on the development data, with six million distant examples and other word vectors.
_PUBLISHED = {"f1": 0.382, "f1_coarse": 0.681, "f1_fine": 0.432, "f1_ultra-fine": 0.235}

RECIPES: dict[str, dict[str, Any]] = {
    "typing": {
        "about": "some thousand mentions, a few minutes",
        "settings": default(),
        "ranges": _RANGES,
    },
    "typing-tutorial": {
        "about": "the invented town inside the package, under two minutes",
        "settings": default(dim=32, feedforward=64, heads=2, epochs=30, lr=0.01, word_dropout=0.0, validate_every=5),
        "data": "little-town",
        "ranges": _RANGES,
    },
    "paper-typing": {
        "about": "the paper's settings (it had six million distant examples more)",
        "settings": HyboNetSettings(
            form="paper",
            dim=128,
            feedforward=512,
            attention_dropout=0.2,
            merge_dropout=0.1,
            lr=1e-3,
            batch_size=900,
            epochs=60,
            max_grad_norm=0.2,
            bias_start="even",
            positions="absolute",
            validate_every=5,
        ),
        "data": "ufet",
        "published": _PUBLISHED,
        "ranges": _RANGES,
    },
}
