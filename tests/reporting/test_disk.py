"""The picture: it is drawn for every shape of hierarchy, the same every time."""

import sys
from pathlib import Path

import pytest
import torch
from matplotlib.figure import Figure

from hybonet import Lorentz
from hybonet.data import Hierarchy
from hybonet.reporting.disk import draw_disk, require_matplotlib

TREE = Hierarchy.from_edges([(f"n{i:02d}", f"n{i // 2:02d}") for i in range(2, 40)])
FOREST = Hierarchy.from_edges([("a", "r"), ("b", "r"), ("c", "s"), ("d", "s")])


def is_png(path: Path) -> bool:
    return path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(("hierarchy", "dim"), [(TREE, 3), (TREE, 6), (FOREST, 3)])
def test_a_picture_is_drawn(tmp_path: Path, hierarchy: Hierarchy, dim: int) -> None:
    torch.manual_seed(0)
    manifold = Lorentz(-2.0)
    points = manifold.random_normal(len(hierarchy), dim, std=2.0)
    for name in ("one.png", "two.png"):
        draw_disk(points, hierarchy, manifold, tmp_path / name, title="test", dpi=40)
    assert is_png(tmp_path / "one.png")
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


def saved_figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    saved: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: saved.append(figure))
    return saved


def test_a_few_very_deep_nodes_do_not_take_the_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    saved = saved_figures(monkeypatch)
    broad = [(f"leaf{i}", f"kind{i % 4}") for i in range(200)] + [(f"kind{i}", "root") for i in range(4)]
    deep = [("d0", "leaf0"), *((f"d{i}", f"d{i - 1}") for i in range(1, 8))]
    for edges, last in ((broad, "2"), (broad + deep, "≥ 2")):
        hierarchy = Hierarchy.from_edges(edges)
        points = Lorentz().random_normal(len(hierarchy), 3)
        draw_disk(points, hierarchy, Lorentz(), Path("disk.png"), title="", dpi=40)
        ticks = [text.get_text() for text in saved[-1].axes[0].get_xticklabels()]
        assert ticks == ["0", "1", last]


def test_a_disk_without_others_has_the_whole_width(monkeypatch: pytest.MonkeyPatch) -> None:
    saved = saved_figures(monkeypatch)
    for hierarchy, panels, least in ((FOREST, 1, 0.95), (TREE, 3, 0.5)):
        points = Lorentz().random_normal(len(hierarchy), 3)
        draw_disk(points, hierarchy, Lorentz(), Path("disk.png"), title="", dpi=40)
        _, main, *others = saved[-1].axes
        assert len(others) == panels - 1
        width = main.get_subplotspec().get_position(saved[-1]).width
        assert least < width < least + 0.2


def test_without_matplotlib_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # as if it were not there
    with pytest.raises(ValueError, match=r"pip install 'hybonet\[plot\]'"):
        require_matplotlib()
