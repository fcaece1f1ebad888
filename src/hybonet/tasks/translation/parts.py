"""What the translation task is made of; see :class:`hybonet.tasks.base.Parts`."""

from __future__ import annotations

from typing import Any

from hybonet.tasks.translation.candidates import candidates, guess, twin
from hybonet.tasks.translation.data import load, read, write
from hybonet.tasks.translation.decoding import Decoding
from hybonet.tasks.translation.evaluation import evaluate
from hybonet.tasks.translation.models.translation_model import TranslatorBase
from hybonet.tasks.translation.options import DataOptions
from hybonet.tasks.translation.pictures import pictures
from hybonet.tasks.translation.predictor import TranslationModel
from hybonet.tasks.translation.recipes import RECIPES
from hybonet.tasks.translation.report import after_training, headline, next_command
from hybonet.tasks.translation.settings import TranslationSettings
from hybonet.tasks.translation.task import TranslationTask
from hybonet.training import FitResult

settings, task, predictor = TranslationSettings, TranslationTask, TranslationModel
not_searched = dict.fromkeys(
    ("tokenizer", "vocabulary", "share_vocabulary", "max_length"),
    "perplexities of different tokens cannot be compared; fix it with --set {name}=…, and search for each by itself",
)


def measures(trained: TranslationTask, result: FitResult) -> dict[str, Any]:
    """Perplexity of the validation pairs, and scores of the translations of every test set."""
    assert isinstance(result.model, TranslatorBase)
    chosen, data = trained.settings, trained.data
    found: dict[str, Any] = {"valid": result.best}
    how = Decoding(beam=chosen.beam, length_penalty=chosen.length_penalty)
    for split in data.texts:
        if split != "valid":
            with result.reporter.measuring(f"translating {split} sentences", len(data.texts[split])) as progress:
                found[split] = evaluate(result.model, data, split, how, settings=chosen, progress=progress)
    epochs = result.updates / -(-trained.batches_per_epoch() // chosen.accumulate)  # the last may be cut short
    tokens = data.tokens["train"].target_tokens * epochs
    found["target_tokens_per_second"] = round(tokens / max(1e-9, result.seconds), 1)
    return found


def choose_recipe(name: str | None, changes: list[str], options: DataOptions, data: Any) -> tuple[str, list[str]]:
    """The recipe to start from; without one, the text decides how many tokens there are before it is cut."""
    return (name, changes) if name else ("translation", ["vocabulary=none", *changes])
