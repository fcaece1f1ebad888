"""Kill trainings at random moments, resume them, and compare the weights with those of a training left alone.

A round ends when a resumed training finishes; rounds go on until there were enough kills. The record counts the kills
by what had been saved, and how many finished models are the same file, byte for byte.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hybonet.tasks.provenance import provenance
from results.store import Record

SETTINGS = ("epochs=6", "validate_every=2", "checkpoint_seconds=0.5")
#: Data inside the package, by task, and settings beside those of all.
DATA = {"kg": ("wordnet", ()), "translation": ("toy", ("average=2",))}


def trial(task: str, wanted: int, threads: int) -> Record:
    """So many kills, and what came of them."""
    moments = random.Random(0)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        alone = Path(folder) / "alone"
        _finishes(task, alone, threads, None)
        duration = time.monotonic() - started
        expected = _digest(alone)
        kills: list[str] = []
        rounds = same = 0
        while len(kills) < wanted:
            out = Path(folder) / f"round-{rounds}"
            while True:  # until this training finishes; the last one is left alone once there were enough kills
                after = moments.uniform(0.05, 0.8) * duration if len(kills) < wanted else None
                if _finishes(task, out, threads, after):
                    break
                kills.append(_state(out))
                print(f"kill {len(kills)}: after {after:.1f} s, {kills[-1]}", flush=True)
            rounds += 1
            same += _digest(out) == expected
            print(f"{same} of {rounds} trainings ended with the same weights", flush=True)
    return {
        "task": "kill_trial",
        "trained": task,
        "settings": [*SETTINGS, *DATA[task][1]],
        "kills": len(kills),
        "kills_by_state": {state: kills.count(state) for state in sorted(set(kills))},
        "finished_trainings": rounds,
        "same_weights_bit_for_bit": same,
        "model_sha256": expected,
        "seconds": round(time.monotonic() - started, 1),
        **provenance(),
        "threads": threads,
    }


def summary(record: Record) -> str:
    """A record in a sentence, for the results pages."""
    states = ", ".join(f"{count} {state}" for state, count in record["kills_by_state"].items())
    return (
        f"{record['kills']} kills ({states}) over {record['finished_trainings']} trainings, of which\n"
        f"{record['same_weights_bit_for_bit']} ended with the same model file, byte for byte, as a training left alone."
    )


def _finishes(task: str, out: Path, threads: int, after: float | None) -> bool:
    """Start or resume a training, kill it after so many seconds; whether it finished before that."""
    command = [sys.executable, "-m", "hybonet.cli", "train", task, "--out", str(out), "--threads", str(threads)]
    if (out / "config.json").exists():
        command.append("--resume")
    else:
        data, settings = DATA[task]
        command += ["--data", data, *(part for each in (*SETTINGS, *settings) for part in ("--set", each))]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _, errors = process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        return False
    if process.returncode != 0:
        raise SystemExit(f"training failed:\n{errors.decode()}")
    return True


def _digest(out: Path) -> str:
    return hashlib.sha256((out / "model.safetensors").read_bytes()).hexdigest()


def _state(out: Path) -> str:
    """What a kill left behind."""
    if not (out / "config.json").exists():
        return "before the run folder was there"
    if not (out / "checkpoint.safetensors").exists():
        return "before the first checkpoint"
    return "after a checkpoint"
