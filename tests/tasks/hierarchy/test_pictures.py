"""A run's pictures need nothing but the run's files; `hybonet plot` draws them again."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hybonet.cli import app
from hybonet.data import Hierarchy
from hybonet.tasks.hierarchy.predictor import HierarchyModel
from hybonet.tasks.hierarchy.task import HierarchySettings
from hybonet.tasks.run import start

FAMILY = Hierarchy.from_edges(
    [("dog", "canine"), ("wolf", "canine"), ("cat", "feline"), ("canine", "m"), ("feline", "m")]
)


@pytest.mark.parametrize("dim", [3, 5])
def test_drawn_again_it_is_the_same(tmp_path: Path, dim: int) -> None:
    run = tmp_path / "run"
    start(run, "hierarchy", HierarchySettings(epochs=2, dim=dim), FAMILY).train()
    first = HierarchyModel.load(run).plot(tmp_path / "first")
    again = HierarchyModel.load(run.rename(tmp_path / "moved")).plot(tmp_path / "again")
    assert [path.name for path in first] == [path.name for path in again] == ["disk.png", "disk.html", "curves.png"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]


def test_without_a_run_there_is_no_picture(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is missing"):
        HierarchyModel.load(tmp_path).plot(tmp_path / "pictures")
    assert list(tmp_path.iterdir()) == []


def test_plot_draws_a_run_of_a_hierarchy_and_refuses_relations_for_it(tmp_path: Path) -> None:
    start(tmp_path / "run", "hierarchy", HierarchySettings(epochs=1), FAMILY).train()
    refused = CliRunner().invoke(app, ["plot", str(tmp_path / "run"), "--hierarchy", "is_a"])
    assert refused.exit_code == 2
    assert "No such option: --hierarchy" in refused.output
    assert not (tmp_path / "run" / "disk.png").exists()
    done = CliRunner().invoke(app, ["plot", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "run" / "disk.html").read_text(encoding="utf-8")
    assert '"predicted":[]' in page
    assert done.output.split() == [str(tmp_path / "run" / name) for name in ("disk.png", "disk.html", "curves.png")]
