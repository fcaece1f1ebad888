"""An epoch on a graph of a million nodes and ten million edges, and the memory it takes.

    python -m benchmarks.graph_scale --json benchmarks/results/graph_scale.json

Graphs are made: ten edges per node, whose ends are drawn so that degrees follow a power law, 32 features, 4 classes
that features and neighbours tell of. Node classification by the real task and the one loop: batches of nodes, two
layers, neighbours sampled; then all nodes are placed and the test nodes measured. Every graph has a process of its own,
whose largest memory counts, the making of the graph included.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.child import in_child, peak_mebibytes
from benchmarks.environment import environment
from hybonet.data.graphs.graph_data import GraphData, numbered_nodes
from hybonet.recipes import recipe
from hybonet.tasks.graph.task import GraphLearningTask
from hybonet.training import override

SIZES = (100_000, 1_000_000)
EDGES_A_NODE, FEATURES, CLASSES = 10, 32, 4
#: Bound on the largest graph's memory.
MEBIBYTES = 8 * 1024


def synthetic_graph(nodes: int) -> GraphData:
    """Degrees that fall with the power 1/2 of a node's rank, most edges inside a class, features around its centre."""
    generator = torch.Generator().manual_seed(0)
    classes = torch.randint(CLASSES, (nodes,), generator=generator)
    order = classes.argsort(stable=True)  # nodes of a class side by side
    first = torch.rand(EDGES_A_NODE * nodes, generator=generator).square().mul(nodes).long()
    near = (first + torch.randn(len(first), generator=generator).mul(nodes / 20).long()).remainder(nodes)
    pairs = torch.stack((order[first], order[near]), dim=1)
    centres = torch.randn(CLASSES, FEATURES, generator=generator)
    features = torch.randn(nodes, FEATURES, generator=generator).mul_(2.0).add_(centres[classes]).mul_(0.2)
    return GraphData.build(
        numbered_nodes(nodes),
        pairs,
        features=features,
        labels=classes,
        classes=tuple(map(str, range(CLASSES))),
        source="synthetic",
    )


def measure(nodes: int) -> dict[str, Any]:
    """Train an epoch on a synthetic graph."""
    start = time.perf_counter()
    graph = synthetic_graph(nodes)
    settings = override(recipe("graph-large-nc").settings, ["batch_size=4096", "fan_out=8", "dropout=0"])
    task = GraphLearningTask(settings, graph)
    ready = time.perf_counter()
    torch.manual_seed(0)
    model = task.build_model()
    optimizer = task.build_optimizer(model)
    for batch in task.batches(0, 0):
        task.loss(model, batch).backward()
        optimizer.step()
        optimizer.zero_grad()
    trained = time.perf_counter()
    test = task.measure(model.eval(), "test")["test"]
    return {
        "nodes": nodes,
        "edges": len(graph.edges),
        "training_nodes": task.train_size,
        "steps": task.batches_per_epoch(),
        "preparation_seconds": ready - start,
        "epoch_seconds": trained - ready,
        "evaluation_seconds": time.perf_counter() - trained,
        "test_accuracy": test["accuracy"],
        "peak_mebibytes": peak_mebibytes(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--nodes", type=int, action="append", help="sizes of the graphs; several by default")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    rows = [in_child(measure, nodes, threads=arguments.threads) for nodes in arguments.nodes or SIZES]
    table = Table("nodes", "edges", "steps", "epoch, s", "evaluation, s", "test accuracy", "peak memory, MiB")
    for row in rows:
        table.add_row(
            f"{row['nodes']:,}", f"{row['edges']:,}", f"{row['steps']:,}", f"{row['epoch_seconds']:.0f}",
            f"{row['evaluation_seconds']:.0f}", f"{row['test_accuracy']:.3f}", f"{row['peak_mebibytes']:,.0f}",
        )  # fmt: skip
    Console(width=120).print(table)
    if arguments.json:
        record = {**environment(), "target": {"peak_mebibytes": MEBIBYTES}, "rows": rows}
        arguments.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
