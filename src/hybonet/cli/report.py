"""``hybonet report``: finished runs side by side."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from hybonet.cli.app import app, clean_errors

_EXAMPLES = """
**Examples**

`hybonet report runs/umls-*` compares runs; those that differ only in the seed become one row, mean ± std.

`hybonet report runs/umls-* runs/nations-* --format markdown` gives a table for a page.

`hybonet report docs/results/records/kg` reads stored records.
"""


@app.command(epilog=_EXAMPLES)
def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, record files, or folders of record files.")],
    form: Annotated[
        Literal["table", "markdown", "json"], typer.Option("--format", help="How the report is written.")
    ] = "table",
) -> None:
    """Metrics of finished runs side by side, from their records alone."""
    with clean_errors():
        from rich.console import Console

        from hybonet.reporting.run_report import (
            NOTE,
            experiments,
            load_records,
            markdown_table,
            report_rows,
            report_table,
        )

        found = experiments(load_records(runs))
        if form == "json":
            typer.echo(json.dumps([asdict(each) for each in found], indent=1))
        elif form == "markdown":
            typer.echo(markdown_table(*report_rows(found)))
        else:
            console = Console(highlight=False)
            console.print(report_table(found))
            console.print(NOTE, style="dim")
