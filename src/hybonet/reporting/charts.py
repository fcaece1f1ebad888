"""Charts of a training and of its metrics, as PNG files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor

from hybonet.reporting.disk import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _LINE, _SECOND = "#222222", "#2a788e", "#e4572e"
#: Colours of groups, the same as in the interactive page.
GROUP_COLOURS = (
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#bcbd22", "#17becf", "#7f7f7f",
)  # fmt: skip
_NO_GROUP = "#cccccc"


def draw_curves(history: Sequence[dict[str, Any]], metric: str, path: Path, *, title: str, dpi: int = 120) -> None:
    """Loss and validation metric by epoch, and the metric by time.

    Example:
        >>> import tempfile
        >>> rows = [{"epoch": 1, "loss": 2.0, "seconds": 1.0}, {"epoch": 2, "loss": 1.0, "seconds": 2.0, "mrr": 0.5}]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     draw_curves(rows, "mrr", Path(folder) / "curves.png", title="two epochs", dpi=40)
        ...     (Path(folder) / "curves.png").exists()
        True
    """
    figure = _figure((11, 3.6), dpi, title)
    loss, by_epoch, by_time = figure.subplots(1, 3)
    measured = [row for row in history if metric in row]
    values = [row[metric] for row in measured]
    _plain(loss, "epoch", "training loss").plot([r["epoch"] for r in history], [r["loss"] for r in history], c=_LINE)
    for axes, key, label in ((by_epoch, "epoch", "epoch"), (by_time, "seconds", "seconds of training")):
        _plain(axes, label, f"validation {metric}").plot([r[key] for r in measured], values, c=_SECOND, marker=".")
    figure.tight_layout()
    figure.savefig(path)


def draw_relation_bars(by_relation: dict[str, dict[str, Any]], path: Path, *, title: str, dpi: int = 120) -> None:
    """MRR of each relation with its number of questions, most questions first; at most forty relations.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     draw_relation_bars({"is a": {"mrr": 0.5, "count": 8.0, "category": "N-1"}}, Path(folder) / "bars.png",
        ...         title="one relation", dpi=40)
        ...     (Path(folder) / "bars.png").exists()
        True
    """
    rows = sorted(by_relation.items(), key=lambda item: -item[1]["count"])[:40][::-1]
    figure = _figure((9, 1.3 + 0.27 * len(rows)), dpi, title)
    axes = _plain(figure.subplots(), "filtered MRR", "")
    axes.barh([name for name, _ in rows], [metrics["mrr"] for _, metrics in rows], color=_LINE)
    axes.set_xlim(0, 1)
    for place, (_, metrics) in enumerate(rows):
        text = f"{metrics['mrr']:.3f}  ({metrics['count']:.0f} questions, {metrics['category']})"
        inside = metrics["mrr"] > 0.62
        axes.text(
            metrics["mrr"] + (-0.01 if inside else 0.01), place, text, va="center", ha="right" if inside else "left",
            fontsize=8, color="white" if inside else _INK,
        )  # fmt: skip
    figure.tight_layout()
    figure.savefig(path)


def draw_groups(
    flat: Tensor, group: Tensor, names: Sequence[str], path: Path, *, title: str, note: str, dpi: int = 120
) -> None:
    """Points of the disk coloured by group (-1: none), as large as they fit; ``flat (n, 2)``, ``group (n,)``.

    Example:
        >>> import tempfile, torch
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     draw_groups(torch.tensor([[0.0, 0.1], [0.2, 0.0]]), torch.tensor([0, -1]), ["beasts"],
        ...         Path(folder) / "points.png", title="two points", note="as they are", dpi=40)
        ...     (Path(folder) / "points.png").exists()
        True
    """
    from matplotlib.patches import Circle

    figure = _figure((9.5, 8.2), dpi, title)
    axes = figure.add_axes((0.02, 0.03, 0.70, 0.86))
    reach = min(1.02, 1.05 * float(flat.norm(dim=-1).max()))
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.axis("off")
    axes.add_patch(Circle((0, 0), 1, facecolor="#f6f7f9", edgecolor="#b8bcc4", linewidth=1))
    for number in (-1, *range(len(names))):
        x, y = flat[group == number].T.numpy()
        colour = _NO_GROUP if number < 0 else GROUP_COLOURS[number % len(GROUP_COLOURS)]
        label = "other" if number < 0 else names[number]
        axes.scatter(x, y, s=9, c=colour, linewidths=0, label=f"{label} ({len(x):,})", zorder=2 + (number >= 0))
    figure.legend(loc="center left", bbox_to_anchor=(0.725, 0.5), frameon=False, fontsize=10, markerscale=2.5)
    figure.text(0.5, 0.925, note, fontsize=9.5, color=_INK, ha="center")
    figure.savefig(path)


def _figure(size: tuple[float, float], dpi: int, title: str) -> Figure:
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=dpi, facecolor="white")
    figure.suptitle(title, fontsize=12.5, color=_INK)
    return figure


def _plain(axes: Axes, x: str, y: str) -> Axes:
    axes.set(xlabel=x, ylabel=y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    return axes
