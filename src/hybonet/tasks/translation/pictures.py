"""The pictures of a translation model: its training, and where the decoder looks while it writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from torch import Tensor

from hybonet.reporting.charts import new_figure
from hybonet.reporting.pictures import Pictures, saved
from hybonet.tasks.run_folder import source_name
from hybonet.tasks.translation.options import Plot
from hybonet.tasks.translation.predictor import TranslationModel
from hybonet.tasks.translation.task import TranslationTask

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ATTENTION = "attention.png"
_INCH = 0.28  # of a token
_WIDEST = 16  # inches, if one map alone is not wider


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
    title = f"Training on {source_name(model.about['source'])}, {' to '.join(model.about['languages'])}"
    drawn = model.draw_curves(folder, TranslationTask, title)
    title = "What each token was written from"
    draw_attention(attention.source, attention.target, attention.weights, folder / ATTENTION, title=title)
    drawn.append(folder / ATTENTION)
    return drawn


def draw_attention(
    source: Sequence[str],
    target: Sequence[str],
    weights: Tensor,
    path: Path | None = None,
    *,
    title: str,
    dpi: int = 120,
) -> Figure:
    """A map per layer, mean over heads, and one of all layers: source tokens across, target tokens down.

    Args:
        weights: ``(layers, heads, target tokens, source tokens)``.
    """
    by_layer = weights.detach().float().mean(1).cpu()
    maps = [("all layers", by_layer.mean(0)), *((f"layer {n}", each) for n, each in enumerate(by_layer, 1))]
    wide, tall = max(2.2, _INCH * len(source) + 1.2), max(2.2, _INCH * len(target) + 1.4)
    columns = max(1, min(len(maps), 4, int(_WIDEST / wide)))
    rows = -(-len(maps) // columns)
    figure = new_figure((columns * wide, rows * tall), dpi, title)
    grid = figure.subplots(rows, columns, squeeze=False)
    for number, axes in enumerate(grid.flat):
        if number >= len(maps):
            axes.axis("off")
            continue
        name, values = maps[number]
        shown = axes.imshow(values.numpy(), cmap="viridis", vmin=0, vmax=1, aspect="auto")
        axes.set_title(name, fontsize=9)
        axes.set_xticks(range(len(source)), source, rotation=90, fontsize=7)
        axes.set_yticks(range(len(target)), target if number % columns == 0 else [""] * len(target), fontsize=7)
    figure.set_layout_engine("constrained")
    figure.colorbar(shown, ax=grid.ravel().tolist(), fraction=0.04, pad=0.02, label="attention weight")
    return saved(figure, path)
