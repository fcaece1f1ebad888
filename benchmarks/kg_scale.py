"""What a training triple costs, and how much memory a training takes, from WN18RR to a million entities.

    python -m benchmarks.kg_scale --json benchmarks/results/kg_scale.json
    python -m benchmarks.kg_scale --entities 1000000 --whole-epoch

Graphs are made: 100 relations, 10 triples per entity, heads and tails drawn so that degrees follow a power law. The
settings are those meant for graphs of this size, the same for all: 32 coordinates, softmax against a pool of 2,000
random tails, sparse updates, Adam in the chart. Every graph is trained in a process of its own, by the real task, step
by step; some steps are timed, the median is given a triple (a triple read backwards is one more), of the fastest of
some rounds in which the graphs take turns. Memory is the largest that the process ever held, the making of the graph
included.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.child import in_child, peak_mebibytes
from benchmarks.environment import environment
from benchmarks.kg_steps import Steps
from hybonet.data import load_knowledge_graph
from hybonet.data.triples.triple_data import TripleData
from hybonet.data.vocabulary import Vocabulary
from hybonet.tasks.knowledge_graph.task import KnowledgeGraphSettings

SIZES = (40_000, 100_000, 300_000, 1_000_000)
RELATIONS, TRIPLES_AN_ENTITY, VALID = 100, 10, 1000
SETTINGS = KnowledgeGraphSettings(
    dim=32,
    batch_size=1000,
    negative_sampling="shared",
    negatives=2000,
    loss="softmax",
    sparse_updates=True,
    optimizer="chart",
)
#: Bounds on the largest graph: memory, and cost of a triple against WN18RR's.
MEBIBYTES, TIMES_WN18RR = 6 * 1024, 1.5


def synthetic_graph(entities: int) -> TripleData:
    """A graph whose degrees fall with the power 2/3 of an entity's rank."""
    generator = torch.Generator().manual_seed(0)
    triples = torch.empty(TRIPLES_AN_ENTITY * entities, 3, dtype=torch.long)
    for column in (0, 2):
        triples[:, column] = torch.rand(len(triples), generator=generator).pow_(3).mul_(entities)
    triples[:, 1] = torch.rand(len(triples), generator=generator).pow_(3).mul_(RELATIONS)
    names = Vocabulary(tuple(map(str, range(entities))))
    relations = Vocabulary(tuple(map(str, range(RELATIONS))), kind="relation")
    return TripleData(names, relations, triples[VALID:], triples[:VALID], triples[:0], source="synthetic")


def measure(entities: int | None, steps: int | None) -> dict[str, Any]:
    """Train on a synthetic graph, or WN18RR for None; all of an epoch's steps for None."""
    data = load_knowledge_graph("WN18RR") if entities is None else synthetic_graph(entities)
    training = Steps(SETTINGS, data)
    training.seconds(10)
    start = time.perf_counter()
    times = training.seconds(training.task.batches_per_epoch() if steps is None else steps)
    seconds = time.perf_counter() - start
    return {
        "graph": "WN18RR" if entities is None else "synthetic",
        "entities": data.num_entities,
        "relations": data.num_relations,
        "triples": len(data.train),
        "steps_an_epoch": training.task.batches_per_epoch(),
        "steps_timed": len(times),
        "seconds_timed": seconds,
        "step_seconds": statistics.median(times),
        "microseconds_a_triple": 1e6 * statistics.median(times) / SETTINGS.batch_size,
        "peak_mebibytes": peak_mebibytes(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--entities", type=int, action="append", help="sizes of the graphs; several by default")
    parser.add_argument("--steps", type=int, default=200, help="timed for each graph")
    parser.add_argument("--whole-epoch", action="store_true", help="time all steps of an epoch of the largest graph")
    parser.add_argument("--rounds", type=int, default=3, help="how often the graphs take turns; the fastest counts")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    start = time.perf_counter()
    sizes: list[int | None] = [None, *(arguments.entities or SIZES)]
    largest = max(size for size in sizes if size)
    tries: dict[int | None, list[dict[str, Any]]] = {size: [] for size in sizes}
    for _ in range(arguments.rounds):
        for size, results in tries.items():
            whole = arguments.whole_epoch and size == largest
            results.append(in_child(measure, size, None if whole else arguments.steps, threads=arguments.threads))
            print(
                f"{results[-1]['entities']:,} entities: {results[-1]['microseconds_a_triple']:.1f} µs a triple",
                flush=True,
            )
    rows = [min(results, key=lambda row: row["step_seconds"]) for results in tries.values()]
    for row in rows:
        row["times_wn18rr"] = row["microseconds_a_triple"] / rows[0]["microseconds_a_triple"]
    record = {
        **environment(),
        "seconds": round(time.perf_counter() - start, 1),
        "settings": SETTINGS.model_dump(include={"dim", "batch_size", "candidates", "negatives", "loss"}),
        "target": {"peak_mebibytes": MEBIBYTES, "times_wn18rr": TIMES_WN18RR},
        "rows": rows,
    }
    table = Table("graph", "entities", "triples", "steps timed", "µs a triple", "of WN18RR", "peak memory, MiB")
    for row in rows:
        table.add_row(
            row["graph"], f"{row['entities']:,}", f"{row['triples']:,}", f"{row['steps_timed']:,}",
            f"{row['microseconds_a_triple']:.1f}", f"{row['times_wn18rr']:.2f}×", f"{row['peak_mebibytes']:,.0f}",
        )  # fmt: skip
    Console(width=120).print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
