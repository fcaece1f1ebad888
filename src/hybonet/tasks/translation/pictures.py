"""The pictures of a translation run."""

from __future__ import annotations

from pathlib import Path

from hybonet.reporting.charts import draw_curves
from hybonet.tasks.run_folder import CURVES, source_name
from hybonet.tasks.translation.attention_chart import draw_attention
from hybonet.tasks.translation.predictor import MTModel
from hybonet.tasks.translation.run import read_about, read_data
from hybonet.tasks.translation.task import TranslationTask
from hybonet.training.history import read_history


def draw_run(run: Path, folder: Path, *, sentence: str | None = None) -> list[Path]:
    """Draw the curves of a training and what the decoder looks at; return the files.

    Args:
        run: the run.
        folder: where the pictures go; made if it is not there.
        sentence: whose translation is looked at; the first test (or validation) sentence by default.
    """
    model = MTModel.load(run)
    if sentence is None:
        texts = read_data(run).texts
        sentence = texts.get("test", texts["valid"]).source[0]
    if not model.source_tokenizer.encode(sentence):
        raise ValueError(f"expected a sentence to translate, got {sentence!r}; give one with words")
    attention = model.attention(sentence)
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    history = read_history(run)
    if any(TranslationTask.monitor in row for row in history):
        about = read_about(run)
        title = f"Training on {source_name(about['source'])}, {' to '.join(about['languages'])}"
        draw_curves(
            history, TranslationTask.monitor, folder / CURVES, title=title, label="validation perplexity", log=True
        )
        drawn.append(folder / CURVES)
    path = folder / "attention.png"
    draw_attention(
        attention.source, attention.target, attention.weights, path, title="What each token was written from"
    )
    return [*drawn, path]
