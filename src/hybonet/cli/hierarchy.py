"""``hybonet train hierarchy``: a hierarchy embedded, measured and drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hybonet.cli.app import clean_errors
from hybonet.cli.options import only_given
from hybonet.cli.training import (
    RECIPE_HELP,
    Changes,
    Out,
    Resume,
    TensorBoard,
    settings_of_run,
    train_app,
    train_in,
    use_threads,
)

Data = Annotated[
    str | None,
    typer.Option(
        help="A shipped hierarchy, or a .tsv or .csv file with one child and parent a line.",
        show_default="wordnet_mammals",
    ),
]
#: Steps this small gain nothing from more threads, and with one the numbers do not depend on the machine's cores.
Threads = Annotated[int, typer.Option(min=1, help="Processor threads.")]

_EXAMPLES = """
**Examples**

`hybonet train hierarchy --data wordnet_mammals --out runs/mammals` takes under half a minute on one core.

`hybonet train hierarchy --out runs/five-dimensions --set dim=6` takes five hyperbolic dimensions.

`hybonet train hierarchy --data my_edges.csv --out runs/mine` takes your own hierarchy, one `child,parent` a line.

`hybonet train hierarchy --out runs/mine --resume` goes on with a run that was stopped.
"""


@train_app.command("hierarchy", epilog=_EXAMPLES)
def train_hierarchy(
    out: Out,
    data: Data = None,
    recipe: Annotated[str | None, typer.Option(help=RECIPE_HELP, show_default="hierarchy")] = None,
    set_: Changes = None,
    resume: Resume = False,
    tensorboard: TensorBoard = False,
    threads: Threads = 1,
    plot: Annotated[bool, typer.Option("--plot/--no-plot", help="Draw the Poincaré disk and curves.")] = True,
) -> None:
    """Embed a hierarchy in hyperbolic space, measure how well distances give it back, and draw it.

    Ctrl-C stops at the next batch, saves, and says how to go on.
    """
    with clean_errors():
        use_threads(threads)
        embed(out, only_given(data=data, recipe=recipe), set_ or [], resume=resume, plot=plot, tensorboard=tensorboard)


def embed(
    out: Path,
    given: dict[str, str],
    changes: list[str],
    *,
    resume: bool = False,
    plot: bool = True,
    tensorboard: bool = False,
) -> None:
    """What ``hybonet train hierarchy`` does; ``given`` has its options about data and recipe."""
    from hybonet.data import load_hierarchy
    from hybonet.reporting.disk import require_matplotlib
    from hybonet.tasks.hierarchy.run import read_settings, start_run, train_run

    data, recipe = given.get("data", "wordnet_mammals"), given.get("recipe", "hierarchy")
    settings = settings_of_run(
        out, "hierarchy", resume=resume, read=read_settings, recipe=recipe, given=given, changes=changes
    )
    if plot:
        require_matplotlib()

    train_in(
        out,
        "hierarchy",
        settings,
        start=None if resume else lambda: start_run(out, settings, load_hierarchy(data), recipe=recipe),
        train=train_run,
        show=lambda: _show(out, plot),
        tensorboard=tensorboard,
    )


def _show(out: Path, plot: bool) -> None:
    from rich.console import Console

    from hybonet.tasks.hierarchy.pictures import draw_run
    from hybonet.tasks.hierarchy.report import metrics_table, neighbours_table
    from hybonet.tasks.hierarchy.run import read_run

    console, run = Console(), read_run(out)
    drawn = list[Path]()
    if plot:
        with console.status("drawing"):
            drawn = draw_run(out, out)
    console.print(metrics_table(run.record))
    console.print(neighbours_table(run.points, run.hierarchy, run.manifold))
    for what, path in [("Picture", picture) for picture in drawn] or [("Run", out)]:
        console.print(f"{what}: {path}", soft_wrap=True, highlight=False)
