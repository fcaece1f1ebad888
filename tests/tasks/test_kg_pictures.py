"""`hybonet plot` on a run of a small tree."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hybonet.cli import app

SETTINGS = ["--set", "dim=8", "--set", "epochs=30", "--set", "batch_size=32", "--threads", "1"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plot")
    file = folder / "tree.tsv"
    tree = [f"n{i}\tis_a\tn{i // 3}" for i in range(1, 60)]
    file.write_text("\n".join([*tree, *(f"n{i}\tnext\tn{i + 1}" for i in range(59))]) + "\n")
    done = CliRunner().invoke(app, ["train", "kg", "--data", str(file), "--out", str(folder / "run"), *SETTINGS])
    assert done.exit_code == 0, done.output
    return folder / "run"


def test_all_pictures_of_a_finished_run(run, tmp_path):
    done = CliRunner().invoke(app, ["plot", str(run), "--output", str(tmp_path / "new")])
    assert done.exit_code == 0, done.output
    drawn = done.output.split()
    assert {path.split("/")[-1] for path in drawn} >= {"curves.png", "relations.png", "points.png", "disk.png"}
    for path in drawn:
        content = Path(path).read_bytes()
        assert content[:4] == b"\x89PNG" if path.endswith(".png") else content.startswith(b"<!")


def test_unknown_relations_are_refused_before_anything_is_drawn(run, tmp_path):
    done = CliRunner().invoke(app, ["plot", str(run), "--hierarchy", "isa", "--output", str(tmp_path / "none")])
    assert done.exit_code == 2
    assert "did you mean 'is_a'" in done.output
    assert not (tmp_path / "none").exists()
