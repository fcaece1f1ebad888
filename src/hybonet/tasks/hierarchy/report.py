"""What is shown of an embedded hierarchy: the figures of its training, and the nearest nodes of a few words."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text
from torch import Tensor

from hybonet.data import Hierarchy, display_name
from hybonet.geometry import Lorentz
from hybonet.reporting.headlines import Headline, Measure
from hybonet.reporting.labels import choose_labels

if TYPE_CHECKING:
    from hybonet.tasks.run import Run

headline = Headline(
    "Hierarchies",
    "All ancestors ranked among the other nodes (reconstruction: nothing is held out). rank: mean, best 1. MAP: mean "
    "average precision.",
    {"dim": ("settings", "dim"), "pairs": ("data", "pairs")},
    (
        Measure("rank", ("metrics", "mean_rank"), decimals=2),
        Measure("MAP", ("metrics", "mean_average_precision")),
    ),
)
_EXAMPLES = ("dog", "whale", "bat")


def metrics_table(record: dict[str, Any]) -> Table:
    """The measures of a run record, before and after training.

    Example:
        >>> measures = {"mean_rank": 1.5, "mean_average_precision": 0.75}
        >>> data = {"nodes": 3, "pairs": 2}
        >>> table = metrics_table({"metrics_at_start": measures, "metrics": measures, "data": data,
        ...     "settings": {"dim": 3}, "seed": 0, "seconds": 1.0})
        >>> list(table.columns[2].cells)
        ['1.50', '0.750', '3', '2', '3', '0', '1.0']
    """
    start, final, data = record["metrics_at_start"], record["metrics"], record["data"]
    start_from = {"layout": "a radial drawing of the tree", "random": "random points"}.get(
        record["settings"].get("start"), ""
    )
    title = "Reconstruction of the hierarchy from distances" + (
        f"; training starts from {start_from}" if start_from else ""
    )
    table = Table(title=title, title_justify="left")
    table.add_column("measure")
    table.add_column("at start", justify="right", style="dim")
    table.add_column("trained", justify="right", style="bold")
    table.add_row("mean rank (best 1)", f"{start['mean_rank']:.2f}", f"{final['mean_rank']:.2f}")
    precision = "mean_average_precision"
    table.add_row(
        "mean average precision (best 1)", f"{start[precision]:.3f}", f"{final[precision]:.3f}", end_section=True
    )
    for name, value in (
        ("nodes", f"{data['nodes']:,}"),
        ("pairs (node, ancestor)", f"{data['pairs']:,}"),
        ("ambient coordinates", str(record["settings"]["dim"])),
        ("seed", str(record["seed"])),
        ("seconds", f"{record['seconds']:.1f}"),
    ):
        table.add_row(name, "", value)
    return table


def neighbours_table(points: Tensor, hierarchy: Hierarchy, manifold: Lorentz, count: int = 6) -> Table:
    """The nearest nodes of a few words, ancestors marked with an arrow; ``points (nodes, d)``."""
    table = Table(title="Nearest nodes with their distances; ↑ marks ancestors", title_justify="left")
    table.add_column("node", style="bold")
    table.add_column("nearest")
    for node in _example_nodes(hierarchy):
        distances = manifold.dist(points[node], points)
        distances[node] = float("inf")
        line, ancestors = Text(), set(hierarchy.ancestors(node).tolist())
        for other in distances.argsort(stable=True)[:count].tolist():
            if distances[other].isinf():  # fewer nodes than asked for
                break
            line.append(", " if line else "")
            name = display_name(hierarchy.names[other])
            line.append(f"↑{name}" if other in ancestors else name, style="bold green" if other in ancestors else "")
            line.append(f" {distances[other].item():.1f}", style="dim")
        table.add_row(display_name(hierarchy.names[node]), line)
    return table


def _example_nodes(hierarchy: Hierarchy) -> list[int]:
    """Three nodes with ancestors: familiar animals if the hierarchy has them, else its most notable nodes."""
    known = [node for word in _EXAMPLES if (node := hierarchy.find(word)) is not None]
    candidates = dict.fromkeys([*known, *choose_labels(hierarchy, len(hierarchy))])
    return [node for node in candidates if hierarchy.depths[node] > 0][:3]


def next_command(run: Run) -> str:
    """How to see it."""
    return f"Draw it: hybonet plot {shlex.quote(str(run.folder))}"


def after_training(run: Run) -> Iterable[Any]:
    """What the terminal shows when a training is done."""
    from hybonet.tasks.hierarchy.predictor import HierarchyModel

    record, model = run.record, HierarchyModel.of_run(run)
    assert record is not None
    yield metrics_table(record)
    yield neighbours_table(model.points, model.hierarchy, model.manifold)
