"""A trained model that tells the types of mentions in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from hybonet.data.mentions.mention_data import Mention, MentionData, encode
from hybonet.data.mentions.sentence_words import mention_in
from hybonet.metrics.typing import THRESHOLD
from hybonet.tasks.pretrained import record_if_known, write_model_folder
from hybonet.tasks.typing.card import typing_card
from hybonet.tasks.typing.models.entity_typer import EntityTyper
from hybonet.tasks.typing.models.typing_model import TypingModel
from hybonet.tasks.typing.run import read_data, read_model, read_settings, write_vocabularies
from hybonet.tasks.typing.settings import TypingSettings

_ROWS = 256


@dataclass(frozen=True)
class TypeAnswer:
    """A type, its level and probability, and whether it is predicted: the likeliest, or above the threshold."""

    type: str
    level: str
    probability: float
    predicted: bool

    def as_dict(self) -> dict[str, Any]:
        """For JSON and CSV."""
        return asdict(self)


class MentionTyper:
    """A trained model with its types and words.

    Args:
        model: what gives logits.
        data: its types and word vectors; mentions are not needed.
        settings: of the training.
        threshold: probability above which a type is predicted.
        record: its metrics, as ``record.json`` of a run has them.

    Example:
        >>> from hybonet.data.mentions.loading import load_mentions
        >>> from hybonet.tasks.typing.task import build_model
        >>> town, settings = load_mentions("little-town"), TypingSettings(dim=8, heads=2, feedforward=8)
        >>> untrained = MentionTyper(build_model(settings, town), town, settings)
        >>> [answer.predicted for answer in untrained.types_of("The [mayor] spoke.", top=1)]
        [True]
    """

    def __init__(
        self,
        model: TypingModel,
        data: MentionData,
        settings: TypingSettings,
        *,
        threshold: float = THRESHOLD,
        record: Mapping[str, Any] | None = None,
    ) -> None:
        self.model, self.data, self.settings = model.eval(), data, settings
        self.threshold, self.record = threshold, record

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> MentionTyper:
        """A model from a folder on disk: of :meth:`save_pretrained`, or of a run made by ``hybonet train typing``."""
        folder = Path(folder)
        settings = read_settings(folder)
        data = read_data(folder, mentions=settings.model == "LabelGCN")  # which is made of the training mentions, too
        record = record_if_known(folder)
        threshold = float(record["threshold"]) if record else THRESHOLD
        return cls(read_model(folder, data), data, settings, threshold=threshold, record=record)

    @classmethod
    def load(cls, folder: str | Path) -> MentionTyper:
        """The best model of a run made by ``hybonet train typing``; the same as :meth:`from_pretrained`."""
        return cls.from_pretrained(folder)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write a new folder with what use needs and nothing else (no mentions): it appears complete or not at all."""
        if self.settings.model == "LabelGCN":
            raise ValueError(
                "expected a model that its weights describe, but LabelGCN is made of its training mentions, too; use "
                "its run folder"
            )
        folder, data, settings = Path(folder), self.data, self.settings.model_dump()

        def write_data(staging: Path) -> dict[str, Any]:
            return {"task": "typing", "settings": settings, "data": write_vocabularies(staging, data)}

        card = typing_card(data.source, settings, len(data.types), self.record, folder.name)
        write_model_folder(folder, self.model, write_data, self.record, card)

    def __repr__(self) -> str:
        return f"MentionTyper({type(self.model).__name__}, {len(self.data.types):,} types)"

    def types_of(self, sentence: str, mention: str | None = None, *, top: int | None = None) -> list[TypeAnswer]:
        """Types of a mention in a sentence, likeliest first: all that are predicted, or the ``top`` ones.

        The mention is in brackets (``"The [mayor] spoke."``), or given as text that occurs in the sentence once.
        """
        return self.types_of_many([mention_in(sentence, mention)], top=top)[0]

    def types_of_many(self, mentions: Sequence[Mention], *, top: int | None = None) -> list[list[TypeAnswer]]:
        """Types of many mentions at once, as :meth:`types_of` gives them one by one."""
        answers = []
        types = self.data.types
        for start in range(0, len(mentions), _ROWS):
            for row in self.probabilities(mentions[start : start + _ROWS]):
                shown = max(1, int((row > self.threshold).sum())) if top is None else min(top, len(types))
                chance, number = row.topk(shown)
                rows = enumerate(zip(number.tolist(), chance.tolist(), strict=True))
                answers.append(
                    [
                        TypeAnswer(types[n], types.level(n), p, place == 0 or p > self.threshold)
                        for place, (n, p) in rows
                    ]
                )
        return answers

    @torch.no_grad()
    def probabilities(self, mentions: Sequence[Mention]) -> Tensor:
        """Of every type for each mention, ``(mentions, types)``."""
        s = self.settings
        rows = encode(mentions, self.data.vectors, s.mention_words, s.context_words)
        return torch.sigmoid(self.model(rows.mention, rows.context, rows.place))

    def hyperbolic_model(self, purpose: str) -> EntityTyper:
        """The model if its types are points of the Lorentz model, which ``purpose`` needs."""
        if not isinstance(self.model, EntityTyper):
            raise ValueError(
                f"expected a HyboNet model for {purpose}, got {self.settings.model}, whose types are no points of the "
                "Lorentz model; train one with --set model=hybonet"
            )
        return self.model

    def type_points(self) -> Tensor:
        """The points of the types, ambient coordinates with time first, ``(types, dim)``."""
        head = self.hyperbolic_model("type points").types
        return head.points.points().detach()
