"""A search for settings in tables and in a picture: its course, and what each setting does to the figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from hybonet.reporting.charts import INK, LINE, SECOND, new_figure, plain_axes
from hybonet.reporting.narrow_table import add_row, narrow_table
from hybonet.reporting.pictures import saved

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def search_table(best: Sequence[Mapping[str, Any]], monitor: str, ranges: Mapping[str, str]) -> Table:
    """A column per trial, best first, and a row per setting with the range that was searched.

    Args:
        best: trials with ``number``, ``figure``, ``seconds``, ``epochs`` and ``values`` by setting, as texts.

    Example:
        >>> from hybonet.reporting.console import Console
        >>> trial = {"number": 4, "figure": 0.5, "seconds": 12.0, "epochs": 40, "values": {"lr": "0.0123"}}
        >>> Console(width=60).print(search_table([trial], "mrr", {"lr": "0.002:0.05:log"}))
        best trials     trial 4  searched
        ───────────────────────────────────────
        validation mrr     0.5000
        seconds                12
        epochs                 40
        lr                 0.0123  0.002:0.05:log
    """
    table = narrow_table(["best trials"], [f"trial {trial['number']}" for trial in best], ["searched"])
    add_row(table, f"validation {monitor}", *(f"{trial['figure']:.4f}" for trial in best), "", style="bold")
    add_row(table, "seconds", *(f"{trial['seconds']:.0f}" for trial in best), "")
    add_row(table, "epochs", *(str(trial["epochs"]) for trial in best), "")
    for name, searched in ranges.items():
        add_row(table, name, *(trial["values"][name] for trial in best), searched)
    return table


_PRUNED = "#b8bcc4"
_COLUMNS = 4
_PANEL = (3.3, 2.8)  # inches


def draw_search(
    trials: Sequence[Mapping[str, Any]],
    path: Path | None = None,
    *,
    title: str,
    label: str,
    spans: Mapping[str, tuple[float, float, bool]],
    choices: Mapping[str, Sequence[Any]],
    higher_is_better: bool = True,
    dpi: int = 120,
) -> Figure:
    """Validation figures by trial with the best so far, then a panel a setting with every trial as a dot.

    Args:
        trials: each with ``number``, ``state`` (finished, pruned or failed), ``figure`` (None if it has none) and
            ``values`` by setting.
        spans: of settings that are numbers the least, the largest, and whether the axis is logarithmic.
        choices: of settings with a few values, these in order.
    """
    settings = [name for name in trials[0]["values"] if name in spans or name in choices]
    panels = 1 + len(settings)
    columns = min(_COLUMNS, panels)
    rows = -(-panels // columns)
    figure = new_figure((_PANEL[0] * columns, _PANEL[1] * rows + 0.8), dpi, title)
    places = figure.subplots(rows, columns, squeeze=False, sharey=True).flatten()
    measured = [trial for trial in trials if trial["figure"] is not None]
    finished = [trial for trial in measured if trial["state"] == "finished"]
    best = (max if higher_is_better else min)(finished, key=lambda trial: trial["figure"], default=None)
    _draw_course(plain_axes(places[0], "trial", label), trials, finished, higher_is_better)
    _dots(places[0], measured, best, lambda trial: trial["number"])
    for axes, name in zip(places[1:], settings, strict=False):
        plain_axes(axes, name, "")
        if name in spans:
            _dots(axes, measured, best, lambda trial, name=name: trial["values"][name])
            _span(axes, *spans[name])
        else:
            values = choices[name]
            _dots(axes, measured, best, lambda trial, name=name, values=values: values.index(trial["values"][name]))
            axes.set_xticks(range(len(values)), ["none" if value is None else str(value) for value in values])
            axes.set_xlim(-0.5, len(values) - 0.5)
    for number, axes in enumerate(places):
        axes.tick_params(labelleft=True)
        if number % columns == 0:
            axes.set_ylabel(label)
        if number >= panels:
            axes.set_visible(False)
    handles, names = places[0].get_legend_handles_labels()
    figure.tight_layout(rect=(0, 0.35 / figure.get_figheight(), 1, 1))
    figure.legend(handles, names, loc="lower center", ncols=len(names), frameon=False, fontsize=9.5, labelcolor=INK)
    return saved(figure, path)


def _draw_course(
    axes: Axes, trials: Sequence[Mapping[str, Any]], finished: Sequence[Mapping[str, Any]], higher_is_better: bool
) -> None:
    """The best figure so far as a line, and failed trials as crosses at the foot."""
    from matplotlib.ticker import MaxNLocator

    best, steps = None, []
    for trial in finished:
        figure = trial["figure"]
        best = figure if best is None else (max if higher_is_better else min)(best, figure)
        steps.append((trial["number"], best))
    if steps:
        steps.append((max(trial["number"] for trial in trials), steps[-1][1]))
        axes.step(*zip(*steps, strict=True), where="post", c=LINE, alpha=0.6, label="best so far")
    failed = [trial["number"] for trial in trials if trial["state"] == "failed"]
    if failed:
        foot = axes.get_xaxis_transform()
        axes.scatter(failed, [0.03] * len(failed), marker="x", c=INK, s=22, transform=foot, label="failed")
    axes.set_xlim(0.5, max(trial["number"] for trial in trials) + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def _dots(axes: Axes, trials: Sequence[Mapping[str, Any]], best: Mapping[str, Any] | None, place: Any) -> None:
    """Every trial that has a figure, the best one ringed."""
    for state, colour, order in (("pruned", _PRUNED, 2), ("finished", LINE, 3)):
        chosen = [trial for trial in trials if trial["state"] == state]
        if chosen:
            x, y = [place(trial) for trial in chosen], [trial["figure"] for trial in chosen]
            axes.scatter(x, y, s=20, c=colour, linewidths=0, label=state, zorder=order)
    if best is not None:
        axes.scatter(
            [place(best)], [best["figure"]], s=70, facecolors="none", edgecolors=SECOND, linewidths=1.6, zorder=4,
            label="the best",
        )  # fmt: skip


def _span(axes: Axes, low: float, high: float, log: bool) -> None:
    """Show all that was searched; on a logarithmic axis with numbers that can be read, however short it is."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    if not log:
        margin = 0.03 * (high - low)
        axes.set_xlim(low - margin, high + margin)
        return
    margin = (high / low) ** 0.03
    axes.set_xscale("log")
    axes.set_xlim(low / margin, high * margin)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 200 else (1,)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
