"""Charts of a training and of its metrics, as PNG files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from hybonet.reporting.disk import require_matplotlib
from hybonet.reporting.headlines import look_up
from hybonet.reporting.labels import write_labels
from hybonet.reporting.lettering import dress
from hybonet.reporting.pictures import Pictures, saved

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The picture of probabilities against what happened.
RELIABILITY = "reliability.png"
#: Colours of text, of what is shown first, and of what stands out.
INK, LINE, SECOND = "#222222", "#2a788e", "#e4572e"
#: Colours of groups, the same as in the interactive page.
GROUP_COLOURS = (
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#bcbd22", "#17becf", "#7f7f7f",
)  # fmt: skip
NO_GROUP = "#cccccc"
_LONG = 60.0  # seconds of training from which on time says more than epochs
_LEAST_SHARE, _LEAST_SIZE = 0.01, 5  # of a group that gets a colour
_WHOLE = 1.0  # width of points from which on the whole disk is drawn, which is 2 wide
_LONGEST = 32  # letters of a name
#: Points of a picture that have their names beside them, at most.
NAMED = 40


def draw_curves(
    history: Sequence[dict[str, Any]],
    metric: str,
    path: Path | None = None,
    *,
    title: str,
    label: str,
    log: bool = False,
    dpi: int = 120,
) -> Figure:
    """Loss and a metric by epoch; after more than a minute of training also the metric by time."""
    measured = [row for row in history if metric in row]
    values = [row[metric] for row in measured]
    by = [("epoch", "epoch")]
    if history[-1]["seconds"] > _LONG:
        by.append(("seconds", "seconds of training"))
    figure = new_figure((4 * (1 + len(by)), 3.6), dpi, title)
    loss, *others = figure.subplots(1, 1 + len(by))
    plain_axes(loss, "epoch", "training loss").plot([r["epoch"] for r in history], [r["loss"] for r in history], c=LINE)
    for axes, (key, name) in zip(others, by, strict=True):
        plain_axes(axes, name, label).plot([r[key] for r in measured], values, c=SECOND, marker=".")
        if log:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter("{x:g}")
    figure.tight_layout()
    return saved(figure, path)


def draw_relation_bars(
    by_relation: dict[str, dict[str, Any]], path: Path | None = None, *, title: str, dpi: int = 120
) -> Figure:
    """MRR of each relation with its number of questions, most questions first; at most forty relations."""
    rows = sorted(by_relation.items(), key=lambda item: -item[1]["count"])[:40][::-1]
    figure = new_figure((9, 1.3 + 0.27 * len(rows)), dpi, title)
    axes = plain_axes(figure.subplots(), "filtered MRR", "")
    axes.grid(visible=False, axis="y")
    axes.barh(range(len(rows)), [metrics["mrr"] for _, metrics in rows], color=LINE)
    labels = [tick.label1 for tick in axes.set_yticks(range(len(rows)), labels=[shortened(name) for name, _ in rows])]
    for label in labels:
        dress(label)
    axes.set_yticklabels([label.get_text() for label in labels])  # else drawing would write the names again
    axes.set(xlim=(0, 1), ylim=(-0.6, len(rows) - 0.4))  # no more room above and below than between bars
    for place, (_, metrics) in enumerate(rows):
        text = f"{metrics['mrr']:.3f}  ({metrics['count']:.0f} questions, {metrics['category']})"
        inside = metrics["mrr"] > 0.62
        axes.text(
            metrics["mrr"] + (-0.01 if inside else 0.01), place, text, va="center", ha="right" if inside else "left",
            fontsize=8, color="white" if inside else INK,
        )  # fmt: skip
    figure.tight_layout()
    return saved(figure, path)


def draw_groups(
    flat: Tensor,
    group: Tensor,
    names: Sequence[str],
    path: Path | None = None,
    *,
    title: str,
    note: str,
    kind: tuple[str, str] = ("branch", "branches"),
    none: str = "no branch",
    alone: str = "no branch of a hierarchy is large enough for one of its own",
    named: Mapping[int, str] | None = None,
    dpi: int = 120,
) -> Figure:
    """Points of the disk coloured by group (-1: none), as large as they fit; ``flat (n, 2)``, ``group (n,)``.

    The whole disk is drawn if the points take up half its width, else the part of it that they are in. Groups of fewer
    than five points or one in a hundred share a colour with points of none; without any group all points have one.

    Args:
        kind: what a group is called, and several.
        none: what the legend calls points that are of no group.
        alone: why all points have one colour, where they have.
        named: points that get their names beside them where there is room, the most important first.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.patches import Circle

    least = max(_LEAST_SIZE, _LEAST_SHARE * len(flat))
    sizes = [int((group == number).sum()) for number in range(len(names))]
    shown = [number for number, size in enumerate(sizes) if size >= least]
    low, high = flat.amin(0), flat.amax(0)
    side = (high - low).max().clamp_min(0.01)
    whole = float(side) > _WHOLE
    if whole:
        low, high, side = -torch.ones_like(low), torch.ones_like(high), 2 * torch.ones_like(side)
    else:
        note += "\nPart of the disk; its edge is outside."
        missing = (side / 4 - (high - low)).clamp_min(0) / 2  # no picture is but a line
        low, high = low - missing, high + missing
    pad = 0.03 * float(side)
    wide, tall = (high - low + 2 * pad).tolist()
    inch = 7.5 / max(wide, tall)
    figure = new_figure((max(inch * wide, 6.5), inch * tall), dpi, "")
    axes = figure.add_axes((0, 0, 1, 1))
    (left, right), (bottom, top) = torch.stack((low - pad, high + pad), dim=-1).tolist()
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    axes.axis("off")
    if whole:
        axes.add_patch(Circle((0, 0), 1, facecolor="#f6f7f9", edgecolor="#b8bcc4", linewidth=1))
    grouped = torch.isin(group, torch.tensor(shown, dtype=group.dtype))
    rest = NO_GROUP if shown else LINE
    layers = [(number, names[number], group == number) for number in shown]
    small = sum(0 < size < least for size in sizes)
    others = [f"{small} small {kind[small > 1]}"] * bool(small) + [none] * bool((group < 0).any())
    for number, name, chosen in [*layers, (-1, f"other: {', '.join(others)}", ~grouped)]:
        x, y = flat[chosen].T.numpy()
        colour = rest if number < 0 else GROUP_COLOURS[number % len(GROUP_COLOURS)]
        name = shortened(name)
        if len(x):
            axes.scatter(x, y, s=12, c=colour, linewidths=0, label=f"{name} ({len(x):,})", zorder=2 + (number >= 0))
    if named:
        write_labels(
            axes,
            FigureCanvasAgg(figure).get_renderer(),
            flat,
            {point: shortened(name) for point, name in named.items()},
            list(named),
            important=len(named) // 2,
            bold=torch.zeros(len(flat), dtype=torch.bool),
            font_size=8,
            obstacles=[],
        )
    if shown:
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=10, markerscale=2.2)
    else:
        note += f"\nOne colour: {alone}."
    axes.annotate(note, (0.5, 1), (0, 8), "axes fraction", "offset points", ha="center", va="bottom", fontsize=9.5)
    above = 30 + 14 * note.count("\n")
    axes.annotate(
        title, (0.5, 1), (0, above), "axes fraction", "offset points", ha="center", va="bottom", fontsize=12.5
    )
    return saved(figure, path, bbox_inches="tight", pad_inches=0.15)


