"""A trained model that tells the types of mentions in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from hybonet.data.io.source_file import read_source
from hybonet.data.mentions.mention_data import Mention, MentionData, encode, read_mentions
from hybonet.data.mentions.sentence_words import mention_in
from hybonet.metrics.typing import LOWEST, THRESHOLD
from hybonet.reporting.answers import Answers, Measures
from hybonet.tasks.predictor import CalibratedPredictor, Embedding
from hybonet.tasks.typing.data import PAIRS, read_pairs, write_vocabularies
from hybonet.tasks.typing.models.entity_typer import EntityTyper
from hybonet.tasks.typing.models.euclidean import LabelGCN, neighbours
from hybonet.tasks.typing.models.mention_classifier import MentionClassifier
from hybonet.tasks.typing.options import Evaluate, Predict
from hybonet.tasks.typing.report import answers_tables, evaluation
from hybonet.tasks.typing.settings import TypingSettings
from hybonet.tasks.typing.task import EntityTypingTask, build_model, calibrated, measure_in_full
from hybonet.training.checkpoint import write_tensors

if TYPE_CHECKING:
    from hybonet.tasks.run import Run

_ROWS = 256
_UNCALIBRATED = (
    "no calibration: probabilities are the model's own scores, not fitted to validation mentions; train again"
)
_SHOWN = 10  # types of a single mention


@dataclass(frozen=True)
class TypeAnswer:
    """A type of a mention.

    Attributes:
        type, level: what it is.
        probability: that the mention has it, as the validation mentions say.
        score: the model's own figure between 0 and 1.
        predicted: whether it is the type with the highest score, or one whose score is above the threshold.
    """

    type: str
    level: str
    probability: float
    score: float
    predicted: bool

    def as_dict(self) -> dict[str, Any]:
        """For JSON and CSV."""
        return asdict(self)


class TypingModel(CalibratedPredictor):
    """A trained model with its types and words.

    Example:
        >>> from hybonet.data.mentions.loading import load_mentions
        >>> from hybonet.tasks.typing.task import build_model
        >>> town, settings = load_mentions("little-town"), TypingSettings(dim=8, heads=2, feedforward=8)
        >>> untrained = TypingModel(build_model(settings, town), town, settings)
        >>> [answer.predicted for answer in untrained.types_of("The [mayor] spoke.", top=1)]
        [True]
    """

    task_name = "typing"

    def __init__(
        self,
        model: MentionClassifier,
        data: MentionData,
        settings: TypingSettings,
        *,
        threshold: float = THRESHOLD,
        **of_run: Any,
    ) -> None:
        super().__init__(model, **of_run)
        self.data, self.settings, self.threshold = data, settings, threshold

    @classmethod
    def of_run(cls, run: Run) -> TypingModel:
        settings, data = run.settings, run.data
        assert isinstance(settings, TypingSettings)
        model = run.load_into(build_model(settings, data, data.targets("train")))
        if isinstance(model, LabelGCN) and run.is_export:
            count = len(data.types)
            model.neighbours = neighbours(read_pairs(run.folder, count), count)
        threshold = float(run.record["threshold"]) if run.record else THRESHOLD
        return cls(model, data, settings, threshold=threshold, config=run.config)

    def saved(self, folder: Path) -> dict[str, Any]:
        if isinstance(self.model, LabelGCN):  # it is also made of what occurs together in the mentions, left behind
            write_tensors(folder / PAIRS, {"pairs": self.model.neighbours.indices().cpu()})
        return {"settings": self.settings.model_dump(), "data": write_vocabularies(folder, self.data)}

    def __repr__(self) -> str:
        return f"TypingModel({type(self.model).__name__}, {len(self.data.types):,} types)"

    def types_of(self, sentence: str, mention: str | None = None, *, top: int | None = None) -> list[TypeAnswer]:
        """Types of a mention in a sentence, likeliest first: all that are predicted, or the ``top`` ones.

        The mention is in brackets (``"The [mayor] spoke."``), or given as text that occurs in the sentence once.
        """
        return self.types_of_many([mention_in(sentence, mention)], top=top)[0]

    def types_of_many(self, mentions: Sequence[Mention], *, top: int | None = None) -> list[list[TypeAnswer]]:
        """Types of many mentions at once, as :meth:`types_of` gives them one by one."""
        answers = []
        types, fitted = self.data.types, self.calibration
        for start in range(0, len(mentions), _ROWS):
            for row in self.scores(mentions[start : start + _ROWS]):
                shown = max(1, int((row > self.threshold).sum())) if top is None else min(top, len(types))
                chance, number = row.topk(shown)
                held = calibrated(fitted, chance, types.level_numbers[number])
                rows = enumerate(zip(number.tolist(), held.tolist(), chance.tolist(), strict=True))
                own = [
                    TypeAnswer(types[n], types.level(n), p, score, place == 0 or score > self.threshold)
                    for place, (n, p, score) in rows
                ]
                answers.append(sorted(own, key=lambda each: -each.probability))
        return answers

    @torch.no_grad()
    def scores(self, mentions: Sequence[Mention]) -> Tensor:
        """Of every type for each mention, between 0 and 1, ``(mentions, types)``."""
        s = self.settings
        rows = encode(mentions, self.data.vectors, s.mention_words, s.context_words)
        return torch.sigmoid(self.model(rows.mention, rows.context, rows.place))

    def predict(self, sentence: str | None = None, mention: str | None = None, **options: Any) -> Answers:
        """Types of a mention in a sentence, or of a file of mentions, likeliest first.

        Args:
            sentence: with the mention in brackets, or with ``mention``, the words that are asked for.
            options: of ``hybonet predict``: ``mentions``, ``top``.
        """
        asked = Predict.checked({"sentence": sentence, "mention": mention, **options})
        if (asked.sentence is None) == (asked.mentions is None):
            raise ValueError("expected either a --sentence or a file of --mentions")
        if asked.mentions is not None and asked.mention is not None:
            raise ValueError("expected --mention with a --sentence only; leave it out")
        top: int | None
        if asked.mentions is None:
            assert asked.sentence is not None
            mentions, top = [mention_in(asked.sentence, asked.mention)], asked.top or _SHOWN
        else:
            mentions, top = read_mentions(read_source(asked.mentions), labelled=False), asked.top
        found = [[each.as_dict() for each in own] for own in self.types_of_many(mentions, top=top)]
        sentences = [each.sentence for each in mentions]
        rows = (
            {"mention": number, "sentence": text, "rank": rank, **answer}
            for number, (text, own) in enumerate(zip(sentences, found, strict=True), 1)
            for rank, answer in enumerate(own, 1)
        )
        columns = ["mention", "sentence", "rank", "type", "level", "probability", "score", "predicted"]
        notes = [] if self.calibration is not None else [_UNCALIBRATED]
        return Answers(rows, columns=columns, tables=lambda: answers_tables(sentences, found), notes=notes)

    def evaluate(self, **options: Any) -> Measures:
        """Macro precision, recall and F1: all types together, and by level."""
        asked = Evaluate.checked(options)
        if asked.calibrate and asked.threshold is not None:
            raise ValueError("expected --threshold or --calibrate, got both; leave out one")
        if not self.data.split(asked.split):
            raise ValueError(
                f"expected {asked.split} mentions, but the data has no such; choose another --split, or, of a model "
                "saved for use, the run it came from"
            )
        task = EntityTypingTask(self.settings, self.data)
        threshold = self.threshold if asked.threshold is None else asked.threshold
        if asked.calibrate:
            threshold = task.predictions(self.model, "valid").best_threshold()
        found = task.predictions(self.model, asked.split, lowest=min(threshold, LOWEST))
        result = measure_in_full(found, threshold, self.calibration)
        title = f"{asked.split}: the likeliest type and all above {threshold:g}"
        figures = {"split": asked.split, "threshold": threshold, **result}
        return Measures(figures, tables=lambda: evaluation({asked.split: result}, title))

    def embedding(self) -> Embedding:
        types, manifold = self.data.types, self.hyperbolic_model("vectors").manifold
        levels = [types.level(number) for number in range(len(types))]
        return Embedding(list(types.types), levels, self.type_points(), manifold)

    def card_text(self) -> str:
        return (
            f"Tells the types of a mention in a sentence: {len(self.data.types):,} types, {self.settings.dim} "
            "dimensions each. The words' vectors and the types are in this folder, the training sentences are not."
        )

    def card_example(self) -> str:
        return 'print(model.predict("The [mayor] opened the new bridge."))'

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
        return self.hyperbolic_model("type points").type_points().detach()
