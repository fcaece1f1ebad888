"""A run's picture needs nothing but the run's files."""

from pathlib import Path

import pytest

from hybonet.data import Hierarchy
from hybonet.tasks.hierarchy_embedding import HierarchyEmbeddingConfig, train
from hybonet.tasks.run_directory import PICTURE, new_run, write_run
from hybonet.tasks.run_picture import draw_run

FAMILY = Hierarchy.from_edges(
    [("dog", "canine"), ("wolf", "canine"), ("cat", "feline"), ("canine", "m"), ("feline", "m")]
)


@pytest.mark.parametrize("dim", [3, 5])
def test_drawn_again_it_is_the_same(tmp_path: Path, dim: int) -> None:
    config = HierarchyEmbeddingConfig(epochs=2, dim=dim)
    with new_run(tmp_path / "run") as staging:
        write_run(staging, config, FAMILY, train(config, FAMILY))
        draw_run(staging, staging / PICTURE, dpi=40)
    draw_run(tmp_path / "run", tmp_path / "again.png", dpi=40)
    assert (tmp_path / "again.png").read_bytes() == (tmp_path / "run" / PICTURE).read_bytes()


def test_without_a_run_there_is_no_picture(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is missing"):
        draw_run(tmp_path, tmp_path / "disk.png")
    assert list(tmp_path.iterdir()) == []
