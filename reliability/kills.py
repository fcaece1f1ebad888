"""Trainings that are killed, run out of disk, lose a process, or meet another one in their folder."""

from __future__ import annotations

import os
import shutil
import signal
import socket
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

from hybonet.tasks.run import Run, start
from hybonet.training.history import read_history
from reliability.children import Child, Outcome
from reliability.moments import WRITES
from reliability.runs import CASES, ONE_A_TASK, Case, Wrong, chosen, expect, lazily

#: Averages need files of their own, and several checkpoints are kept.
_MORE_FILES = ("average=2", "keep=2")


class Kills:
    """Killed at a moment, and perhaps again when it goes on; then it ends as the straight run."""

    def __init__(self, scratch: Path) -> None:
        self.scratch, self.case = (
            scratch,
            lazily(lambda name: Case(name, scratch / name.replace(" ", "-"), *_MORE_FILES)),
        )

    def __call__(self, number: int) -> Counter[str]:
        random, case = Random(number), self.case([*CASES][number % len(CASES)])
        folder, counts = case.scratch / "killed", Counter[str]()
        for _ in range(random.choice((1, 1, 2))):
            ended = expect(case.child(folder, **chosen(case.moments, random)).wait(), "killed", "done")
            if ended.kind == "killed":
                counts[f"killed: {ended.value}"] += 1
        expect(case.child(folder).wait(), "done")
        case.compare(folder)
        _remove(folder)
        return counts


class FullDisks:
    """A disk that is full from a write on, until there is room again: a task and a write at a time."""

    def __init__(self, scratch: Path) -> None:
        self.case = lazily(lambda name: Case(name, scratch / name.replace(" ", "-"), *_MORE_FILES))

    def __call__(self, number: int) -> Counter[str]:
        case, at = self.case(ONE_A_TASK[number % len(ONE_A_TASK)]), 1 + number // len(ONE_A_TASK)
        if at > sum(case.moments[kind] for kind in WRITES):
            return Counter()
        folder = case.scratch / "full"
        ended = expect(case.child(folder, at=at, kinds=WRITES, harm="full").wait(), "refused")
        if ended.file is None or not Path(ended.file).is_relative_to(case.scratch):
            raise Wrong(f"{case.name}: the full disk names {ended.file}: {ended.value}")
        expect(case.child(folder).wait(), "done")
        case.compare(folder)
        _remove(folder)
        return Counter({"named, then finished": 1})


class Processes:
    """Of two processes that train together one is killed, or stops as if it hung; both are started again."""

    def __init__(self, scratch: Path) -> None:
        names = ("hierarchy", "kg hybonet", "translation hybonet")
        self.names, self.case = (
            names,
            lazily(lambda name: Case(name, scratch / name.replace(" ", "-"), "rank_timeout=60")),
        )

    @cache  # noqa: B019 - lives as long as the command
    def _straight(self, name: str) -> tuple[Path, list[Counter[str]]]:
        case = self.case(name)
        start(case.scratch / "straight", case.spec, case.settings, case.data)
        return case.scratch / "straight", [each.value for each in self._finished(case, case.scratch / "straight", at=0)]

    def _finished(self, case: Case, folder: Path, **moment: object) -> list[Outcome]:
        """Both go on to the end; again where gloo's listener aborted as connections were made (pytorch/gloo#514)."""
        for _ in range(4):
            ended = [each.wait() for each in self._both(case, folder, of_0=moment, of_1=moment)]
            if all(each.kind != "aborted" for each in ended):
                break
        return [expect(each, "done") for each in ended]

    def _both(self, case: Case, folder: Path, **moments: dict[str, object]) -> list[Child]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        common = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "GLOO_SOCKET_IFNAME": "lo"}
        return [
            case.child(folder, {**common, "RANK": str(rank)}, **moments.get(f"of_{rank}", {}))  # type: ignore[arg-type]
            for rank in (0, 1)
        ]

    def __call__(self, number: int) -> Counter[str]:
        random, case = Random(number), self.case(self.names[number % len(self.names)])
        straight, counts = self._straight(case.name)
        rank, harm = random.randrange(2), "stop" if number % 5 == 4 else "kill"
        folder = case.scratch / "harmed"
        start(folder, case.spec, case.settings, case.data)
        children = self._both(case, folder, **{f"of_{rank}": {**chosen(counts[rank], random), "harm": harm}})
        other = children[1 - rank].wait(300)
        if harm == "stop":
            os.kill(children[rank].pid, signal.SIGKILL)
        harmed = expect(children[rank].wait(300), "killed", "done", "refused", "aborted")
        if other.kind not in ("done", "refused", "aborted"):
            raise Wrong(f"{case.name}: the other process is {other.kind}: {other.value}")
        if other.kind == "refused" and "ended or hangs" not in other.value:
            raise Wrong(f"{case.name}: {other.value}")
        self._finished(case, folder)
        case.compare(folder, straight)
        _remove(folder)
        if "aborted" in (other.kind, harmed.kind):
            return Counter({"gloo aborted by itself": 1})
        return Counter({f"{'killed' if harm == 'kill' else 'stopped'}: {harmed.value}": 1})


class Together:
    """Two processes start in one folder together: one trains, and the other is told who does, or finds it done."""

    def __init__(self, scratch: Path) -> None:
        self.case = lazily(lambda name: Case(name, scratch / name.replace(" ", "-")))

    def __call__(self, number: int) -> Counter[str]:
        case = self.case(ONE_A_TASK[number % len(ONE_A_TASK)])
        folder = case.scratch / "together"
        start(folder, case.spec, case.settings, case.data)
        read, write = os.pipe()

        def waiting(tell: object) -> Counter[str]:
            os.close(write)
            os.read(read, 1)  # until the parent closes its end
            return case.train(folder)

        children = [Child(waiting), Child(waiting)]
        os.close(write)
        ended: list[Outcome] = [each.wait() for each in children]
        os.close(read)
        refused = [each for each in ended if each.kind == "refused"]
        if len(refused) > 1 or any("is being trained by" not in each.value for each in refused):
            raise Wrong(f"{case.name}: {[each.value for each in refused]}")
        for each in ended:
            expect(each, "done", "refused")
        case.compare(folder)
        if [row["epoch"] for row in read_history(folder)] != [row["epoch"] for row in read_history(case.straight)]:
            raise Wrong(f"{case.name}: the history has lines of two")
        Run(folder)
        _remove(folder)
        return Counter({"one was refused" if refused else "one after the other": 1})


def _remove(folder: Path) -> None:
    for path in folder.parent.glob(f".{folder.name}.*"):  # what a kill before the first file left beside it
        shutil.rmtree(path)
    shutil.rmtree(folder)
