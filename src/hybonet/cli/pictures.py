"""``hybonet plot``: the pictures of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hybonet.cli.app import app, clean_errors

_EXAMPLES = """
**Examples**

`hybonet plot runs/wordnet` draws everything into the run's own folder.

`hybonet plot runs/wordnet --hierarchy hypernym --hierarchy instance_hypernym` takes two relations for the hierarchy.

`hybonet plot runs/mine --output pictures` draws elsewhere.
"""


@app.command(epilog=_EXAMPLES)
def plot(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(
            help="Relation from child to parent to draw the hierarchy by. May be repeated.",
            show_default="the largest relation with many heads to a tail",
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Folder for the pictures.", show_default="the run")] = None,
) -> None:
    """Draw a run: the Poincaré disk (PNG, and an HTML page to search and move in), its points, curves and metrics."""
    with clean_errors():
        from hybonet.reporting.disk import require_matplotlib
        from hybonet.tasks.kg_pictures import draw_run

        require_matplotlib()
        for path in draw_run(run, output or run, hierarchy=hierarchy):
            typer.echo(str(path))
