"""Run folders: whole or not at all, never over somebody's files, and with clear errors."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from hybonet.data import Hierarchy
from hybonet.nn import LorentzLinear
from hybonet.tasks.hierarchy.task import HierarchySettings
from hybonet.tasks.run import Run, start
from hybonet.tasks.run_folder import holds_run, new_run, read_json
from hybonet.training import Interrupted
from hybonet.training.checkpoint import read_tensors
from tests.training.toy import StopAt


def write(out: Path, task: str = "kg", *, overwrite: bool = False) -> None:
    with new_run(out, overwrite=overwrite) as staging:
        (staging / "labels.tsv").write_text("dog\n")
        (staging / "config.json").write_text(json.dumps({"task": task, "graph": {}, "hierarchy": {}}))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_run_appears_whole(tmp_path: Path) -> None:
    with new_run(tmp_path / "deep" / "run") as staging:
        (staging / "config.json").write_text('{"task": "kg"}')
        assert not (tmp_path / "deep" / "run").exists()
    assert names(tmp_path / "deep") == ["run"]
    assert holds_run(tmp_path / "deep" / "run")
    assert not holds_run(tmp_path / "deep")


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_a_failure_leaves_nothing(tmp_path: Path, failure: type[BaseException]) -> None:
    def interrupted() -> None:
        with new_run(tmp_path / "runs" / "first") as staging:
            (staging / "config.json").write_text("{}")
            raise failure

    with pytest.raises(failure):
        interrupted()
    assert names(tmp_path) == []


def test_a_failure_keeps_the_earlier_run(tmp_path: Path) -> None:
    write(tmp_path / "run")
    with pytest.raises(RuntimeError), new_run(tmp_path / "run", overwrite=True):
        raise RuntimeError
    assert Run(tmp_path / "run", "kg").spec.name == "kg"
    assert names(tmp_path) == ["run"]


@pytest.mark.parametrize("standing_in_it", [False, True])
def test_a_killed_start_does_not_block_the_next(tmp_path: Path, standing_in_it: bool) -> None:
    """Once with the run's folder yet to be made, once where it is the working folder and cannot be exchanged."""
    folder = tmp_path / "run"
    if standing_in_it:
        folder.mkdir()
    script = textwrap.dedent(
        """
        import os, signal, sys
        from pathlib import Path
        from hybonet.tasks.run_folder import new_run
        with new_run(Path(sys.argv[1])) as staging:
            (staging / "labels.tsv").write_text("half a run")
            os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    place = folder if standing_in_it else tmp_path
    target = "." if standing_in_it else "run"
    done = subprocess.run([sys.executable, "-c", script, target], cwd=place, check=False)
    assert done.returncode == -signal.SIGKILL
    assert not holds_run(folder)
    write(folder)
    assert names(folder) == ["config.json", "labels.tsv"]
    assert (folder / "labels.tsv").read_text() == "dog\n"


@pytest.mark.parametrize("exchangeable", [True, False])
def test_overwriting_needs_to_be_asked_for(tmp_path: Path, monkeypatch, exchangeable: bool) -> None:
    run = tmp_path / "run"
    run.mkdir()
    if not exchangeable:  # a mounted volume or the working folder stays, and its files are replaced
        monkeypatch.chdir(run)
    write(run)  # an empty folder is fine
    with pytest.raises(ValueError, match=r"holds files; go on with --resume"):
        write(run)
    (run / "disk.png").write_bytes(b"of the earlier run")
    before = os.stat(run).st_ino
    write(run, "hierarchy", overwrite=True)
    assert names(run) == ["config.json", "labels.tsv"]
    assert Run(run, "hierarchy").about == {}
    assert names(tmp_path) == ["run"]
    assert (os.stat(run).st_ino != before) == exchangeable


def test_foreign_files_are_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match=r"holds 'thesis.tex'; choose another"):
        write(tmp_path, overwrite=True)
    with pytest.raises(ValueError, match="got the file"):
        write(tmp_path / "thesis.tex", overwrite=True)
    (tmp_path / "config.json").write_text('{"task": "kg"}')
    with pytest.raises(ValueError, match=r"holds 'thesis.tex'; choose another"):
        write(tmp_path, overwrite=True)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"
    (tmp_path / "thesis.tex").unlink()
    (tmp_path / "config.json").write_text('{"name": "of another program"}')
    with pytest.raises(ValueError, match=r"holds 'config.json'; choose another"):
        write(tmp_path, overwrite=True)


def test_a_run_of_another_task_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "run", "hierarchy")
    with pytest.raises(ValueError, match=r"expected a run of hybonet train kg.*made by hybonet train hierarchy"):
        Run(tmp_path / "run", "kg")


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "config.json is missing"), ("{", "expected JSON, but"), ("[1, 2]", "expected a JSON object, got")],
)
def test_broken_json_is_explained(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "config.json").write_text(content)
    with pytest.raises(ValueError, match=message):
        read_json(tmp_path, "config.json")


def test_broken_tensors_are_explained(tmp_path: Path) -> None:
    write(tmp_path / "run")
    with pytest.raises(ValueError, match=r"no model yet.*hybonet train kg --out .* --resume"):
        Run(tmp_path / "run").load_into(LorentzLinear(3, 3))
    (tmp_path / "run" / "model.safetensors").write_bytes(b"scrambled")
    with pytest.raises(ValueError, match="expected a safetensors file"):
        read_tensors(tmp_path / "run" / "model.safetensors")
    save_file({"other": torch.zeros(1)}, tmp_path / "run" / "model.safetensors")
    with pytest.raises(ValueError, match="does not fit the run's settings"):
        Run(tmp_path / "run").load_into(LorentzLinear(3, 3))


FAMILY = Hierarchy.from_edges([("dog", "canine"), ("wolf", "canine"), ("cat", "feline")])


def test_a_run_that_trained_for_longer_than_its_new_minutes_is_not_changed(tmp_path: Path) -> None:
    """It would end at once, with no validation and perhaps without any model."""
    run = start(tmp_path / "run", "hierarchy", HierarchySettings(epochs=4, checkpoint_seconds=0), FAMILY)
    with pytest.raises(Interrupted):
        run.train(reporter=StopAt(2))
    with pytest.raises(ValueError, match=r"expected more than the .* minutes already trained, got minutes=1e-09"):
        run.change_settings(["minutes=1e-9"])
    assert read_json(run.folder, "config.json")["settings"]["minutes"] is None
    run.change_settings(["minutes=5"])
    assert run.settings.minutes == Run(run.folder).settings.minutes == 5


@pytest.mark.parametrize("found", [{}, {"settings": [1]}])
def test_a_configuration_without_settings_is_said(tmp_path: Path, found: dict[str, object]) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"task": "kg", "graph": {}, **found}))
    with pytest.raises(ValueError, match=r"config.json: expected settings, got .*; restore the file or train again"):
        _ = Run(tmp_path).settings
