"""Fine-grained entity typing as a task of the training loop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.data.mentions.mention_data import SPLITS, MentionBatch, MentionData, encode
from hybonet.data.mentions.word_vectors import PADDING, UNKNOWN
from hybonet.geometry import Lorentz
from hybonet.metrics.calibration import Calibration, fit_calibration, reliability
from hybonet.metrics.typing import LOWEST, THRESHOLD, TypePredictions
from hybonet.optim import RiemannianAdam
from hybonet.tasks.typing import models as baselines
from hybonet.tasks.typing.models.entity_typer import EntityTyper
from hybonet.tasks.typing.models.mention_classifier import MentionClassifier
from hybonet.tasks.typing.settings import HyboNetSettings, LorentzSettings, TypingSettings
from hybonet.training import generator_for

__all__ = ["Batch", "EntityTypingTask", "TypingSettings", "level_loss", "predictions"]

#: Mentions at a time where nothing is trained.
_ROWS = 256
#: A type that the training data lacks counts as so many occurrences in the prior.
_UNSEEN = 0.1


@dataclass(frozen=True)
class Batch:
    """Mentions as numbers, and their types as 0 and 1, ``(N, types)``."""

    mentions: MentionBatch
    targets: Tensor


class EntityTypingTask:
    """Fills in :class:`~hybonet.training.Task` for entity typing."""

    name = "typing"
    monitor, monitor_label, unit = "f1", "validation macro F1", "mentions/s"
    higher_is_better = True

    def __init__(self, settings: TypingSettings, data: MentionData) -> None:
        if not data.valid:
            raise ValueError(
                f"expected validation mentions to choose the best model by, but {data.source} has none; give a valid "
                "(or dev) file, or one file to split"
            )
        self.settings, self.data = settings, data
        self.encoded = {
            split: encode(data.split(split), data.vectors, settings.mention_words, settings.context_words)
            for split in SPLITS
        }
        self.targets = {split: data.targets(split) for split in SPLITS}
        self.levels = data.types.level_numbers

    def build_model(self) -> MentionClassifier:
        model = build_model(self.settings, self.data, self.targets["train"])
        sample = self.encoded["train"].rows(slice(_ROWS))
        model.start_bias(self._log_odds(), sample.mention, sample.context, sample.place)
        return model

    def _log_odds(self) -> Tensor:
        if self.settings.bias_start == "even":
            return torch.zeros(len(self.data.types))
        frequency = torch.sparse.sum(self.targets["train"], 0).to_dense()
        share = frequency.clamp_min(_UNSEEN) / (len(self.data.train) + 1.0)
        return torch.logit(share.clamp_max(0.99))

    def build_optimizer(self, model: nn.Module) -> RiemannianAdam:
        s = self.settings
        exact = isinstance(s, LorentzSettings) and s.optimizer == "riemannian"
        update: Literal["exact", "chart"] = "exact" if exact else "chart"
        return RiemannianAdam(model, lr=s.lr, weight_decay=s.weight_decay, update=update, precondition=False)

    def batches_per_epoch(self) -> int:
        return -(-len(self.data.train) // self.settings.batch_size)

    def batches(self, epoch: int, start: int, rank: int = 0, world: int = 1) -> Iterator[Batch]:
        s = self.settings
        order = torch.randperm(len(self.data.train), generator=generator_for(s.seed, epoch, 0))
        for number in range(start, self.batches_per_epoch()):
            chosen = order[number * s.batch_size : (number + 1) * s.batch_size][rank::world]
            mentions = self.encoded["train"].rows(chosen)
            if s.word_dropout:
                generator = generator_for(s.seed, epoch, number + 1, rank)
                mentions = MentionBatch(
                    _forget(mentions.mention, s.word_dropout, generator),
                    _forget(mentions.context, s.word_dropout, generator),
                    mentions.place,
                )
            yield Batch(mentions, self.targets["train"].index_select(0, chosen).to_dense())

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        mentions, targets = batch.mentions.to(self.settings.device), batch.targets.to(self.settings.device)
        logits = model(mentions.mention, mentions.context, mentions.place)
        levels = self.levels.to(logits.device)
        return level_loss(logits, targets, levels, positive_weight=self.settings.positive_weight)

    def validate(self, model: nn.Module) -> dict[str, float]:
        found = self.predictions(model, "valid")
        threshold = found.best_threshold() if self.settings.calibrate else THRESHOLD
        result = found.measure(threshold)
        total = result.pop("total")
        scores = {"f1": total["f1"], "precision": total["precision"], "recall": total["recall"]}
        return {**scores, **{f"f1_{level}": each["f1"] for level, each in result.items()}, "threshold": threshold}

    def predictions(self, model: nn.Module, split: str, *, lowest: float = LOWEST) -> TypePredictions:
        """The probabilities that a model gives to the types of a split, to be measured at ``lowest`` or above."""
        mentions, targets, device = self.encoded[split], self.targets[split], self.settings.device
        return predictions(model, mentions, targets, self.data.types, device, lowest=lowest)

    def describe(self) -> dict[str, Any]:
        data = self.data
        return {
            "task": self.name,
            "data": {
                "source": data.source,
                "sha256": dict(data.sha256 or {}),
                "types": {level: int((self.levels == n).sum()) for n, level in enumerate(data.types.levels)},
                **{split: len(data.split(split)) for split in SPLITS},
                "word_vectors": {"words": len(data.vectors.words), "size": data.vectors.size},
            },
            "protocol": "predicted: the likeliest type and all above the threshold; macro precision over mentions with "
            "a prediction, macro recall over mentions with a type, F1 of the two; by level after leaving out others",
        }


def fit_types(found: TypePredictions) -> Calibration | None:
    """What turns a model's scores of types into probabilities, by validation mentions; by level, where that helps.

    None where they say nothing: without a right or a wrong type.
    """
    probability, right, level = found.cases()
    if not bool(right.any()) or bool(right.all()):
        return None
    return fit_calibration(_log_odds(probability), right, group=level)


def calibrated(calibration: Calibration | None, probability: Tensor, level: Tensor) -> Tensor:
    """Probabilities of types as they hold, ``(n,)``, of what the model says and of the types' levels."""
    return probability if calibration is None else calibration(_log_odds(probability), level)


