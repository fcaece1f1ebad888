"""``hybonet report``: finished runs side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from hybonet.cli.answers import check_output, write_text
from hybonet.cli.app import app, clean_errors
from hybonet.cli.options import Overwrite
from hybonet.tasks.base import headline_of, specs

_EXAMPLES = """
**Examples**

`hybonet report runs/umls-*` compares runs; those that differ only in the seed become one row, mean ± std.

`hybonet report runs --format markdown` gives tables for a page, one for each task, of all runs in a folder.

`hybonet report docs/results/records/kg` reads stored records.
"""


@app.command(epilog=_EXAMPLES)
def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, record files, or folders of either.")],
    form: Annotated[
        Literal["table", "markdown", "json"], typer.Option("--format", help="How the report is written.")
    ] = "table",
    as_json: Annotated[bool, typer.Option("--json", help="Short for --format json.")] = False,
    output: Annotated[Path | None, typer.Option(help="Write to this file instead of the terminal.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Metrics of finished runs of any task side by side, from their records alone."""
    with clean_errors():
        check_output(output, overwrite=overwrite, inputs={f"run {run}": run for run in runs})
        from hybonet.reporting.console import Console
        from hybonet.reporting.run_report import (
            NOTE,
            by_kind,
            experiments,
            load_records,
            markdown_table,
            report_rows,
            report_table,
        )
        from hybonet.tasks.run import renewed

        tasks = {name: spec.headline for name, spec in specs().items()}
        found = experiments(map(renewed, load_records(runs, tasks)), headline_of)
        kinds = by_kind(found)
        if as_json or form == "json":
            write_text(json.dumps([each.as_json() for each in found], indent=1), output)
        elif form == "markdown":
            tables = {title: markdown_table(*report_rows(rows)) for title, rows in kinds.items()}
            alone = len(tables) == 1
            texts = (text if alone else f"## {title}\n\n{text}" for title, text in tables.items())
            write_text("\n\n".join(texts), output)
        elif output is not None:
            raise ValueError("expected --format markdown or json for a file, got table; choose one")
        else:
            console = Console(highlight=False)
            for rows in kinds.values():
                console.print(report_table(rows, console.width))
                console.print(f"{rows[0].headline.note}\n", style="dim")
            console.print(NOTE, style="dim")
