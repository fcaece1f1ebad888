"""Settings that suit a treebank: what its size says."""

from __future__ import annotations

import math

from hybonet.tasks.auto import Candidate
from hybonet.tasks.probing.settings import ProbeSettings
from hybonet.tasks.probing.task import ProbeData, TreeProbingTask, chain_scores
from hybonet.training.ranges import Value

#: The treebank that the recipe was made on, and its epochs.
_SENTENCES, _EPOCHS = 12_544, 12
#: So few sentences bear steps of twice the size.
_FEW = 3_000


def candidates(settings: ProbeSettings, data: ProbeData) -> list[Candidate]:
    """What suits a treebank: one answer."""
    count = len(data.splits["train"].trees)
    epochs = min(60, max(4, round(_EPOCHS * math.sqrt(_SENTENCES / count))))
    changes: dict[str, Value] = {"lr": 0.01 if count < _FEW else 0.005, "epochs": epochs}
    return [Candidate("by size", {**changes, "validate_every": max(1, epochs // 6)}, f"{count:,} sentences")]


def twin(settings: ProbeSettings) -> dict[str, Value]:
    """The structural probe of Hewitt and Manning."""
    return {"probe": "euclidean"}


def guess(task: TreeProbingTask) -> tuple[float, str]:
    """The mean of the measures of chains, which need no encoder."""
    return chain_scores(task.splits["valid"].trees).mean, "hanging every word on the one before"