def most_linked(edges: Tensor, count: int) -> list[int]:
    """Up to so many nodes, those with the most edges first; ``edges (n, 2)``.

    Example:
        >>> most_linked(torch.tensor([[0, 2], [1, 2], [2, 3], [1, 3]]), 3)
        [2, 1, 3]
    """
    degrees = torch.bincount(edges.flatten())
    return degrees.argsort(descending=True, stable=True)[:count].tolist()


def new_figure(size: tuple[float, float], dpi: int, title: str) -> Figure:
    """An empty figure in the project's style; ``size`` is in inches."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=dpi, facecolor="white")
    dress(figure.suptitle(title, fontsize=12.5, color=INK))  # before anything measures it
    return figure


def shortened(name: str) -> str:
    """A name of letters enough to know it by."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def plain_axes(axes: Axes, x: str, y: str) -> Axes:
    """Axes with names, a pale grid and no frame."""
    axes.set(xlabel=x, ylabel=y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    axes.grid(alpha=0.25)
    return axes


def draw_reliability(measured: Mapping[str, Any], path: Path | None = None, *, title: str, dpi: int = 120) -> Figure:
    """Probabilities against what happened, and how many there are of each.

    Args:
        measured: what :func:`hybonet.metrics.calibration.reliability` found.
    """
    figure = new_figure((4.6, 5.2), dpi, title)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    said, true, share = zip(*measured["bins"], strict=True)
    plain_axes(upper, "", "share that is true").plot((0, 1), (0, 1), c=NO_GROUP, linestyle="--")
    upper.plot(said, true, c=LINE, marker="o")
    upper.set(xlim=(0, 1), ylim=(0, 1))
    text = f"calibration error {measured['ece']:.3f}\nBrier score {measured['brier']:.3f}\n{measured['cases']:,} cases"
    upper.text(0.03, 0.97, text, va="top", fontsize=9, color=INK)
    plain_axes(lower, "probability", "share of cases").bar(said, share, width=0.06, color=LINE)
    figure.tight_layout()
    return saved(figure, path)


def draw_reliability_of(record: Mapping[str, Any] | None, folder: Path, drawn: Pictures, name: str) -> None:
    """Draw the reliability that a record has of its test part into a folder, or say why not.

    Example:
        >>> drawn = Pictures()
        >>> draw_reliability_of(None, Path(), drawn, "a run")
        >>> drawn.missing
        {'reliability.png': 'the run has no record of calibrated probabilities'}
    """
    places = ("test", "calibration"), ("test", "total", "calibration")
    measured = next((found for path in places if (found := look_up(record or {}, *path))), None)
    if measured is None:
        drawn.missing[RELIABILITY] = "the run has no record of calibrated probabilities"
        return
    draw_reliability(measured, folder / RELIABILITY, title=f"{name}: probabilities of test cases")
    drawn.append(folder / RELIABILITY)
