"""What is shown of models of graphs: figures of a training and of an evaluation, links and classes."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from hybonet.reporting.headlines import Headline, Measure
from hybonet.reporting.narrow_table import add_row, narrow_table, range_text

if TYPE_CHECKING:
    from hybonet.tasks.run import Run

_DETAILS = {
    "model": ("settings", "model"),
    "dim": ("settings", "dim"),
    "protocol": ("protocol",),
    "cases": ("test", "cases"),
}
_LEAK = "Protocol paper_code: that of the published code, which leaks; compare it with nothing else."
_ECE = "ECE: calibration error of probabilities."
_LINK_RUNS = Headline(
    "Links of graphs",
    f"Held-out edges against as many pairs without. AP: average precision. {_ECE} {_LEAK}",
    _DETAILS,
    (
        Measure("ROC AUC", ("test", "roc_auc")),
        Measure("AP", ("test", "average_precision")),
        Measure("ECE", ("test", "calibration", "ece")),
    ),
    Measure("valid AUC", ("valid", "roc_auc")),
)
_CLASS_RUNS = Headline(
    "Classes of nodes",
    f"Test nodes. F1: of the second class if there are two, else micro. {_ECE} {_LEAK}",
    _DETAILS,
    (
        Measure("F1", ("test", "f1")),
        Measure("macro F1", ("test", "macro_f1")),
        Measure("accuracy", ("test", "accuracy")),
        Measure("ECE", ("test", "calibration", "ece")),
    ),
    Measure("valid F1", ("valid", "f1")),
)
_ALL_IN_A_TABLE = 40
_LINKS = {"roc_auc": "ROC AUC", "average_precision": "AP"}
_CLASSES = {"f1": "F1", "macro_f1": "macro F1", "accuracy": "accuracy"}


def _shown(metrics: Mapping[str, Any]) -> dict[str, str]:
    return _LINKS if "roc_auc" in metrics else _CLASSES


def metrics_table(record: Mapping[str, Any]) -> Table:
    """The record of a run in a few lines."""
    data, settings, shown = record["data"], record["settings"], _shown(record["test"])
    table = narrow_table(
        [""],
        list(shown.values()),
        title=f"{data['source']}: {data['nodes']:,} nodes, {data['edges']:,} edges\n"
        f"{settings['model']}, {settings['dim']} dimensions per node, best epoch {record['best_epoch']} of "
        f"{record['epochs']}, {record['seconds']:.0f} s\n"
        f"{'edges' if record['settings']['task'] == 'lp' else 'nodes'} to train on, choose by and measure on: "
        f"{', '.join(f'{size:,}' for size in record['split'].values())}",
    )
    for part, title, style in (("valid", "validation", ""), ("test", "test", "bold")):
        add_row(table, title, *(f"{record[part][name]:.3f}" for name in shown), style=style)
    _add_interval(table, record["test"], shown)
    return table


def split_table(measured: Mapping[str, Mapping[str, Any]]) -> Table:
    """Measures of some parts of a graph."""
    shown = _shown(next(iter(measured.values())))
    table = narrow_table(["part"], ["cases", *shown.values(), "calibration error"])
    for part, metrics in measured.items():
        cells = (f"{metrics[name]:.4f}" for name in shown)
        add_row(table, part, f"{metrics['cases']:,}", *cells, f"{metrics['calibration']['ece']:.3f}")
        _add_interval(table, metrics, shown, "")
    return table


def _add_interval(table: Table, metrics: Mapping[str, Any], shown: Mapping[str, str], *before: str) -> None:
    """A row below the figures with where 95 % of the resampled ones lie; nothing of a record that has none."""
    if found := metrics.get("interval"):
        add_row(table, "  95 %", *before, *(range_text(found.get(name)) for name in shown), style="dim")


def legend(record: Mapping[str, Any]) -> str:
    """What the headers mean, and by which protocol the figures came about.

    Example:
        >>> legend({"task": "graph", "protocol": "standard", "measure": "micro F1", "test": {"f1": 1.0}})
        'F1: micro. 95 %: where that share of figures of resampled test sets lies. Protocol standard.'
    """
    if "roc_auc" in record["test"]:
        text = "ROC AUC: how often a held-out edge is nearer than a pair without one. AP: average precision."
    else:
        text = f"F1: {record['measure'].removeprefix('F1 ').removesuffix(' F1')}."
    text += " 95 %: where that share of figures of resampled test sets lies."
    if record["protocol"] == "paper_code":
        return f"{text} Protocol paper_code: that of the published code, which leaks; compare with nothing else."
    return f"{text} Protocol standard."


def links_table(links: Sequence[Any], title: str) -> Table:
    """Links with their probabilities."""
    table = narrow_table(["", "node", "other"], ["probability"], [""], title=title)
    for rank, link in enumerate(links, 1):
        add_row(table, str(rank), link.node, link.other, f"{link.probability:.3f}", link.verdict)
    return table


def classes_table(answers: Sequence[Any]) -> Table:
    """Nodes with their most probable classes."""
    table = narrow_table(["node", "class"], ["probability"], ["second", "in the data"])
    for answer in answers:
        others = sorted(((share, name) for name, share in answer.probabilities.items()), reverse=True)
        second = f"{others[1][1]} ({others[1][0]:.3f})" if len(others) > 1 else ""
        add_row(table, answer.node, answer.predicted, f"{answer.probability:.3f}", second, answer.truth or "")
    return table


def headline(record: Mapping[str, Any]) -> Headline:
    """What ``hybonet report`` shows of a record: links or classes."""
    return _CLASS_RUNS if _LINK_RUNS.measures[0].of(record) is None else _LINK_RUNS


def after_training(run: Run) -> Iterable[Any]:
    """What the terminal shows when a training is done."""
    record = run.record
    assert record is not None
    yield metrics_table(record)
    yield Text(legend(record), style="dim")


def next_command(run: Run) -> str:
    """A question to ask the model."""
    return f"Ask it: hybonet predict {shlex.quote(str(run.folder))} --node {shlex.quote(run.data.nodes[0])}"


def evaluation(measured: Mapping[str, Mapping[str, Any]], about: Mapping[str, Any]) -> Iterable[Any]:
    """Measures of some parts, and what they mean."""
    yield split_table(measured)
    yield Text(legend(about), style="dim")


def links_tables(found: Mapping[str, Sequence[Any]]) -> Iterable[Any]:
    """Links by node; those of no node are what the graph lacks."""
    for node, links in found.items():
        yield links_table(links, f"Links of {node}" if node else "Links that the graph lacks")
    yield Text("probability: of a link, where links and pairs without one are equally many")


def classes_tables(answers: Sequence[Any]) -> Iterable[Any]:
    """Classes of nodes, the first ones of many."""
    yield classes_table(answers[:_ALL_IN_A_TABLE])
    if len(answers) > _ALL_IN_A_TABLE:
        yield f"{len(answers) - _ALL_IN_A_TABLE:,} nodes more; --output classes.csv writes them all"
