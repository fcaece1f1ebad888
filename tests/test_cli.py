"""The command line from outside: output, exit codes, and what is left on disk."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hybonet import __version__
from hybonet.cli import app
from hybonet.tasks.hierarchy_embedding import HierarchyEmbeddingConfig

runner = CliRunner(env={"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "160"})
FILES = {"model.safetensors", "config.json", "labels.tsv", "edges.tsv", "metrics.json"}


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    path = tmp_path / "family.csv"
    path.write_text("dog,canine\nwolf,canine\ncat,feline\nlion,feline\ncanine,mammal\nfeline,mammal\n")
    return path


def demo(*arguments: object) -> tuple[int, str, str]:
    result = runner.invoke(app, ["demo", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def test_demo_from_edges_to_picture(tmp_path: Path, edges: Path) -> None:
    out = tmp_path / "run"
    code, text, _ = demo("--hierarchy", edges, "--out", out, "--epochs", 60, "--seed", 3)
    assert code == 0
    assert {path.name for path in out.iterdir()} == FILES | {"disk.png"}
    record = json.loads((out / "metrics.json").read_text())
    assert record["config"]["epochs"] == 60
    assert record["seed"] == 3
    assert record["metrics"]["mean_rank"] == 1.0
    assert re.search(r"mean rank \(best 1\).*1\.00", text)
    assert "mean average precision" in text
    assert re.search(r"dog .*↑canine", text)
    assert str(out / "disk.png") in text


def test_a_second_run_needs_overwrite(tmp_path: Path, edges: Path) -> None:
    quick = ("--hierarchy", edges, "--out", tmp_path / "run", "--epochs", 2, "--no-plot")
    assert demo(*quick)[0] == 0
    assert {path.name for path in (tmp_path / "run").iterdir()} == FILES
    before = (tmp_path / "run" / "metrics.json").read_text()
    code, _, error = demo(*quick)
    assert code == 2
    assert "--overwrite" in error
    assert (tmp_path / "run" / "metrics.json").read_text() == before
    assert demo(*quick, "--overwrite", "--dim", 5)[0] == 0
    assert json.loads((tmp_path / "run" / "config.json").read_text())["dim"] == 5


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (["--hierarchy", "wordnet_mamals"], ["did you mean 'wordnet_mammals'?"]),
        (["--hierarchy", "absent.csv"], ["'absent.csv'", "not there"]),
        (["--dim", "2"], ["--dim", "greater than or equal to 3", "got 2", "hyperbolic plane"]),
        (["--epochs", "0", "--seed", "-1"], ["--epochs", "--seed", "got -1"]),
        (["--epochs", "many"], ["--epochs", "integer"]),
        (["--epoch", "3"], ["--epoch", "--epochs"]),
    ],
)
def test_errors_are_one_clean_line_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], fragments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, text, error = demo("--out", "runs/new", *arguments)
    assert code == 2
    for fragment in fragments:
        assert fragment in error
    assert "Traceback" not in text + error
    assert list(tmp_path.iterdir()) == []
    if error.startswith("error: "):
        assert error.count("\n") == 1


def test_a_bad_edge_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.tsv"
    path.write_text("a\tb\nb\tc\nc\ta\n")
    code, _, error = demo("--hierarchy", path, "--out", tmp_path / "run")
    assert code == 2
    assert "without cycles" in error
    path.write_text("a\tb\nc\n")
    assert "bad.tsv, line 2" in demo("--hierarchy", path, "--out", tmp_path / "run")[2]
    assert [entry.name for entry in tmp_path.iterdir()] == ["bad.tsv"]


def test_an_unwritable_place_is_a_clean_error(edges: Path) -> None:
    code, _, error = demo("--hierarchy", edges, "--out", edges / "below-a-file", "--epochs", 1)
    assert code == 2
    assert error.startswith("error: ")


def test_help_shows_the_true_defaults() -> None:
    text = runner.invoke(app, ["demo", "--help"]).stdout
    for setting in ("epochs", "dim", "seed"):
        default = HierarchyEmbeddingConfig.model_fields[setting].default
        assert re.search(rf"--{setting}\b[^-]*\[default: \({default}\)\]", text), setting
    assert "Examples" in text


def test_version_and_bare_command() -> None:
    assert runner.invoke(app, ["--version"]).stdout == f"hybonet {__version__}\n"
    assert "demo" in runner.invoke(app, []).output


def test_the_command_works_from_any_folder_and_imports_nothing_it_does_not_need(tmp_path: Path) -> None:
    code = (
        "import sys; from hybonet.cli import main; import atexit\n"
        "heavy = ('matplotlib', 'pydantic', 'safetensors')\n"
        "atexit.register(lambda: print([name for name in heavy if name in sys.modules]))\n"
        "sys.argv = ['hybonet', '--version']; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"hybonet {__version__}\n[]\n"
