"""Charts: panels and groups are there only if they say something."""

from pathlib import Path

import pytest
import torch
from matplotlib.figure import Figure

from hybonet.reporting.charts import draw_curves, draw_groups, draw_relation_bars


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that are saved."""
    saved: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: saved.append(figure))
    return saved


@pytest.mark.parametrize(("seconds", "panels"), [(59.0, 2), (61.0, 3)])
def test_time_has_a_panel_only_after_a_long_training(figures: list[Figure], seconds: float, panels: int) -> None:
    rows = [{"epoch": 1, "loss": 2.0, "seconds": 1.0}, {"epoch": 2, "loss": 1.0, "seconds": seconds, "mrr": 0.5}]
    draw_curves(rows, "mrr", Path("curves.png"), title="", label="validation MRR")
    assert len(figures[0].axes) == panels
    assert {axes.get_ylabel() for axes in figures[0].axes[1:]} == {"validation MRR"}


def test_bars_fill_the_height_and_lie_on_the_grid(figures: list[Figure]) -> None:
    rows = {f"r{i}": {"mrr": 0.5, "count": 4.0, "category": "N-1"} for i in range(30)}
    draw_relation_bars(rows, Path("bars.png"), title="")
    (axes,) = figures[0].axes
    low, high = axes.get_ylim()
    assert (low, high) == pytest.approx((-0.6, 29.6))
    assert axes.get_axisbelow() is True


def test_the_whole_disk_is_drawn_or_no_edge_of_it(figures: list[Figure]) -> None:
    circle = torch.stack((torch.linspace(0, 6, 50).cos(), torch.linspace(0, 6, 50).sin()), dim=1)
    group = torch.zeros(50).long()
    for radius in (0.8, 0.3):
        draw_groups(radius * circle, group, ["all"], Path("points.png"), title="", note="")
    far, near = (figure.axes[0] for figure in figures)
    assert len(far.patches) == 1
    assert far.get_xlim()[0] < -1 < 1 < far.get_xlim()[1]
    assert far.get_ylim()[0] < -1 < 1 < far.get_ylim()[1]
    assert not near.patches
    assert near.get_xlim()[1] < 0.4
    assert any("Part of the disk" in text.get_text() for text in near.texts)


def test_points_on_a_line_have_a_picture(figures: list[Figure]) -> None:
    flat = torch.stack((torch.linspace(-0.2, 0.2, 9), torch.zeros(9)), dim=1)
    draw_groups(flat, torch.zeros(9).long(), ["all"], Path("points.png"), title="", note="")
    width, height = figures[0].get_size_inches()
    assert height > width / 5


def test_graphs_give_their_own_reasons(figures: list[Figure]) -> None:
    flat, group = 0.1 * torch.randn(600, 2), torch.zeros(600).long()
    group[:2], group[2:5] = 1, 2
    words = {"kind": ("class", "classes"), "none": "no label", "alone": "the graph has no labels"}
    draw_groups(flat, group, ["big", "b", "c"], Path("points.png"), title="", note="", **words)
    assert legend(figures[0]) == ["big (595)", "other: 2 small classes (5)"]
    draw_groups(flat, torch.full((600,), -1), [], Path("points.png"), title="", note="", **words)
    assert any("One colour: the graph has no labels." in text.get_text() for text in figures[1].axes[0].texts)


def legend(figure: Figure) -> list[str] | None:
    found = figure.axes[0].get_legend()
    return None if found is None else [text.get_text() for text in found.get_texts()]


def test_small_groups_are_other_and_without_groups_there_is_no_legend(figures: list[Figure]) -> None:
    torch.manual_seed(0)
    flat = 0.1 * torch.randn(100, 2) + torch.tensor([0.5, 0.0])
    group = torch.full((100,), -1)
    group[:40], group[40:45], group[45:49] = 0, 1, 2
    names = ["a" * 50, "five", "four"]
    draw_groups(flat, group, names, Path("points.png"), title="", note="")
    assert legend(figures[0]) == ["a" * 31 + "… (40)", "five (5)", "other: 1 small branch, no branch (55)"]
    left, right = figures[0].axes[0].get_xlim()
    assert left == pytest.approx(float(flat[:, 0].min()), abs=0.05)  # no empty margin, though 0 is far away
    assert right == pytest.approx(float(flat[:, 0].max()), abs=0.05)
    draw_groups(flat, torch.full((100,), -1), names, Path("points.png"), title="", note="Plain.")
    assert legend(figures[1]) is None
    assert any("One colour" in text.get_text() for text in figures[1].axes[0].texts)


def test_named_points_have_their_names_beside_them(figures: list[Figure]) -> None:
    flat = torch.tensor([[-0.9, 0.0], [0.0, 0.0], [0.9, 0.0], [0.0, 0.9]])
    named = {1: "hub", 3: "$x_1$ " + "long " * 10}
    draw_groups(flat, torch.full((4,), -1), [], Path("points.png"), title="", note="", named=named)
    found = {text.get_text() for text in figures[0].axes[0].texts}
    assert "hub" in found
    assert any("long" in text and text.endswith("…") for text in found)
