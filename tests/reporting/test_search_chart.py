"""The picture of a search: every trial where it belongs, over all that was searched."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from hybonet.reporting.search_chart import draw_search


def trial(number: int, state: str, figure: float | None, **values: object) -> dict:
    return {"number": number, "state": state, "figure": figure, "values": values}


TRIALS = [
    trial(1, "finished", 0.5, lr=0.01, size=500, drop=0.1),
    trial(2, "failed", None, lr=0.1, size=250, drop=0.0),
    trial(3, "pruned", 0.9, lr=0.02, size=250, drop=0.2),
    trial(4, "finished", 0.4, lr=0.03, size=None, drop=0.3),
]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Figure:
    saved: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: saved.append(figure))
    spans = {"lr": (0.002, 0.05, True), "drop": (0.0, 0.4, False)}
    draw_search(TRIALS, Path("tune.png"), title="", label="MRR", spans=spans, choices={"size": [250, 500, None]})
    return saved[0]


def dots(figure: Figure, panel: int, label: str) -> list[list[float]]:
    (found,) = [each for each in figure.axes[panel].collections if each.get_label() == label]
    return found.get_offsets().tolist()


def test_a_panel_for_the_course_and_one_for_each_setting(drawn: Figure) -> None:
    assert [axes.get_xlabel() for axes in drawn.axes if axes.get_visible()] == ["trial", "lr", "size", "drop"]
    assert dots(drawn, 0, "finished") == [[1, 0.5], [4, 0.4]]
    assert [place for place, _ in dots(drawn, 0, "failed")] == [2]
    (course,) = drawn.axes[0].lines
    assert course.get_ydata().tolist() == [0.5, 0.5, 0.5]  # a pruned trial is never the best
    for panel, place in ((0, 1), (1, 0.01), (2, 1), (3, 0.1)):
        assert dots(drawn, panel, "the best") == [[place, 0.5]]


def test_axes_show_all_that_was_searched(drawn: Figure) -> None:
    _, lr, size, drop = drawn.axes
    assert lr.get_xscale() == "log"
    for axes, low, high in ((lr, 0.002, 0.05), (drop, 0.0, 0.4)):
        left, right = axes.get_xlim()
        assert left <= low
        assert right >= high
    assert [text.get_text() for text in size.get_xticklabels()] == ["250", "500", "none"]
    assert dots(drawn, 2, "finished") == [[1, 0.5], [2, 0.4]]
    assert dots(drawn, 2, "pruned") == [[0, 0.9]]


def test_the_lower_the_better(monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: saved.append(figure))
    drawing = {"title": "", "label": "rank", "spans": {"drop": (0.0, 0.4, False)}, "choices": {}}
    draw_search(TRIALS, Path("tune.png"), higher_is_better=False, **drawing)
    assert dots(saved[0], 1, "the best") == [[0.3, 0.4]]
