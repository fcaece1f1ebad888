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

runner = CliRunner(env={"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "160"})
FILES = {
    "checkpoint.safetensors", "config.json", "edges.tsv", "history.jsonl", "labels.tsv", "model.safetensors",
    "record.json", "curves.png", "auto.json",
}  # fmt: skip


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    path = tmp_path / "family.csv"
    path.write_text("dog,canine\nwolf,canine\ncat,feline\nlion,feline\ncanine,mammal\nfeline,mammal\n")
    return path


def call(*arguments: object) -> tuple[int, str, str]:
    result = runner.invoke(app, [*map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def train(*arguments: object) -> tuple[int, str, str]:
    return call("train", "hierarchy", *arguments)


def test_from_edges_to_picture(tmp_path: Path, edges: Path) -> None:
    out = tmp_path / "run"
    code, text, _ = train("--data", edges, "--out", out, "--set", "epochs=60", "--set", "seed=3")
    assert code == 0
    assert {path.name for path in out.iterdir()} == FILES
    record = json.loads((out / "record.json").read_text())
    assert record["settings"]["epochs"] == 60
    assert record["seed"] == 3
    assert record["metrics"]["mean_rank"] == 1.0
    assert re.search(r"mean rank \(best 1\).*1\.00", text)
    assert "mean average precision" in text
    assert re.search(r"dog .*↑canine", text)
    assert f"Draw it: hybonet plot {out}" in text
    code, text, _ = call("plot", out)
    assert code == 0
    assert text.split() == [str(out / name) for name in ("disk.png", "disk.html", "curves.png")]


def test_a_used_folder_is_refused_and_resume_of_a_finished_run_is_harmless(tmp_path: Path, edges: Path) -> None:
    out = tmp_path / "run"
    quick = ("--data", edges, "--out", out, "--set", "epochs=2")
    assert train(*quick)[0] == 0
    assert {path.name for path in out.iterdir()} == FILES
    before = (out / "model.safetensors").read_bytes()
    code, _, error = train(*quick)
    assert code == 2
    assert "--resume" in error
    assert train("--out", out, "--resume")[0] == 0
    assert (out / "model.safetensors").read_bytes() == before


def test_a_run_belongs_to_its_task(tmp_path: Path, edges: Path) -> None:
    out = tmp_path / "run"
    assert train("--data", edges, "--out", out, "--set", "epochs=1")[0] == 0
    code, _, error = call("train", "kg", "--out", out, "--resume")
    assert code == 2
    assert "made by hybonet train hierarchy" in error
    assert call("predict", out, "--node", "dog")[0] == call("evaluate", out)[0] == 0
    assert call("predict", out, "--head", "dog")[0] == 2  # an option of another task's models


def test_the_demo_trains_asks_and_draws_and_replaces_only_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hybonet.tasks.knowledge_graph.recipes import RECIPES

    quick = RECIPES["default"]["settings"].model_copy(update={"epochs": 1, "dim": 8})
    monkeypatch.setitem(RECIPES["default"], "settings", quick)
    code, text, error = call("demo", "--out", tmp_path / "run")
    assert code == 0, error
    assert len(re.findall(r"^.* …", text, re.M)) >= 10  # ten questions
    assert all((tmp_path / "run" / name).exists() for name in ("record.json", "disk.png", "disk.html", "points.png"))
    code, _, error = call("demo", "--out", tmp_path / "run")
    assert code == 2
    assert "add --overwrite" in error
    assert call("demo", "--out", tmp_path / "run", "--overwrite", "--no-plot")[0] == 0
    assert not (tmp_path / "run" / "disk.png").exists()
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # as the package alone is installed
    code, text, error = call("demo", "--out", tmp_path / "plain")
    assert code == 0, error
    assert len(re.findall(r"^.* …", text, re.M)) >= 10
    assert "pip install 'hybonet[plot]', then hybonet plot" in text
    assert not list((tmp_path / "plain").glob("*.png"))


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (["--data", "wordnet_mamals"], ["did you mean 'wordnet_mammals'?"]),
        (["--data", "absent.csv"], ["'absent.csv'", "neither a path nor a name"]),
        (["--set", "dim=2"], ["setting dim", "greater than or equal to 3", "got '2'"]),
        (["--set", "epochs=many"], ["setting epochs", "integer"]),
        (["--set", "epoch=3"], ["did you mean 'epochs'"]),
        (["--recipe", "default"], ["'default' is one for train kg", "choose one of hierarchy"]),
        (["--resume", "--data", "a.csv"], ["nothing but --out"]),
        (["--resume"], ["config.json is missing"]),
    ],
)
def test_errors_are_one_clean_line_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], fragments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, text, error = train("--out", "runs/new", *arguments)
    assert code == 2
    for fragment in fragments:
        assert fragment in error
    assert "Traceback" not in text + error
    assert list(tmp_path.iterdir()) == []
    assert error.startswith("error: ")
    assert error.count("\n") == 1


def test_a_bad_edge_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.tsv"
    path.write_text("a\tb\nb\tc\nc\ta\n")
    code, _, error = train("--data", path, "--out", tmp_path / "run")
    assert code == 2
    assert "without cycles" in error
    path.write_text("a\tb\nc\n")
    assert "bad.tsv, line 2" in train("--data", path, "--out", tmp_path / "run")[2]
    assert [entry.name for entry in tmp_path.iterdir()] == ["bad.tsv"]


def test_an_unwritable_place_is_a_clean_error(edges: Path) -> None:
    code, _, error = train("--data", edges, "--out", edges / "below-a-file", "--set", "epochs=1")
    assert code == 2
    assert error.startswith("error: ")


def test_recipes_name_their_task() -> None:
    text = call("recipes", "list")[1]
    assert re.search(r"hierarchy +hierarchy ", text)
    assert re.search(r"default +kg ", text)
    assert json.loads(call("recipes", "show", "hierarchy", "--json")[1])["dim"] == 3


def test_version_and_bare_command() -> None:
    assert runner.invoke(app, ["--version"]).stdout == f"hybonet {__version__}\n"
    assert "demo" in runner.invoke(app, []).output


def test_the_command_works_from_any_folder_and_imports_nothing_it_does_not_need(tmp_path: Path) -> None:
    code = (
        "import sys; from hybonet.cli import main; import atexit\n"
        "heavy = ('matplotlib', 'safetensors', 'torch')\n"
        "atexit.register(lambda: print([name for name in heavy if name in sys.modules]))\n"
        "sys.argv = ['hybonet', '--version']; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"hybonet {__version__}\n[]\n"
