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

`hybonet plot runs/mammals` draws a run of `hybonet train hierarchy`.
"""


@app.command(epilog=_EXAMPLES)
def plot(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(
            help="Relation of a knowledge graph, from child to parent, to draw the hierarchy by. May be repeated.",
            show_default="the largest relation with many heads to a tail",
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Folder for the pictures.", show_default="the run")] = None,
) -> None:
    """Draw a run: the Poincaré disk (PNG, and an HTML page to search and move in), its points, curves and metrics."""
    with clean_errors():
        from hybonet.reporting.disk import require_matplotlib

        require_matplotlib()
        for path in _draw(run, output or run, hierarchy):
            typer.echo(str(path))


def _draw(run: Path, folder: Path, hierarchy: list[str] | None) -> list[Path]:
    from hybonet.tasks import hierarchy_pictures, kg_pictures
    from hybonet.tasks.hierarchy_embedding import HierarchyTask
    from hybonet.tasks.run_folder import CONFIG, read_json

    if read_json(run, CONFIG).get("task") != HierarchyTask.name:
        return kg_pictures.draw_run(run, folder, hierarchy=hierarchy)
    if hierarchy:
        raise ValueError(
            f"expected no --hierarchy for a run of hybonet train hierarchy, got {hierarchy[0]!r}: it has no relations "
            "to choose from; leave it out"
        )
    return hierarchy_pictures.draw_run(run, folder)
