"""All pictures of a model of entity typing: the disk of types, how far out the levels lie, the curves."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from hybonet.geometry import Lorentz
from hybonet.metrics.probing import spearman
from hybonet.reporting.charts import GROUP_COLOURS, INK, draw_reliability_of, new_figure, plain_axes
from hybonet.reporting.geodesics import two_columns
from hybonet.reporting.labels import write_labels
from hybonet.reporting.pictures import Pictures, saved
from hybonet.tasks.options import Options
from hybonet.tasks.run_folder import DISK, source_name
from hybonet.tasks.typing.models.entity_typer import EntityTyper
from hybonet.tasks.typing.task import EntityTypingTask

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hybonet.tasks.typing.predictor import TypingModel

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
    """Types at ``flat (n, 2)`` of the unit disk, coloured by level; those that come first get names first."""
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


RADII = "radii.png"
_DRAWN = 300  # types on the disk, most frequent first


def pictures(model: TypingModel, folder: Path, options: Options) -> Pictures:
    """Draw everything there is to draw of a model into ``folder``, and say what was drawn.

    ``curves.png`` (training), ``reliability.png`` (probabilities and what happened), and, for HyboNet models,
    ``disk.png`` (the types) and ``radii.png`` (how far from the centre each level lies). Only types that the training
    data has are drawn: of others nothing was learned.
    """
    data = model.data
    name = source_name(data.source)
    drawn = model.draw_curves(folder, EntityTypingTask, f"Training on {name}")
    draw_reliability_of(model.record, folder, drawn, name)
    if isinstance(model.model, EntityTyper) and data.train:
        frequency = torch.sparse.sum(data.targets("train"), 0).to_dense()
        drawn += _draw_types(model, frequency, folder, name)
    else:
        reason = "a saved model has no training mentions" if not data.train else "types of HyboNet alone are points"
        drawn.missing |= dict.fromkeys((DISK, RADII), reason)
    return drawn


def _draw_types(model: TypingModel, frequency: Tensor, folder: Path, name: str) -> list[Path]:
    types, manifold = model.data.types, model.hyperbolic_model("pictures of types").manifold
    points, levels = model.type_points().double(), types.level_numbers
    seen = frequency > 0
    radius = manifold.dist0(points)
    order = frequency.argsort(descending=True, stable=True)[: min(_DRAWN, int(seen.sum()))]
    shown = f"{len(order):,} types" if len(order) == len(types) else f"the {len(order):,} most frequent types"
    draw_type_disk(
        radial_view(points[order], manifold),
        levels[order],
        types.levels,
        [types[number] for number in order.tolist()],
        folder / DISK,
        title=f"{name}: {shown} in {points.shape[1] - 1} hyperbolic dimensions",
        note="Distance from the centre is the model's own; directions are two principal components of many.",
    )
    parts = {level: radius[seen & (levels == number)] for number, level in enumerate(types.levels)}
    title = f"{name}: mean distance from the centre\n{radii_words(parts, frequency[seen], radius[seen])}"
    draw_level_radii(list(parts.values()), list(parts), folder / RADII, title=title)
    return [folder / DISK, folder / RADII]


def radii_words(parts: Mapping[str, Tensor], frequency: Tensor, radius: Tensor) -> str:
    """What distances from the centre say, in two lines: by level, the most general first, and by frequency.

    A level without types is left out.

    Example:
        >>> parts = {"coarse": torch.tensor([0.5]), "fine": torch.tensor([1.0, 1.4])}
        >>> print(radii_words(parts, torch.tensor([9, 2, 2]), torch.tensor([0.5, 1.0, 1.4])))
        coarse 0.50, fine 1.20; rank correlation with frequency -0.87
        general types nearer to the centre: yes
    """
    means = {level: float(values.mean()) for level, values in parts.items() if len(values)}
    told = ", ".join(f"{level} {mean:.2f}" for level, mean in means.items())
    told += f"; rank correlation with frequency {float(spearman(frequency, radius)):+.2f}"
    if len(means) < 2:
        return told
    is_nearer = all(inner < outer for inner, outer in itertools.pairwise(means.values()))
    return f"{told}\ngeneral types nearer to the centre: {'yes' if is_nearer else 'no'}"


def radial_view(points: Tensor, manifold: Lorentz) -> Tensor:
    """Points in the unit disk at their own distance from the centre; ``(n, d) -> (n, 2)``.

    The direction is that of the two principal components of the tangent vectors at the origin.
    """
    tangent = manifold.logmap0(points)[:, 1:]
    # One type alone has no spread: its own direction is drawn then.
    centred = tangent - tangent.mean(0) if len(tangent) > 1 else tangent
    _, _, axes = torch.linalg.svd(centred, full_matrices=False)
    direction = torch.nn.functional.normalize(two_columns(tangent @ axes[:2].T), dim=-1)
    return torch.tanh(manifold.dist0(points, keepdim=True) / float(manifold.k) ** 0.5 / 2) * direction
