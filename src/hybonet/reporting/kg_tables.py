"""Tables of knowledge-graph metrics for the terminal."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

_SHOWN = ("mrr", "hits@1", "hits@3", "hits@10", "mean_rank", "adjusted_mean_rank")


def _cells(metrics: dict[str, float]) -> list[str]:
    return [f"{metrics[name]:.1f}" if name == "mean_rank" else f"{metrics[name]:.3f}" for name in _SHOWN]


def metrics_table(record: dict[str, Any]) -> Table:
    """The record of a run in a few lines: validation, test, and test by the paper's released protocol."""
    data, settings = record["data"], record["settings"]
    table = Table(
        "",
        *_SHOWN,
        title=f"{data['source']}: {data['entities']:,} entities, {data['relations']} relations; {settings['dim']} "
        f"ambient coordinates, best epoch {record['best_epoch']} of {record['epochs']}, {record['seconds']:.0f} s",
        title_justify="left",
    )
    table.add_row("validation", *_cells(record["valid"]))
    if "test" in record:
        table.add_row("test", *_cells(record["test"]["both"]), style="bold")
        table.add_row("test, released protocol (easier)", *_cells(record["test_released_protocol"]), style="dim")
    return table


def evaluation_tables(result: dict[str, Any]) -> list[Table]:
    """An evaluation in full: overall and by direction, by kind of relation, by relation (most triples first)."""
    overall = Table(
        "", "questions", *_SHOWN, title=f"{result['split']}, {result['protocol']} protocol, ties {result['ties']}"
    )
    for name in ("both", "tails", "heads"):
        overall.add_row(name, f"{result[name]['count']:.0f}", *_cells(result[name]))
    kinds = Table("kind", "questions", *_SHOWN)
    for name, metrics in result["by_category"].items():
        kinds.add_row(name, f"{metrics['count']:.0f}", *_cells(metrics))
    relations = Table("relation", "kind", "questions", *_SHOWN)
    for name, metrics in sorted(result["by_relation"].items(), key=lambda item: -item[1]["count"]):
        relations.add_row(name, metrics["category"], f"{metrics['count']:.0f}", *_cells(metrics))
    return [overall, kinds, relations]


def examples_table(rows: list[tuple[str, list[tuple[str, float | None, bool]]]]) -> Table:
    """Questions with their best answers: name, probability, and whether it is true by the held-out triples."""
    table = Table(title="Questions that training did not see; ✓ true by the held-out triples", title_justify="left")
    table.add_column("question")
    table.add_column("best answers (probability)")
    for question, answers in rows:
        line = Text()
        for name, probability, true in answers:
            line.append(", " if line else "")
            line.append(f"✓ {name}" if true else name, style="bold green" if true else "")
            if probability is not None:
                line.append(f" {probability:.2f}", style="dim")
        table.add_row(question, line)
    return table
