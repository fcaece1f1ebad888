"""``python -m benchmarks``: run all comparisons, print one table, store one record."""

from __future__ import annotations

import argparse
import importlib
import json
import time
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.environment import environment
from benchmarks.timing import Ratio

TOPICS = (
    "linear",
    "distances",
    "attention",
    "dropout",
    "encoder",
    "heads",
    "optimizers",
    "kg_answers",
    "graph_conv",
    "translation",
    "decoding",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--out", type=Path, help="directory for the record: speed.json, or named by topics")
    parser.add_argument("--only", choices=TOPICS, action="append", help="run one topic (may be repeated)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)

    start = time.perf_counter()
    rows: list[Ratio] = []
    for topic in arguments.only or TOPICS:
        print(f"measuring {topic} …", flush=True)
        rows += importlib.import_module(f"benchmarks.{topic}").run()
    record = {
        **environment(),
        "seconds": round(time.perf_counter() - start, 1),
        "method": "all sides interleaved in one process, after warm-up, median of repeats",
        "rows": [row.as_record() for row in rows],
    }
    show(rows)
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        name = "-".join(arguments.only or ["speed"])
        (arguments.out / f"{name}.json").write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")
        (arguments.out / f"{name}.md").write_text(markdown(rows, record))
        print(f"record: {arguments.out / name}.json")


def show(rows: list[Ratio]) -> None:
    table = Table("what", "case", "quantity", "ours", "peer", "ratio", "target", "met")
    for row in rows:
        table.add_row(*cells(row))
    Console(width=170).print(table)


def cells(row: Ratio) -> tuple[str, ...]:
    verdict = {True: "yes", False: "NO", None: ""}[row.met]
    suffix = "× faster" if row.faster_is == "peer/ours" else "×"
    figures = (f"{row.ours:.2f} {row.unit}", f"{row.peer:.2f} {row.unit}", f"{row.ratio:.2f}{suffix}")
    return (row.topic, row.case, row.quantity, *figures, row.target, verdict)


def markdown(rows: list[Ratio], record: dict) -> str:
    head = ("what", "case", "quantity", "ours", "peer", "ratio", "target", "met")
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    about = (
        f"Measured {record['date']} at commit {record['commit']}, torch {record['torch']}, {record['processor']}, "
        f"{record['threads']} threads: {record['method']}. Written by `python -m benchmarks`.\n"
    )
    return about + "\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
