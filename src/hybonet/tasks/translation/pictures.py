"""The pictures of a translation model."""

from __future__ import annotations

from pathlib import Path

from hybonet.reporting.charts import draw_curves
from hybonet.reporting.pictures import Pictures
from hybonet.tasks.run_folder import CURVES, source_name
from hybonet.tasks.translation.attention_chart import draw_attention
from hybonet.tasks.translation.options import Plot
from hybonet.tasks.translation.predictor import TranslationModel
from hybonet.tasks.translation.task import TranslationTask
from hybonet.training.history import read_history

ATTENTION = "attention.png"


def pictures(model: TranslationModel, folder: Path, options: Plot) -> Pictures:
    """Draw the curves of a training and what the decoder looks at into ``folder``, and say what was drawn."""
    sentence = options.sentence
    if sentence is None:
        if model.run is None or model.run.is_export:
            raise ValueError("expected a sentence whose translation is looked at: this model has no text; give one")
        texts = model.data().texts
        sentence = texts.get("test", texts["valid"]).source[0]
    if not model.source_tokenizer.encode(sentence):
        raise ValueError(f"expected a sentence to translate, got {sentence!r}; give one with words")
    attention = model.attention(sentence)
    drawn = Pictures()
    history = [] if model.run is None else read_history(model.run.folder)
    if any(TranslationTask.monitor in row for row in history):
        title = f"Training on {source_name(model.about['source'])}, {' to '.join(model.about['languages'])}"
        label = "validation perplexity"
        draw_curves(history, TranslationTask.monitor, folder / CURVES, title=title, label=label, log=True)
        drawn.append(folder / CURVES)
    else:
        drawn.missing[CURVES] = "there is no history of a training"
    title = "What each token was written from"
    draw_attention(attention.source, attention.target, attention.weights, folder / ATTENTION, title=title)
    drawn.append(folder / ATTENTION)
    return drawn
