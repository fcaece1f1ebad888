"""Tables of knowledge-graph metrics for the terminal."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from hybonet.reporting.narrow_table import add_row, narrow_table

_SHOWN = {
    "mrr": "MRR",
    "hits@1": "H@1",
    "hits@3": "H@3",
    "hits@10": "H@10",
    "mean_rank": "MR",
    "adjusted_mean_rank": "AMR",
}
#: What the headers mean.
LEGEND = (
    "MRR: mean of 1/rank. H@k: share of answers ranked k or better. MR: mean rank. AMR: mean rank divided by that of "
    "guessing, so 1 is chance and less is better."
)
PAPER_CODE = "paper's code: its protocol, where the head itself is no candidate; it is easier."


def _cells(metrics: dict[str, float]) -> list[str]:
    return [f"{metrics[name]:.1f}" if name == "mean_rank" else f"{metrics[name]:.3f}" for name in _SHOWN]


def metrics_table(record: dict[str, Any]) -> Table:
    """The record of a run in a few lines: validation, test, and test by the protocol of the paper's code."""
    data, settings = record["data"], record["settings"]
    table = narrow_table(
        [""],
        list(_SHOWN.values()),
        title=f"{data['source']}: {data['entities']:,} entities, {data['relations']} relations\n"
        f"{settings['dim']} ambient coordinates, best epoch {record['best_epoch']} of {record['epochs']}, "
        f"{record['seconds']:.0f} s",
    )
    add_row(table, "validation", *_cells(record["valid"]))
    if "test" in record:
        add_row(table, "test", *_cells(record["test"]["both"]), style="bold")
        add_row(table, "test (paper's code)", *_cells(record["test_paper_code"]), style="dim")
        if "test_one_direction" in record:
            add_row(table, "test (one direction)", *_cells(record["test_one_direction"]), style="dim")
    return table


def evaluation_tables(result: dict[str, Any]) -> list[Table]:
    """An evaluation in full: overall and by direction, by kind of relation, by relation (most triples first)."""
    numbers = ["asked", *_SHOWN.values()]
    title = f"{result['split']}, {result['protocol']} protocol, ties {result['ties']}"
    if result.get("inverse_weight"):
        title += f", inverse weight {result['inverse_weight']:g} (power {result['inverse_power']:g})"
    overall = narrow_table(["questions"], numbers, title=title)
    for name in ("both", "tails", "heads"):
        add_row(overall, name, f"{result[name]['count']:.0f}", *_cells(result[name]))
    kinds = narrow_table(["kind"], numbers)
    for name, metrics in result["by_category"].items():
        add_row(kinds, name, f"{metrics['count']:.0f}", *_cells(metrics))
    relations = narrow_table(["relation"], ["kind", *numbers])
    for name, metrics in sorted(result["by_relation"].items(), key=lambda item: -item[1]["count"]):
        add_row(relations, name, metrics["category"], f"{metrics['count']:.0f}", *_cells(metrics))
    return [overall, kinds, relations]


def examples_table(rows: list[tuple[str, list[tuple[str, float | None, bool]], tuple[str, int]]]) -> Table:
    """Questions with their best answers (name, probability, whether true) and the held-out answer with its rank."""
    table = narrow_table(["question"], [], ["best answers, ✓ true", "held out, its rank"])
    for question, answers, (truth, rank) in rows:
        line = Text()
        for name, probability, true in answers:
            line.append(", " if line else "")
            line.append(f"✓ {name}" if true else name, style="bold green" if true else "")
            if probability is not None:
                line.append(f" {probability:.2f}", style="dim")
        table.add_row(Text(question), line, Text(f"{truth}, {rank:,}"))
    return table
