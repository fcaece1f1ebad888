"""The picture: it is drawn for every shape of hierarchy, the same every time."""

import builtins
from pathlib import Path
from typing import Any

import pytest
import torch

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


def test_without_matplotlib_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(name: str, *rest: Any, **options: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return original(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ValueError, match=r"pip install hybonet\[plot\]"):
        require_matplotlib()
