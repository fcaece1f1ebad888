"""Settings that suit mentions: what their number and that of their types say."""

from __future__ import annotations

import math

import torch

from hybonet.data.mentions.mention_data import MentionData
from hybonet.metrics.typing import THRESHOLD, TypePredictions
from hybonet.tasks.auto import Candidate
from hybonet.tasks.typing.settings import TypingSettings
from hybonet.tasks.typing.task import EntityTypingTask
from hybonet.training.ranges import Value

#: Types that 32 coordinates are enough for.
_FEW_TYPES = 200
#: The crowd-sourced examples of the Open Entity data, which the recipe was made on, and their epochs.
_MENTIONS, _EPOCHS = 1998, 12
#: More are trained in batches of four times the size.
_MANY = 20_000
#: Mentions that guessing is measured on.
_GUESSED = 2_000


def candidates(settings: TypingSettings, data: MentionData) -> list[Candidate]:
    """What suits mentions: one answer."""
    count, types = len(data.train), len(data.types)
    few = types <= _FEW_TYPES
    # Steps grow with the root of the number of mentions: fewer mentions are seen more often.
    epochs = min(60, max(2, round(_EPOCHS * math.sqrt(_MENTIONS / count))))
    changes: dict[str, Value] = {
        "dim": 32 if few else 64,
        "feedforward": 64 if few else 128,
        "heads": 2 if few else 4,
        "lr": 0.01 if few else 0.004,
        "batch_size": 200 if count > _MANY else 50,
        "epochs": epochs,
        "validate_every": max(1, epochs // 6),
    }
    return [Candidate("by size", changes, f"{count:,} mentions, {types:,} types")]


def twin(settings: TypingSettings) -> dict[str, Value]:
    """The Euclidean classifier of mentions that is nearest to ours in size."""
    return {"model": "MultiTask"}


def guess(task: EntityTypingTask) -> tuple[float, str]:
    """The F1 of the same types for every mention."""
    targets = task.targets["valid"].to_dense()[:_GUESSED]
    share = torch.sparse.sum(task.targets["train"], 0).to_dense() / len(task.data.train)
    found = TypePredictions(task.levels, task.data.types.levels)
    found.add(share.expand_as(targets), targets)
    return found.measure(THRESHOLD)["total"]["f1"], "the most frequent types for every mention"
