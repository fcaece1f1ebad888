"""Settings that suit parallel text: what the number of its pairs says."""

from __future__ import annotations

import math

import torch

from hybonet.data.text.tokenizer import EOS
from hybonet.data.text.translation_data import TranslationData
from hybonet.tasks.auto import Candidate
from hybonet.tasks.translation.settings import TranslationSettings
from hybonet.tasks.translation.task import TranslationTask
from hybonet.training.ranges import Value

#: Multi30k, which the larger settings were made on, and their epochs.
_PAIRS, _EPOCHS = 29_000, 9
#: Fewer pairs take the plain model; so few are learned by heart unless much is dropped; more take 128 coordinates.
_FEW, _HEART, _MANY = 1_500, 10_000, 100_000
#: What the larger settings are: the paper's layers in blocks that add to their input, tokens moved in the chart.
_LARGER: dict[str, Value] = {
    "form": "paper", "norm_first": True, "optimizer": "chart", "lr": 0.012, "schedule.warmup": 60, "schedule.hold": 0.0,
    "layers": 3, "dim": 64, "feedforward": 256, "batch_tokens": 2048,
}  # fmt: skip


def candidates(settings: TranslationSettings, data: TranslationData) -> list[Candidate]:
    """What suits parallel text: one answer."""
    pairs = data.tokens["train"]
    count, length = len(pairs), pairs.target_tokens / len(pairs)
    # Steps grow with the root of the number of pairs: fewer pairs are seen more often.
    epochs = min(16, max(2, round(_EPOCHS * math.sqrt(_PAIRS / count))))
    changes: dict[str, Value] = {**_LARGER, "epochs": epochs, "validate_every": max(1, epochs // 8)}
    why = f"{count:,} pairs of {length:.0f} tokens, {len(data.target_tokenizer):,} different ones"
    if count < _FEW:
        return [Candidate("few pairs", {}, why)]
    if count < _HEART:
        return [Candidate("much dropout", {**changes, "dropout": 0.3, "batch_tokens": 1024}, why)]
    if count > _MANY:
        return [Candidate("many pairs", {**changes, "dim": 128, "layers": 4, "batch_tokens": 4096}, why)]
    return [Candidate("by size", changes, why)]


def twin(settings: TranslationSettings) -> dict[str, Value]:
    """The Transformer, with half the rate, which suits it better."""
    return {"model": "euclidean", "lr": settings.lr / 2}


def guess(task: TranslationTask) -> tuple[float, str]:
    """The perplexity of tokens drawn by their frequency."""
    counts = []
    for split in ("train", "valid"):
        pairs = task.data.tokens[split]
        count = torch.bincount(pairs.target.values.long(), minlength=len(task.data.target_tokenizer)).double()
        count[EOS] += len(pairs)
        counts.append(count)
    share = (counts[0] + 1) / (counts[0] + 1).sum()
    return math.exp(-float((counts[1] * share.log()).sum() / counts[1].sum())), "tokens by their frequency"
