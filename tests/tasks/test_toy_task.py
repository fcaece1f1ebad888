"""A task of another package is found by its entry point, and every command and every verb of Python works on it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import hybonet
from hybonet.reporting.answers import Answers, Measures
from hybonet.reporting.pictures import Pictures
from hybonet.tasks.base import specs
from hybonet.testing import check_task
from tests import toy_task
from tests.toy_task import PointClassifier, PointTask

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


def test_it_keeps_the_contract(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "points" not in specs()
    monkeypatch.syspath_prepend(package / "site")
    assert "points" in specs()
    check_task("points", POINTS, question={"x": 0.5, "y": 0.5}, epochs=4)
    model = hybonet.train("points", package / "points.csv", epochs=20, reporter=False)
    assert model.evaluate()["test"]["accuracy"] > 0.8
    assert model.predict(x=0.5, y=0.5)[1]["probability"] > 0.5
    assert [path.name for path in model.plot()] == ["points.html"]


def _unlike(number: float) -> Measures:
    return Measures({"test": {"accuracy": number}})


def _drawn_nowhere(model, folder: Path, options) -> Pictures:
    return Pictures([folder / "nowhere.html"])


#: What may go wrong in a task, and what the check then says.
BREACHES = {
    "evaluate() gives the record's figures": (PointClassifier, "evaluate", lambda model, **options: _unlike(0.123)),
    "evaluate() gives figures that the record has": (
        PointClassifier,
        "evaluate",
        lambda model, **options: Measures({}),
    ),
    "predict of the saved model is that of the run": (
        PointClassifier,
        "predict",
        lambda model, **options: Answers([{"place": str(model.run)}]),
    ),
    "what is not known is refused with 'x'": (
        PointClassifier,
        "predict",
        lambda model, **options: Answers([{"probability": 0.5}]),
    ),
    "plot draws, or says what is missing": (toy_task, "pictures", lambda *_: Pictures()),
    "plot's files are there": (toy_task, "pictures", _drawn_nowhere),
    "checkpoint.safetensors of a resumed run is the straight one's": (
        PointTask,
        "batches",
        lambda task, epoch, start, *_: iter(task.data.split(20)[: task.batches_per_epoch() - start]),
    ),
}


@pytest.mark.parametrize("said", BREACHES)
def test_what_breaks_the_contract_is_found(said: str, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(package / "site")
    place, name, breach = BREACHES[said]
    monkeypatch.setattr(place, name, breach)
    with pytest.raises(AssertionError) as broken:
        check_task("points", POINTS, question={"x": 0.5, "y": 0.5}, epochs=2)
    assert said in str(broken.value)


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
        "    print(json.dumps([done.exit_code, done.stdout, done.output or repr(done.exception)]))\n"
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
