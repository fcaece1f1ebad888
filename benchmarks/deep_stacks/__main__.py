"""``python -m benchmarks.deep_stacks``: measure what the page of deep stacks shows, and make the page.

Cells are stored as they finish, with seed, commit, settings and processor time; a second call goes on where one ended.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import torch

from benchmarks.deep_stacks import page
from benchmarks.deep_stacks.cells import TOPICS, is_done, measure
from benchmarks.environment import environment

RECORD = Path(__file__).parent.parent / "results" / "deep_stacks.json"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.deep_stacks", description=__doc__)
    parser.add_argument("--only", choices=TOPICS, action="append", help="measure one topic (may be repeated)")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no cell after so long")
    parser.add_argument("--page", action="store_true", help="measure nothing, make the page of what is stored")
    parser.add_argument("--record", type=Path, default=RECORD)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    record: list[dict[str, Any]] = json.loads(arguments.record.read_text()) if arguments.record.exists() else []
    begin, here = time.monotonic(), environment()
    for topic in [] if arguments.page else arguments.only or TOPICS:
        for cell in TOPICS[topic](record):  # which may look at what has been measured so far
            if is_done(cell, record):
                continue
            if time.monotonic() - begin > 60 * arguments.minutes:
                break
            found = measure(cell)
            record.append({**cell, **found, **here})
            write(arguments.record, record)
            print(
                {
                    **cell,
                    **{
                        name: part
                        for name, part in found.items()
                        if name in ("loss", "map", "radius", "worst_loss", "seconds")
                    },
                },
                flush=True,
            )
    if arguments.record == RECORD:
        page.write(record)


def write(path: Path, record: list[dict[str, Any]]) -> None:
    """The record, a line for each cell."""
    lines = ",\n".join(json.dumps(cell, ensure_ascii=False, separators=(",", ":")) for cell in record)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
