"""How well a translation model does on held-out sentences."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

from hybonet.data.text.translation_data import TranslationData
from hybonet.metrics.bleu import translation_scores
from hybonet.tasks.translation.decoding import Decoding, decode_all
from hybonet.tasks.translation.models.translation_model import TranslatorBase
from hybonet.tasks.translation.task import TranslationSettings, perplexity

_SHOWN = 3  # sentences that a record shows


def evaluate(
    model: TranslatorBase,
    data: TranslationData,
    split: str,
    how: Decoding,
    *,
    settings: TranslationSettings,
    progress: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Perplexity of the references, and scores of the model's own translations, with what they were made with."""
    with torch.no_grad():
        surprise = perplexity(model, data, split, settings.batch_tokens)
    started = time.monotonic()
    found = decode_all(model, data.tokens[split].source, how, progress=progress)
    seconds = time.monotonic() - started
    written = [data.target_tokenizer.decode(hypotheses[0].tokens) for hypotheses in found]
    text = data.texts[split]
    return {
        "split": split,
        "sentences": len(text),
        "perplexity": surprise,
        **translation_scores(written, text.target, language=data.languages[1], tokenized=data.tokenized),
        "beam": how.beam,
        "length_penalty": how.length_penalty,
        "seconds": round(seconds, 2),
        "examples": [
            {"source": source, "reference": target, "translation": translation}
            for (source, target), translation in list(zip(text, written, strict=True))[:_SHOWN]
        ],
    }
