"""Pictures of types as points: the disk, and how far from the centre the levels lie."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from hybonet.reporting.charts import GROUP_COLOURS, INK, new_figure, plain_axes
from hybonet.reporting.disk_labels import write_labels
from hybonet.reporting.pictures import saved

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LABELS = 60
_LIMIT = 1.05


def draw_type_disk(
    flat: Tensor,
    levels: Tensor,
    level_names: Sequence[str],
    names: Sequence[str],
    path: Path | None = None,
    *,
    title: str,
    note: str,
    dpi: int = 120,
) -> Figure:
    """Types at ``flat (n, 2)`` of the unit disk, coloured by level; those that come first get names first.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = draw_type_disk(torch.tensor([[0.0, 0.1], [0.5, 0.0]]), torch.tensor([0, 1]), ["coarse", "fine"],
        ...         ["person", "poet"], Path(folder) / "types.png", title="two types", note="", dpi=40)
        ...     (Path(folder) / "types.png").exists()
        True
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.patches import Circle

    figure = new_figure((9, 9.6), dpi, title)
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((0.02, 0.02, 0.96, 0.9))
    axes.set(xlim=(-_LIMIT, _LIMIT), ylim=(-_LIMIT, _LIMIT), aspect="equal")
    axes.axis("off")
    axes.add_patch(Circle((0, 0), 1, facecolor="#f6f7f9", edgecolor="#b8bcc4", linewidth=1))
    for number, name in enumerate(level_names):
        if not bool((levels == number).any()):
            continue
        x, y = flat[levels == number].T.numpy()
        size = 46 if number == 0 else 22 if number == 1 else 12
        axes.scatter(
            x, y, s=size, c=GROUP_COLOURS[number % len(GROUP_COLOURS)], linewidths=0, label=f"{name} ({len(x)})"
        )
    axes.legend(loc="lower left", frameon=False, fontsize=10)
    figure.text(0.5, 0.925, note, ha="center", fontsize=9.5, color=INK)
    write_labels(
        axes,
        canvas.get_renderer(),
        flat,
        names,
        range(min(len(names), _LABELS)),
        important=min(len(names), _LABELS // 2),
        bold=levels == 0,
        font_size=8.5,
        obstacles=[],
    )
    return saved(figure, path)


def draw_level_radii(
    radii: Sequence[Tensor], level_names: Sequence[str], path: Path | None = None, *, title: str, dpi: int = 120
) -> Figure:
    """How far the types of each level are from the centre: every type a dot, a bar at the level's mean.

    Levels without types are left out.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = draw_level_radii([torch.tensor([0.5]), torch.tensor([1.0, 1.4])], ["coarse", "fine"],
        ...         Path(folder) / "radii.png", title="three types", dpi=40)
        ...     (Path(folder) / "radii.png").exists()
        True
    """
    figure = new_figure((7, 4.2), dpi, title)
    axes = plain_axes(figure.subplots(), "", "distance from the centre")
    shown = [(number, values) for number, values in enumerate(radii) if len(values)]
    for place, (number, values) in enumerate(shown):
        spread = torch.linspace(-0.28, 0.28, max(2, len(values)))[: len(values)]
        colour = GROUP_COLOURS[number % len(GROUP_COLOURS)]
        axes.scatter(place + spread.numpy(), values.numpy(), s=9, c=colour, linewidths=0, alpha=0.6)
        axes.plot([place - 0.35, place + 0.35], [float(values.mean())] * 2, c=INK, linewidth=1.6)
    labels = [f"{level_names[number]}\n{len(values):,} types" for number, values in shown]
    axes.set_xticks(range(len(labels)), labels)
    axes.set(ylim=(0, None))
    figure.tight_layout()
    return saved(figure, path)
