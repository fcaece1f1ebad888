"""All pictures of a model of entity typing."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from hybonet.geometry import Lorentz
from hybonet.metrics.probing import spearman
from hybonet.reporting.geodesics import two_columns
from hybonet.reporting.pictures import Pictures
from hybonet.tasks.options import Options
from hybonet.tasks.run_folder import DISK, source_name
from hybonet.tasks.typing.charts import draw_level_radii, draw_type_disk
from hybonet.tasks.typing.models.entity_typer import EntityTyper
from hybonet.tasks.typing.task import EntityTypingTask

if TYPE_CHECKING:
    from hybonet.tasks.typing.predictor import TypingModel

RADII = "radii.png"
_DRAWN = 300  # types on the disk, most frequent first


def pictures(model: TypingModel, folder: Path, options: Options) -> Pictures:
    """Draw everything there is to draw of a model into ``folder``, and say what was drawn.

    ``curves.png`` (training) and, for HyboNet models, ``disk.png`` (the types) and ``radii.png`` (how far from the
    centre each level lies). Only types that the training data has are drawn: of others nothing was learned.
    """
    data = model.data
    name = source_name(data.source)
    drawn = model.draw_curves(folder, EntityTypingTask, f"Training on {name}")
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

    Example:
        >>> manifold = Lorentz()
        >>> points = manifold.random_normal(5, 8).double()
        >>> flat = radial_view(points, manifold)
        >>> torch.allclose(2 * torch.atanh(flat.norm(dim=-1)), manifold.dist0(points))
        True
    """
    tangent = manifold.logmap0(points)[:, 1:]
    # One type alone has no spread: its own direction is drawn then.
    centred = tangent - tangent.mean(0) if len(tangent) > 1 else tangent
    _, _, axes = torch.linalg.svd(centred, full_matrices=False)
    direction = torch.nn.functional.normalize(two_columns(tangent @ axes[:2].T), dim=-1)
    return torch.tanh(manifold.dist0(points, keepdim=True) / float(manifold.k) ** 0.5 / 2) * direction
