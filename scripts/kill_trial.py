"""Kill trainings at random moments, resume them, and compare the weights with those of a training left alone.

    python scripts/kill_trial.py --kills 50 --record docs/results/records/kill_trial.json
    python scripts/kill_trial.py --task translation --kills 20 --record docs/results/records/kill_trial_translation.json

Every training is `hybonet train TASK` on the data inside the package. A trial ends when a resumed training finishes;
trials go on until there were enough kills. The record counts the kills by what had been saved, and says whether every
finished model is the same file, byte for byte.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from hybonet.tasks.provenance import provenance

SETTINGS = ["epochs=6", "validate_every=2", "checkpoint_seconds=0.5"]
#: Data inside the package, by task, and settings beside those of all.
DATA = {"kg": ("wordnet", []), "translation": ("toy", ["average=2"])}


def command(task: str, out: Path, *, resume: bool) -> list[str]:
    base = [sys.executable, "-m", "hybonet.cli", "train", task, "--out", str(out), "--threads", "1"]
    if resume:
        return [*base, "--resume"]
    data, settings = DATA[task]
    return [*base, "--data", data, *(part for setting in SETTINGS + settings for part in ("--set", setting))]


def digest(out: Path) -> str:
    return hashlib.sha256((out / "model.safetensors").read_bytes()).hexdigest()


def run_and_kill(task: str, out: Path, *, resume: bool, after: float | None) -> bool:
    """Start or resume; kill after so many seconds. True if the training finished before that."""
    process = subprocess.Popen(command(task, out, resume=resume), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _, errors = process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        return False
    if process.returncode != 0:
        raise SystemExit(f"training failed:\n{errors.decode()}")
    return True


def state_of(out: Path) -> str:
    """What a kill left behind."""
    if not (out / "config.json").exists():
        return "before the run folder was there"
    if not (out / "checkpoint.safetensors").exists():
        return "before the first checkpoint"
    return "after a checkpoint"


def summary(record: dict[str, Any]) -> str:
    """A record in a sentence, for the results pages."""
    states = ", ".join(f"{count} {state}" for state, count in record["kills_by_state"].items())
    return (
        f"{record['kills']} kills ({states}) over {record['finished_trainings']} trainings, of which\n"
        f"{record['same_weights_bit_for_bit']} ended with the same model file, byte for byte, as a training left alone."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", choices=list(DATA), default="kg")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--record", type=Path)
    arguments = parser.parse_args()
    moments = random.Random(arguments.seed)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        alone = Path(folder) / "alone"
        begun = time.monotonic()
        run_and_kill(arguments.task, alone, resume=False, after=None)
        duration = time.monotonic() - begun
        expected = digest(alone)
        kills: list[str] = []
        trials = same = 0
        while len(kills) < arguments.kills:
            out = Path(folder) / f"trial-{trials}"
            while True:  # until this training finishes; the last one is left alone once there were enough kills
                after = moments.uniform(0.05, 0.8) * duration if len(kills) < arguments.kills else None
                if run_and_kill(arguments.task, out, resume=(out / "config.json").exists(), after=after):
                    break
                kills.append(state_of(out))
                print(f"kill {len(kills)}: after {after:.1f} s, {kills[-1]}", flush=True)
            trials += 1
            same += digest(out) == expected
            print(f"trial {trials}: {'same weights' if digest(out) == expected else 'OTHER WEIGHTS'}", flush=True)
    result = {
        "task": "kill_trial",
        "trained": arguments.task,
        "settings": SETTINGS + DATA[arguments.task][1],
        "kills": len(kills),
        "kills_by_state": {state: kills.count(state) for state in sorted(set(kills))},
        "finished_trainings": trials,
        "same_weights_bit_for_bit": same,
        "model_sha256": expected,
        "seconds": round(time.monotonic() - started, 1),
        **provenance(),
    }
    print(json.dumps(result, indent=1))
    if arguments.record:
        arguments.record.parent.mkdir(parents=True, exist_ok=True)
        arguments.record.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if same != trials:
        raise SystemExit(f"{trials - same} of {trials} trainings ended with other weights")


if __name__ == "__main__":
    main()
