"""A run's picture needs nothing but the run's files."""

from pathlib import Path

import pytest

from hybonet.data import Hierarchy
from hybonet.tasks.hierarchy_embedding import HierarchySettings
from hybonet.tasks.hierarchy_run import start_run, train_run
from hybonet.tasks.run_picture import draw_run

FAMILY = Hierarchy.from_edges(
    [("dog", "canine"), ("wolf", "canine"), ("cat", "feline"), ("canine", "m"), ("feline", "m")]
)


@pytest.mark.parametrize("dim", [3, 5])
def test_drawn_again_it_is_the_same(tmp_path: Path, dim: int) -> None:
    run = tmp_path / "run"
    start_run(run, HierarchySettings(epochs=2, dim=dim), FAMILY)
    train_run(run, resume=False)
    draw_run(run, tmp_path / "first.png", dpi=40)
    draw_run(run.rename(tmp_path / "moved"), tmp_path / "again.png", dpi=40)
    assert (tmp_path / "again.png").read_bytes() == (tmp_path / "first.png").read_bytes()


def test_without_a_run_there_is_no_picture(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is missing"):
        draw_run(tmp_path, tmp_path / "disk.png")
    assert list(tmp_path.iterdir()) == []
