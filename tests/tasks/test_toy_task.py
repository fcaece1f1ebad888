"""A task of another package is found by its entry point, and every command and every verb of Python works on it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import hybonet
from hybonet.tasks.base import specs

POINTS = [(x / 4, y / 4, int(x + y > 0)) for x in range(-3, 4) for y in range(-3, 4)]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """What installing a package leaves: a folder on the path that says which tasks it has."""
    about = tmp_path / "site" / "toy_points-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-points\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[hybonet.tasks]\npoints = tests.toy_task:SPEC\n")
    (tmp_path / "points.csv").write_text("".join(f"{x},{y},{label}\n" for x, y, label in POINTS))
    return tmp_path


def test_from_python(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "points" not in specs()
    monkeypatch.syspath_prepend(package / "site")
    assert "points" in specs()
    run = package / "run"
    model = hybonet.train("points", POINTS, out=run, epochs=20, reporter=False)
    assert model.evaluate()["test"] == model.record["test"]
    assert model.evaluate()["test"]["accuracy"] > 0.8
    answers = model.predict(x=0.5, y=0.5)
    assert answers[1]["probability"] > 0.5
    assert [path.name for path in model.plot()] == ["points.html"]
    model.save_pretrained(package / "saved")
    saved = hybonet.load(package / "saved")
    assert saved.predict(x=0.5, y=0.5) == answers
    assert saved.record == model.record
    hybonet.train("points", POINTS, out=package / "again", epochs=10, reporter=False)
    hybonet.train("points", out=package / "again", epochs=20, resume=True, reporter=False)
    resumed, straight = (load_file(folder / "checkpoint.safetensors") for folder in (package / "again", run))
    assert all(torch.equal(resumed[name], straight[name]) for name in straight)
    with pytest.raises(ValueError, match="did you mean 'epochs'"):
        hybonet.train("points", POINTS, epoch=3)


COMMANDS = [
    "train points --data points.csv --out run --set epochs=5 --threads 1",
    "train points --out run --resume --set epochs=10 --threads 1",
    "evaluate run --json",
    "predict run --x 0.5 --y 0.5 --format csv",
    "plot run --output drawn",
    "export run --output saved",
    "evaluate saved --json",
    "report run",
    "recipes show points --json",
    "tune points --data points.csv --own-ranges --range lr=0.01,0.05 --trials 1 --set epochs=2 --threads 1 --out found",
]


def test_on_the_command_line(package: Path) -> None:
    """In a process of its own: the commands are made when the program starts."""
    code = (
        "import json, sys\n"
        "from typer.testing import CliRunner\n"
        "from hybonet.cli import app\n"
        "for command in json.load(sys.stdin):\n"
        "    done = CliRunner().invoke(app, command.split(), prog_name='hybonet')\n"
        "    print(json.dumps([done.exit_code, done.stdout, done.output]))\n"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = [{str(package / 'site')!r}, {str(root)!r}]\n{code}"],
        input=json.dumps(COMMANDS), cwd=package, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    said = {}
    for command, (exit_code, shown, everything) in zip(COMMANDS, outcomes, strict=True):
        if command.startswith("tune") and "pip install hybonet[tune]" in everything:
            continue  # an extra that is not installed
        assert exit_code == 0, f"{command}: {everything}"
        said[command.partition(" --")[0]] = shown
    record = json.loads((package / "run" / "record.json").read_text())
    assert record["epochs"] == 10
    assert json.loads(said["evaluate saved"])["test"] == json.loads(said["evaluate run"])["test"] == record["test"]
    assert said["predict run"].startswith("class,probability\n0,")
    assert (package / "drawn" / "points.html").exists()
    assert "accuracy" in said["report run"]
