"""A run's pictures need nothing but the run's files; `hybonet plot` draws them again."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hybonet.cli import app
from hybonet.data import Hierarchy
from hybonet.tasks.hierarchy.pictures import draw_run
from hybonet.tasks.hierarchy.run import start_run, train_run
from hybonet.tasks.hierarchy.task import HierarchySettings

FAMILY = Hierarchy.from_edges(
    [("dog", "canine"), ("wolf", "canine"), ("cat", "feline"), ("canine", "m"), ("feline", "m")]
)


@pytest.mark.parametrize("dim", [3, 5])
def test_drawn_again_it_is_the_same(tmp_path: Path, dim: int) -> None:
    run = tmp_path / "run"
    start_run(run, HierarchySettings(epochs=2, dim=dim), FAMILY)
    train_run(run, resume=False)
    first = draw_run(run, tmp_path / "first", dpi=40)
    again = draw_run(run.rename(tmp_path / "moved"), tmp_path / "again", dpi=40)
    assert [path.name for path in first] == [path.name for path in again] == ["disk.png", "disk.html", "curves.png"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]


def test_without_a_run_there_is_no_picture(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is missing"):
        draw_run(tmp_path, tmp_path / "pictures")
    assert list(tmp_path.iterdir()) == []


def test_plot_draws_a_run_of_a_hierarchy_and_refuses_relations_for_it(tmp_path: Path) -> None:
    start_run(tmp_path / "run", HierarchySettings(epochs=1), FAMILY)
    train_run(tmp_path / "run", resume=False)
    refused = CliRunner().invoke(app, ["plot", str(tmp_path / "run"), "--hierarchy", "is_a"])
    assert refused.exit_code == 2
    assert "No such option: --hierarchy" in refused.output
    assert not (tmp_path / "run" / "disk.png").exists()
    done = CliRunner().invoke(app, ["plot", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "run" / "disk.html").read_text(encoding="utf-8")
    assert '"predicted":[]' in page
    assert done.output.split() == [str(tmp_path / "run" / name) for name in ("disk.png", "disk.html", "curves.png")]
