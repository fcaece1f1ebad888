"""Tables of entity-typing metrics and answers for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from hybonet.reporting.narrow_table import add_row, narrow_table

LEGEND = (
    "P: macro precision over mentions with a prediction. R: macro recall over mentions with a type. F1 of the two. "
    "types: predicted for a mention on the average."
)
_SCORES = ("P", "R", "F1", "types")


def scores_table(results: Mapping[str, Mapping[str, Any]], title: str) -> Table:
    """Precision, recall and F1 by level, one block for each result (validation, test).

    Example:
        >>> scores = {"precision": 0.5, "recall": 0.25, "f1": 1 / 3, "predicted": 1.5, "mentions": 8.0}
        >>> table = scores_table({"test": {"total": scores}}, "a run")
        >>> [column.header for column in table.columns]
        ['', 'level', 'mentions', 'P', 'R', 'F1', 'types']
    """
    table = narrow_table(["", "level"], ["mentions", *_SCORES], title=f"{title}\n")
    for name, measured in results.items():
        for place, (level, scores) in enumerate(measured.items()):
            cells = (f"{scores[key]:.3f}" for key in ("precision", "recall", "f1"))
            label = "" if place else name
            style = None if place else "bold"
            mentions = f"{scores['mentions']:.0f}"
            add_row(table, label, level, mentions, *cells, f"{scores['predicted']:.1f}", style=style)
    return table


def record_table(record: Mapping[str, Any]) -> Table:
    """The record of a run: validation and test at one half, and with the threshold chosen on validation."""
    data, settings = record["data"], record["settings"]
    results: dict[str, Mapping[str, Any]] = {}
    for split, name in (("valid", "validation"), ("test", "test")):
        if split in record:
            results[name] = record[split]
            calibrated = dict(record[f"{split}_calibrated"])
            results[f"{name}, p > {calibrated.pop('threshold'):g}"] = calibrated
    types = sum(data["types"].values())
    title = (
        f"{data['source']}: {data['train']:,} mentions, {types:,} types\n{settings['model']}, dim {settings['dim']}, "
        f"{record['parameters']:,} parameters, best epoch {record['best_epoch']} of {record['epochs']}, "
        f"{record['seconds']:.0f} s"
    )
    return scores_table(results, title)


def answers_table(sentence: str, answers: Sequence[Mapping[str, Any]]) -> Table:
    """Ranked types of one mention."""
    table = narrow_table(["", "type", "level"], ["probability"], ["predicted"], title=sentence)
    for rank, answer in enumerate(answers, 1):
        predicted = "yes" if answer["predicted"] else ""
        add_row(table, str(rank), answer["type"], answer["level"], f"{answer['probability']:.3f}", predicted)
    return table
