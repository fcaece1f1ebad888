"""``hybonet demo``: something to see with one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hybonet.cli.app import app, clean_errors


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the run; it must be new or empty.")] = Path("runs/demo"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier run in the same folder.")] = False,
) -> None:
    """Embed WordNet's mammals in the hyperbolic plane, measure how well, and draw them.

    The same as `hybonet train hierarchy --data wordnet_mammals`.
    """
    with clean_errors():
        from hybonet.cli.hierarchy import embed
        from hybonet.cli.training import use_threads
        from hybonet.tasks.run_folder import holds_run

        if holds_run(out) and not overwrite:
            raise ValueError(
                f"expected a new or empty folder, but {str(out)!r} holds an earlier run; add --overwrite to replace "
                "it, or choose another --out"
            )
        use_threads(1)
        embed(out, "wordnet_mammals", "hierarchy", [], overwrite=overwrite)
