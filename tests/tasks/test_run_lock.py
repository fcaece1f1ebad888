"""One process at a time trains a run; the others are told who does, and write nothing."""

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hybonet.data import Hierarchy
from hybonet.tasks.hierarchy.task import HierarchySettings
from hybonet.tasks.run import Run, start
from hybonet.training import Interrupted, lock
from hybonet.training.checkpoint import read_tensors
from hybonet.training.history import read_history
from hybonet.training.lock import LOCK, locked
from tests.training.toy import StopAt

FAMILY = Hierarchy.from_edges([("dog", "canine"), ("wolf", "canine"), ("cat", "feline")])
#: Runs the commands that it reads, one per line, and says how each ended. A training ends when it is told to.
COMMANDS = """
import json, sys, time
from typer.testing import CliRunner
from hybonet.cli import app
from hybonet.tasks.run import Run
from hybonet.training import Trainer
import hybonet.tasks.hierarchy.parts
finish = Trainer._finish_epoch
def last_waits(self):
    until = time.monotonic() + 30
    while self.position.epoch + 1 == self.settings.epochs and time.monotonic() < until:
        if self.folder.with_suffix(".go").exists():
            break
        time.sleep(0.005)
    finish(self)
Trainer._finish_epoch = last_waits
Run._draw_curves = lambda self, result: None
print("ready", flush=True)
for line in sys.stdin:
    done = CliRunner().invoke(app, json.loads(line), prog_name="hybonet")
    print(json.dumps([done.exit_code, done.output]), flush=True)
"""


@pytest.fixture
def commands():
    """Starts processes that obey; they end with the test."""
    started = []

    def another() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", COMMANDS]
        started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield another
    for process in started:
        process.kill()
        process.communicate()


def tell(process: subprocess.Popen[str], folder: Path, *options: str) -> None:
    assert process.stdin is not None
    command = ["train", "hierarchy", "--out", str(folder), *options, "--quiet", "--threads", "1"]
    process.stdin.write(json.dumps(command) + "\n")
    process.stdin.flush()


def answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def test_of_two_that_start_together_one_trains(tmp_path: Path, commands) -> None:
    settings = HierarchySettings(epochs=4, seed=1, dim=3)
    straight = start(tmp_path / "straight", "hierarchy", settings, FAMILY)
    straight.train()
    (tmp_path / "edges.csv").write_text("dog,canine\nwolf,canine\ncat,feline\n")
    new = ["--data", str(tmp_path / "edges.csv"), *(f"--set={each}" for each in ("epochs=4", "seed=1", "dim=3"))]
    both = [commands(), commands()]
    assert [answer(process) for process in both] == ["ready\n"] * 2
    for number, options in enumerate([["--resume"], new, [*new, "--overwrite"]] * 2):
        folder = tmp_path / f"run {number}"
        if options is not new:
            start(folder, "hierarchy", settings, FAMILY)
        for process in both:
            tell(process, folder, *options)
        ready = select.select([process.stdout for process in both], [], [])[0]
        first = next(process for process in both if process.stdout in ready)
        outcomes = [json.loads(answer(first))]
        folder.with_suffix(".go").touch()  # the one that is refused does not wait for the other
        outcomes += [json.loads(answer(process)) for process in both if process is not first]
        outcomes.sort()
        assert [code for code, _ in outcomes] == [0, 2], outcomes
        refused = outcomes[1][1]
        assert len(refused.splitlines()) == 1
        assert refused.startswith("error: expected")
        if "--resume" in options:
            assert "is being trained by process" in refused
            found, wanted = (read_tensors(each / "checkpoint.safetensors") for each in (folder, straight.folder))
            assert all(found[name].equal(wanted[name]) for name in wanted)
        assert [row["epoch"] for row in read_history(folder)] == [1, 2, 3, 4]
        assert not (folder / LOCK).exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_killed_holder_is_succeeded(tmp_path: Path, commands) -> None:
    run = start(tmp_path / "run", "hierarchy", HierarchySettings(epochs=400, checkpoint_seconds=0), FAMILY)
    process = commands()
    tell(process, run.folder, "--resume")
    deadline = time.monotonic() + 60
    while not (run.folder / "history.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    try:
        before = (run.folder / "config.json").read_bytes()
        held_by = rf"is being trained by process {process.pid} on \S+ since 20"
        with pytest.raises(ValueError, match=held_by):
            run.train(resume=True)
        with pytest.raises(ValueError, match=held_by):
            run.change_settings(["epochs=3"])
        with pytest.raises(ValueError, match=held_by):
            start(run.folder, "hierarchy", run.settings, FAMILY, overwrite=True)
        assert (run.folder / "config.json").read_bytes() == before
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert (run.folder / LOCK).exists()  # nobody was left to remove it
    done = len(read_history(run.folder))
    run.change_settings([f"epochs={done + 3}"])
    assert run.train(resume=True).epochs == done + 3
    assert not (run.folder / LOCK).exists()


def test_a_run_that_was_replaced_after_it_was_read_is_not_trained(tmp_path: Path) -> None:
    run = start(tmp_path / "run", "hierarchy", HierarchySettings(epochs=1), FAMILY)
    start(tmp_path / "run", "hierarchy", HierarchySettings(epochs=2), FAMILY, overwrite=True)
    with pytest.raises(ValueError, match="another process has changed or replaced it since"):
        run.train()
    assert Run(run.folder).train().epochs == 2


def test_a_thread_keeps_others_out_and_may_enter_again(tmp_path: Path) -> None:
    refused = []

    def other() -> None:
        with pytest.raises(ValueError, match=f"process {os.getpid()} on") as caught, locked(tmp_path):
            pass
        refused.append(caught)

    with locked(tmp_path):
        with locked(tmp_path):
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
        assert (tmp_path / LOCK).exists()
    assert refused
    assert not (tmp_path / LOCK).exists()


def test_without_locks_of_the_system_the_named_process_counts(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(lock, "fcntl", None)
    with locked(tmp_path):
        about = json.loads((tmp_path / LOCK).read_text())
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    for pid, host, free in [
        (int(gone.stdout), about["host"], True),
        (int(gone.stdout), "elsewhere", False),
        (os.getppid(), about["host"], False),
        (None, about["host"], False),  # who knows
    ]:
        (tmp_path / LOCK).write_text(json.dumps({**about, "pid": pid, "host": host}))
        if free:
            with locked(tmp_path):
                assert json.loads((tmp_path / LOCK).read_text())["pid"] == os.getpid()
        else:
            with pytest.raises(ValueError, match=f"process {pid} on {host} since"), locked(tmp_path):
                pass


def test_without_locks_of_the_system_a_process_of_somebody_else_counts(tmp_path: Path, monkeypatch) -> None:
    def not_ours(pid: int, number: int) -> None:
        raise PermissionError(pid)

    monkeypatch.setattr(lock, "fcntl", None)
    with locked(tmp_path):
        about = (tmp_path / LOCK).read_text()
    (tmp_path / LOCK).write_text(about)
    monkeypatch.setattr(os, "kill", not_ours)
    with pytest.raises(ValueError, match=f"process {os.getpid()} on"), locked(tmp_path):
        pass


def test_the_lock_is_free_after_an_interruption(tmp_path: Path) -> None:
    run = start(tmp_path / "run", "hierarchy", HierarchySettings(epochs=4), FAMILY)
    with pytest.raises(Interrupted):
        run.train(reporter=StopAt(2))
    assert not (run.folder / LOCK).exists()
    assert run.train(resume=True).epochs == 4
