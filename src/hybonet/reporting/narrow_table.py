"""Tables that fit a terminal of 80 columns: numbers stay whole, and long names are broken."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text


def narrow_table(
    names: Sequence[str], numbers: Sequence[str] = (), texts: Sequence[str] = (), *, title: str = ""
) -> Table:
    """An empty table with columns for names (left), then numbers (right, whole), then texts (wrapped).

    Example:
        >>> from hybonet.reporting.console import Console
        >>> table = narrow_table(["relation"], ["MRR"])
        >>> add_row(table, "/film/film/release_region", "0.123")
        >>> Console(width=20).print(table)
        relation         MRR
        ────────────────────
        /film/film/re  0.123
        lease_region
        >>> Console(width=40).print(narrow_table(["split"], ["MRR"], title="a title wider than the columns"))
        a title wider than the columns
        split                      MRR
        ──────────────────────────────
    """
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), title_justify="left")
    if title:  # as it is, brackets included; not broken to the width of the columns
        table.title = Text(title, style="table.title")
        table.min_width = max(map(len, title.splitlines()))
    for header in names:
        table.add_column(header)
    for header in numbers:
        table.add_column(header, justify="right", no_wrap=True)
    for header in texts:
        table.add_column(header)
    return table


def add_row(table: Table, *cells: str, style: str | None = None) -> None:
    """Add a row of cells as they are, brackets included."""
    table.add_row(*map(Text, cells), style=style)


def range_text(bounds: Sequence[float] | None) -> str:
    """An interval in few letters; nothing if there is none."""
    return "–".join(f"{value:.3f}"[1:] if 0 <= value < 0.9995 else f"{value:.2f}" for value in bounds or ())
