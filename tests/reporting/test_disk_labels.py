"""Labels of the drawn disk, measured as they are drawn."""

import math
from itertools import combinations
from typing import Any

import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from torch import Tensor

from hybonet.reporting.labels import Box, pixel_box, write_labels


@pytest.fixture
def canvas() -> tuple[Axes, Any]:
    figure = Figure(figsize=(10, 8), dpi=72)
    renderer = FigureCanvasAgg(figure).get_renderer()
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-1.25 * 1.17, 1.25 * 1.17), ylim=(-1.17, 1.17))
    return axes, renderer


def ring(count: int) -> Tensor:
    angle = torch.arange(count, dtype=torch.float64) * 2 * math.pi / count
    return 0.98 * torch.stack((angle.cos(), angle.sin()), dim=-1)


def label(canvas: tuple[Axes, Any], flat: Tensor, names: list[str], **options: Any) -> dict[int, Box]:
    """The labels by their nodes, and where they are."""
    axes, renderer = canvas
    plain = {"important": 60, "bold": torch.zeros(len(flat)), "font_size": 9.5, "obstacles": []}
    nodes = write_labels(axes, renderer, flat, names, range(len(flat)), **(plain | options))
    found = {text.get_text(): pixel_box(text.get_window_extent(renderer)) for text in axes.texts}
    assert set(found) == {names[node] for node in nodes}
    return {node: found[names[node]] for node in nodes}


def test_long_labels_of_a_small_graph_are_all_there_and_keep_off_the_legend(canvas: tuple[Axes, Any]) -> None:
    names = [f"{i:02d}_a_substance_with_a_rather_long_name" for i in range(22)]
    legend = Box(70, 40, 200, 110)
    boxes = label(canvas, ring(22), names, obstacles=[legend])
    assert len(boxes) == 22
    assert not any(box.overlaps(legend) for box in boxes.values())
    assert not any(one.overlaps(other) for one, other in combinations(boxes.values(), 2))


def test_labels_are_beside_their_dots(canvas: tuple[Axes, Any]) -> None:
    flat = ring(12)
    boxes = label(canvas, flat, [f"a name of some length {i}" for i in range(12)])
    for node, (x, y) in enumerate(canvas[0].transData.transform(flat.numpy())):
        box = boxes[node]
        assert abs(box.x - x) <= box.width / 2 + 5
        assert abs(box.y - y) <= box.height / 2 + 5


def test_less_important_nodes_have_labels_only_where_they_stand_apart(canvas: tuple[Axes, Any]) -> None:
    crowd = 0.01 * ring(40) + torch.tensor([0.4, 0.0])
    flat = torch.cat((crowd, ring(12)))
    boxes = label(canvas, flat, [f"n{i}" for i in range(52)], important=0)
    assert set(boxes) == set(range(40, 52))
    crowded = Box(*canvas[0].transData.transform((0.4, 0.0)).tolist(), 4, 4)
    assert not any(box.overlaps(crowded) for box in boxes.values())
