"""Tables, heads and optimiser steps of another version of this repository and of this one, in turns.

    git worktree add /tmp/before 4b85991
    python -m benchmarks.before_after /tmp/before --json benchmarks/results/before_after.json

Each version runs in a process of its own. Every round has one run of every case in both; the record has medians of
processor time, and the largest amount of tensor memory that a case holds at once.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def cases() -> dict[str, Callable[[], Any]]:
    """What is measured, on the version that is imported."""
    import torch

    from hybonet.nn import LorentzDistanceHead, LorentzEmbedding
    from hybonet.optim import RiemannianAdam

    torch.manual_seed(0)

    def older(kind: type) -> dict[str, Any]:  # the paper's form is what all were before there were forms
        return {"form": "paper"} if "form" in inspect.signature(kind).parameters else {}

    def look_up(rows: int, size: int, count: int) -> Callable[[], Any]:
        table, index = LorentzEmbedding(rows, size, **older(LorentzEmbedding)), torch.randint(rows, (count,))
        gradient = torch.randn(count, size)
        return lambda: (table.zero_grad(), table(index).backward(gradient))

    def scores(size: int, classes: int, count: int) -> Callable[[], Any]:
        head, gradient = LorentzDistanceHead(size, classes, **older(LorentzDistanceHead)), torch.randn(count, classes)
        x = head.manifold.random_normal(count, size).requires_grad_()
        return lambda: (head.zero_grad(), head(x).backward(gradient))

    def step(rows: int, size: int, update: str, *, sparse: int = 0) -> Callable[[], Any]:
        table = LorentzEmbedding(rows, size, sparse=bool(sparse), **older(LorentzEmbedding))
        optimizer = RiemannianAdam(table, lr=1e-3, update=update)
        index = torch.randint(rows, (sparse or rows,))
        table(index).square().sum().backward()
        return optimizer.step

    def whole(rows: int, size: int, classes: int, count: int, update: str) -> Callable[[], Any]:
        table = LorentzEmbedding(rows, size, **older(LorentzEmbedding))
        head = LorentzDistanceHead(size, classes, **older(LorentzDistanceHead))
        index, labels = torch.randint(rows, (count,)), torch.randint(classes, (count,))
        optimizer = RiemannianAdam(torch.nn.ModuleList([table, head]), lr=1e-3, update=update)

        def train() -> None:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(head(table(index)), labels).backward()
            optimizer.step()

        return train

    return {
        "a step of all, exact Adam: 2,048 of 40,000 rows of 32, 1,000 classes": whole(40_000, 32, 1000, 2048, "exact"),
        "a step of all, exact Adam: 64 of 1,000 rows of 16, 20 classes": whole(1000, 16, 20, 64, "exact"),
        "a step of all, chart Adam: 64 of 1,000 rows of 16, 20 classes": whole(1000, 16, 20, 64, "chart"),
        "embedding: 8,192 of 40,000 rows of 32": look_up(40_000, 32, 8192),
        "embedding: 64 of 1,000 rows of 16": look_up(1000, 16, 64),
        "head: 512 points of 32, 10,000 classes": scores(32, 10_000, 512),
        "head: 64 points of 16, 20 classes": scores(16, 20, 64),
        "exact Adam: 40,000 rows of 32": step(40_000, 32, "exact"),
        "exact Adam: 1,000 rows of 16": step(1000, 16, "exact"),
        "chart Adam: 40,000 rows of 32": step(40_000, 32, "chart"),
        "exact Adam: 2,048 sparse of 40,000 rows": step(40_000, 32, "exact", sparse=2048),
    }


def serve() -> None:
    """Run the cases that are asked for on standard input."""
    import torch

    from benchmarks.timing import peak_mebibytes

    torch.set_num_threads(1)
    known = cases()
    for line in sys.stdin:
        what, name = json.loads(line)
        if what == "memory":
            answer = peak_mebibytes(known[name], lambda: None)
        else:
            count = 1 if what == "run" else 5
            start = time.process_time()
            for _ in range(count):
                known[name]()
            answer = 1e3 * (time.process_time() - start) / count
        print(json.dumps([list(known), answer] if what == "names" else answer), flush=True)


class Version:
    """A process that has imported one version."""

    def __init__(self, folder: Path) -> None:
        paths = {"PYTHONPATH": f"{folder / 'src'}{os.pathsep}{ROOT}", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "benchmarks.before_after", "--serve"]
        options: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **paths}, **options)

    def ask(self, what: str, name: str) -> Any:
        self.process.stdin.write(json.dumps([what, name]) + "\n")  # type: ignore[union-attr]
        self.process.stdin.flush()  # type: ignore[union-attr]
        return json.loads(self.process.stdout.readline())  # type: ignore[union-attr]


def measure(before: Path, rounds: int) -> list[dict[str, Any]]:
    versions = {"before": Version(before), "now": Version(ROOT)}
    names = list(cases())
    for version in versions.values():
        for name in names:
            version.ask("several", name)  # to warm up, and to compile loops
    times: dict[str, dict[str, list[float]]] = {name: {who: [] for who in versions} for name in names}
    for number in range(rounds):
        for name in names:
            for who in sorted(versions, reverse=bool(number % 2)):
                times[name][who].append(versions[who].ask("several", name))
    rows = []
    for name in names:
        memory = {who: version.ask("memory", name) for who, version in versions.items()}
        milliseconds = {who: statistics.median(times[name][who]) for who in versions}
        ratios = {
            "time": milliseconds["now"] / milliseconds["before"],
            "memory": memory["now"] / max(memory["before"], 1e-3),
        }
        rows.append({"case": name, "milliseconds": milliseconds, "mebibytes": memory, "ratio": ratios})
    for version in versions.values():
        version.process.terminate()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
        return
    from rich.console import Console
    from rich.table import Table

    from benchmarks.environment import environment

    rows = measure(arguments.before.resolve(), arguments.rounds)
    table = Table("case", "ms before", "ms now", "ratio", "MiB before", "MiB now", "ratio")
    for row in rows:
        cells = []
        for quantity, ratio in (("milliseconds", "time"), ("mebibytes", "memory")):
            cells += [f"{row[quantity]['before']:.3g}", f"{row[quantity]['now']:.3g}", f"{row['ratio'][ratio]:.2f}"]
        table.add_row(row["case"], *cells)
    Console(width=130).print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps({"environment": environment(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