def _log_odds(probability: Tensor) -> Tensor:
    return torch.logit(probability.double(), eps=1e-9)[:, None]


def measure_in_full(
    found: TypePredictions, threshold: float, calibration: Calibration | None
) -> dict[str, dict[str, Any]]:
    """Scores in all and by level; those in all with intervals, and the calibration error where there is one."""
    measured: dict[str, dict[str, Any]] = dict(found.measure(threshold))
    measured["total"] = {**measured["total"], "interval": found.intervals(threshold)}
    if calibration is not None:
        probability, right, level = found.cases()
        measured["total"]["calibration"] = reliability(calibrated(calibration, probability, level), right)
    return measured


def build_model(settings: TypingSettings, data: MentionData, train: Tensor | None = None) -> MentionClassifier:
    """The untrained model of these settings; ``train`` are the training mentions' types, which LabelGCN looks at."""
    s, words, count = settings, data.vectors.table, len(data.types)
    shared: dict[str, Any] = {
        "context_words": s.context_words,
        "merge_dropout": s.merge_dropout,
        "dropout": s.dropout,
        "word_radius": s.word_radius,
        "type_std": s.type_std,
    }
    if s.model == "LabelGCN":
        return baselines.LabelGCN(words, count, s.dim, together=train, **shared)
    if not isinstance(s, LorentzSettings):
        return getattr(baselines, s.model)(words, count, s.dim, **shared)
    own: dict[str, Any] = {"transform": "tangent"}
    if isinstance(s, HyboNetSettings):
        own = {"form": s.form, "scale": s.scale, "norm_first": s.norm_first}
    return EntityTyper(
        words,
        count,
        s.dim,
        layers=s.layers,
        heads=s.heads,
        feedforward=s.feedforward,
        attention_dropout=s.attention_dropout,
        positions=s.positions,
        merge_feedforward=s.merge_feedforward,
        manifold=Lorentz(s.K),
        **own,
        **shared,
    )


def level_loss(logits: Tensor, targets: Tensor, levels: Tensor, *, positive_weight: float = 1.0) -> Tensor:
    """Binary cross-entropy by level: its mean over the mentions that have a type of the level, summed over levels.

    Shapes: ``logits, targets (N, types)``, ``levels (types,)`` (the level of each type, from 0).

    Example:
        >>> targets = torch.tensor([[1.0, 0.0, 0.0], [1.0, 0.0, 1.0]])
        >>> level_loss(torch.zeros(2, 3), targets, torch.tensor([0, 1, 1]))  # ln 2 for each of two levels
        tensor(1.3863)
    """
    weight = None if positive_weight == 1.0 else logits.new_tensor(positive_weight)
    each = F.binary_cross_entropy_with_logits(logits, targets, reduction="none", pos_weight=weight)
    member = F.one_hot(levels).to(each.dtype)  # (types, levels)
    has = (targets @ member > 0).to(each.dtype)
    mean = (each @ member) / member.sum(0).clamp_min(1)
    return ((mean * has).sum(0) / has.sum(0).clamp_min(1)).sum()


@torch.no_grad()
def predictions(
    model: nn.Module,
    mentions: MentionBatch,
    targets: Tensor,
    types: Any,
    device: str = "cpu",
    *,
    lowest: float = LOWEST,
) -> TypePredictions:
    """What a model predicts for mentions, kept for measuring; ``targets`` are sparse, ``(N, types)``."""
    model.eval()
    kept = TypePredictions(types.level_numbers, types.levels, lowest=lowest)
    for start in range(0, len(mentions), _ROWS):
        rows = torch.arange(start, min(start + _ROWS, len(mentions)))
        part = mentions.rows(rows).to(device)
        probabilities = torch.sigmoid(model(part.mention, part.context, part.place)).cpu()
        kept.add(probabilities, targets.index_select(0, rows).to_dense())
    return kept


def _forget(words: Tensor, share: float, generator: torch.Generator) -> Tensor:
    forgotten = (torch.rand(words.shape, generator=generator) < share) & (words != PADDING)
    return words.masked_fill(forgotten, UNKNOWN)
