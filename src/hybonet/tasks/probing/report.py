"""Tables and charts of a probing: the four measures by layer."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from hybonet.reporting.charts import GROUP_COLOURS, INK, new_figure, plain_axes
from hybonet.reporting.headlines import Headline, Measure
from hybonet.reporting.narrow_table import add_row, narrow_table
from hybonet.reporting.pictures import saved

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hybonet.tasks.run import Run

#: Names of the measures as the literature has them.
MEASURES = {"uuas": "UUAS", "dspr": "Dspr", "root": "Root", "nspr": "Nspr"}
headline = Headline(
    "Probes",
    "Test sentences, the layer that is best on validation data. UUAS: share of the trees' edges found. Root: share "
    "of roots found. Dspr, Nspr: rank correlation of distances and of depths.",
    {
        "encoder": ("encoder", "name"),
        "probe": ("settings", "probe"),
        "control": ("settings", "control"),
        "sentences": ("data", "test"),
        "layer": ("best_layer",),
    },
    tuple(Measure(name, ("test", name.lower())) for name in ("UUAS", "Dspr", "Root", "Nspr")),
    Measure("valid UUAS", ("valid", "uuas")),
)


def after_training(run: Run) -> Iterable[Any]:
    """What the terminal shows when a training is done."""
    record = run.record
    assert record is not None
    yield title(record)
    yield layers_table(record)


def title(record: Mapping[str, Any]) -> str:
    """What stands above the table."""
    data = record["data"]
    count = f"{data['test']:,} test" if "test" in data else "Test"
    return f"{count} sentences of {data['source']}, {record['encoder']['name']}; ← is best on valid"


def next_command(run: Run) -> str:
    """How to see more of it."""
    return f"Draw its layers and a sentence: hybonet plot {shlex.quote(str(run.folder))}"


def layers_table(record: Mapping[str, Any], split: str = "test") -> Table:
    """The measures of every layer on one split, with the mean on validation data by which the best is chosen; below,
    those of the chain in which every word hangs on the one before it.

    Example:
        >>> scores = {"uuas": 0.5, "dspr": 0.6, "root": 0.7, "nspr": 0.8}
        >>> table = layers_table({"layers": [{"layer": 0, "valid": scores, "test": scores}], "best_layer": 0})
        >>> [str(list(column.cells)[0]) for column in table.columns]
        ['0 ←', '.500', '.600', '.700', '.800', '.650']
    """
    table = narrow_table(["layer"], [*MEASURES.values(), "valid mean"])
    for row in record["layers"]:
        is_best = row["layer"] == record["best_layer"]
        name = f"{row['layer']} ←" if is_best else str(row["layer"])
        add_row(table, name, *_cells(row, split), style="bold" if is_best else None)
    if "chain" in record:
        add_row(table, "chain", *_cells(record["chain"], split), style="dim")
    return table


def _cells(scores: Mapping[str, Any], split: str) -> list[str]:
    mean = sum(scores["valid"][name] for name in MEASURES) / len(MEASURES)
    return [*(_decimals(scores[split][name]) for name in MEASURES), _decimals(mean)]


def draw_layers(
    rows: Sequence[Mapping[str, Any]],
    best: int,
    path: Path | None = None,
    *,
    title: str,
    note: str = "",
    dpi: int = 120,
) -> Figure:
    """The four measures by layer, on test (lines) and validation data (dots), to a PNG file."""
    figure = new_figure((7.6, 4.8), dpi, title)
    axes = plain_axes(figure.subplots(), "layer (0: the embedding)", "")
    layers = [row["layer"] for row in rows]
    last = [rows[-1]["test"][name] for name in MEASURES]
    for place, (name, label) in enumerate(MEASURES.items()):
        colour = GROUP_COLOURS[place]
        axes.plot(layers, [row["test"][name] for row in rows], color=colour, marker="o", markersize=4, zorder=3)
        axes.scatter(layers, [row["valid"][name] for row in rows], s=22, facecolor="none", edgecolor=colour, zorder=3)
        axes.annotate(
            label, (layers[-1], _apart(last)[place]), (9, 0), "data", "offset points", color=colour, va="center"
        )
    axes.axvline(best, color=INK, linewidth=0.8, linestyle=":", zorder=1)
    axes.annotate("best on valid", (best, 1.0), (3, -2), "data", "offset points", fontsize=8, color=INK, va="top")
    low = min(0.0, *(row[split][name] for row in rows for split in ("valid", "test") for name in MEASURES))
    axes.set(ylim=(low - 0.02, 1.02), xticks=layers)
    axes.margins(x=0.06)
    figure.text(0.5, 0.925, note or "lines: test; open circles: validation", ha="center", va="top", fontsize=9)
    figure.tight_layout(rect=(0, 0, 0.97, 0.95))
    return saved(figure, path)


def _apart(values: Sequence[float], least: float = 0.045) -> list[float]:
    """Heights for labels: as near to the values as is readable."""
    heights, below = list(values), -1.0
    for place in sorted(range(len(values)), key=lambda each: values[each]):
        heights[place] = max(values[place], below + least)
        below = heights[place]
    return heights


def _decimals(value: float) -> str:
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 and not text.startswith(("1", "-1")) else text
