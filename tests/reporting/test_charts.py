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
    assert legend(figures[0]) == ["a" * 31 + "… (40)", "five (5)", "other (55)"]
    left, right = figures[0].axes[0].get_xlim()
    assert left == pytest.approx(float(flat[:, 0].min()), abs=0.05)  # no empty margin, though 0 is far away
    assert right == pytest.approx(float(flat[:, 0].max()), abs=0.05)
    draw_groups(flat, torch.full((100,), -1), names, Path("points.png"), title="", note="Plain.")
    assert legend(figures[1]) is None
    assert any("One colour" in text.get_text() for text in figures[1].axes[0].texts)
