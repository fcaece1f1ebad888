"""The best trials of a search side by side, for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from hybonet.reporting.narrow_table import add_row, narrow_table


def search_table(best: Sequence[Mapping[str, Any]], monitor: str, ranges: Mapping[str, str]) -> Table:
    """A column a trial, best first, and a row a setting with the range that was searched.

    Args:
        best: trials with ``number``, ``figure``, ``seconds``, ``epochs`` and ``values`` by setting, as texts.
        monitor: name of the figure.
        ranges: by setting, as texts.

    Example:
        >>> from rich.console import Console
        >>> trial = {"number": 4, "figure": 0.5, "seconds": 12.0, "epochs": 40, "values": {"lr": "0.0123"}}
        >>> Console(width=60).print(search_table([trial], "mrr", {"lr": "0.002:0.05:log"}))
        best trials     trial 4  searched
        ───────────────────────────────────────
        validation mrr     0.5000
        seconds                12
        epochs                 40
        lr                 0.0123  0.002:0.05:log
    """
    table = narrow_table(["best trials"], [f"trial {trial['number']}" for trial in best], ["searched"])
    add_row(table, f"validation {monitor}", *(f"{trial['figure']:.4f}" for trial in best), "", style="bold")
    add_row(table, "seconds", *(f"{trial['seconds']:.0f}" for trial in best), "")
    add_row(table, "epochs", *(str(trial["epochs"]) for trial in best), "")
    for name, searched in ranges.items():
        add_row(table, name, *(trial["values"][name] for trial in best), searched)
    return table
