"""``hybonet plot``: the pictures of knowledge-graph and hierarchy runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from hybonet.cli import verbs
from hybonet.cli.app import clean_errors
from hybonet.cli.options import PicturesFolder, Run

_KG_EXAMPLES = """
**Examples**

`hybonet plot runs/wordnet` draws everything into the run's own folder.

`hybonet plot runs/wordnet --hierarchy hypernym --hierarchy instance_hypernym` takes two relations for the hierarchy.

`hybonet plot runs/mine --output pictures` draws elsewhere.
"""
_HIERARCHY_EXAMPLES = """
**Example**

`hybonet plot runs/mammals` draws a run of `hybonet train hierarchy`.
"""


@verbs.plot.of("kg", epilog=_KG_EXAMPLES)
def plot_knowledge_graph(
    run: Run,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(
            help="Relation, from child to parent, to draw the hierarchy by. May be repeated.",
            show_default="the largest relation with many heads to a tail",
        ),
    ] = None,
    output: PicturesFolder = None,
) -> None:
    """Draw the Poincaré disk (PNG, and an HTML page to search and move in), the points, curves and metrics."""
    with clean_errors():
        from hybonet.tasks.knowledge_graph import pictures as kg_pictures

        show_drawn(lambda: kg_pictures.draw_run(run, output or run, hierarchy=hierarchy))


@verbs.plot.of("hierarchy", epilog=_HIERARCHY_EXAMPLES)
def plot_hierarchy(run: Run, output: PicturesFolder = None) -> None:
    """Draw the hierarchy on the Poincaré disk (PNG, and an HTML page to search and move in) and the curves."""
    with clean_errors():
        from hybonet.tasks.hierarchy import pictures as hierarchy_pictures

        show_drawn(lambda: hierarchy_pictures.draw_run(run, output or run))


def show_drawn(draw: Callable[[], list[Path]]) -> None:
    """Draw, if matplotlib is there, and name the files."""
    from hybonet.reporting.disk import require_matplotlib

    require_matplotlib()
    for path in draw():
        typer.echo(str(path))
