"""Tables of links and classes for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from hybonet.reporting.narrow_table import add_row, narrow_table

_LINKS = {"roc_auc": "ROC AUC", "average_precision": "AP"}
_CLASSES = {"f1": "F1", "macro_f1": "macro F1", "accuracy": "accuracy"}


def _shown(metrics: Mapping[str, float]) -> dict[str, str]:
    return _LINKS if "roc_auc" in metrics else _CLASSES


def metrics_table(record: Mapping[str, Any]) -> Table:
    """The record of a run in a few lines."""
    data, settings, shown = record["data"], record["settings"], _shown(record["test"])
    table = narrow_table(
        [""],
        list(shown.values()),
        title=f"{data['source']}: {data['nodes']:,} nodes, {data['edges']:,} edges\n"
        f"{settings['model']}, {settings['dim']} dimensions per node, best epoch {record['best_epoch']} of "
        f"{record['epochs']}, {record['seconds']:.0f} s",
    )
    for part, title, style in (("valid", "validation", ""), ("test", "test", "bold")):
        add_row(table, title, *(f"{record[part][name]:.3f}" for name in shown), style=style)
    return table


def split_table(measured: Mapping[str, Mapping[str, float]]) -> Table:
    """Measures of some parts of a graph."""
    shown = _shown(next(iter(measured.values())))
    table = narrow_table(["part"], list(shown.values()))
    for part, metrics in measured.items():
        add_row(table, part, *(f"{metrics[name]:.4f}" for name in shown))
    return table


def legend(record: Mapping[str, Any]) -> str:
    """What the headers mean, and by which protocol the figures came about.

    Example:
        >>> legend({"task": "graph", "protocol": "standard", "measure": "micro F1", "test": {"f1": 1.0}})
        'F1: micro. Protocol standard.'
        >>> legend({"task": "graph", "protocol": "standard", "measure": "F1 of class infected", "test": {"f1": 1.0}})
        'F1: of class infected. Protocol standard.'
    """
    if "roc_auc" in record["test"]:
        text = "ROC AUC: how often a held-out edge is nearer than a pair without one. AP: average precision."
    else:
        text = f"F1: {record['measure'].removeprefix('F1 ').removesuffix(' F1')}."
    if record["protocol"] == "paper_code":
        return f"{text} Protocol paper_code: that of the published code, which leaks; compare with nothing else."
    return f"{text} Protocol standard."


def links_table(links: Sequence[Any], title: str) -> Table:
    """Links with their probabilities."""
    table = narrow_table(["", "node", "other"], ["probability"], ["in the graph"], title=title)
    for rank, link in enumerate(links, 1):
        add_row(table, str(rank), link.node, link.other, f"{link.probability:.3f}", "yes" if link.known else "")
    return table


def classes_table(answers: Sequence[Any]) -> Table:
    """Nodes with their most probable classes."""
    table = narrow_table(["node", "class"], ["probability"], ["second", "in the data"])
    for answer in answers:
        others = sorted(((share, name) for name, share in answer.probabilities.items()), reverse=True)
        second = f"{others[1][1]} ({others[1][0]:.3f})" if len(others) > 1 else ""
        add_row(table, answer.node, answer.predicted, f"{answer.probability:.3f}", second, answer.truth or "")
    return table
