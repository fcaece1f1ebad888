"""``hybonet demo``: a hierarchy embedded, measured and drawn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hybonet.cli.app import app, clean_errors

if TYPE_CHECKING:
    from hybonet.data import Hierarchy
    from hybonet.tasks.hierarchy_embedding import HierarchyEmbeddingConfig, TrainedHierarchy

_EXAMPLES = """
**Examples**

`hybonet demo` trains an embedding of WordNet's mammals and draws it; under half a minute on one core.

`hybonet demo --dim 6 --out runs/five-dimensions` uses five hyperbolic dimensions (six ambient coordinates).

`hybonet demo --hierarchy my_edges.csv --out runs/mine` takes your own hierarchy, one `child,parent` a line.

`hybonet demo --epochs 20 --no-plot --overwrite` is a quick run that replaces the last one.
"""


@app.command(epilog=_EXAMPLES)
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the run; it must be new or empty.")] = Path("runs/demo"),
    hierarchy: Annotated[
        str, typer.Option(help="A shipped hierarchy, or a .tsv or .csv file with one child and parent a line.")
    ] = "wordnet_mammals",
    epochs: Annotated[int | None, typer.Option(help="Passes over all pairs.", show_default="300")] = None,
    dim: Annotated[
        int | None,
        typer.Option(help="Ambient coordinates, time included; 3 is the hyperbolic plane.", show_default="3"),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all random numbers.", show_default="0")] = None,
    plot: Annotated[bool, typer.Option("--plot/--no-plot", help="Draw the Poincaré disk.")] = True,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier run in the same folder.")] = False,
) -> None:
    """Embed a hierarchy in hyperbolic space, measure how well distances give it back, and draw it."""
    given = {"epochs": epochs, "dim": dim, "seed": seed}
    with clean_errors(_one_line):
        _run_demo(out, hierarchy, {k: v for k, v in given.items() if v is not None}, plot=plot, overwrite=overwrite)


def _run_demo(out: Path, source: str, settings: dict[str, Any], *, plot: bool, overwrite: bool) -> None:
    import torch
    from rich.console import Console

    from hybonet.data import load_hierarchy
    from hybonet.reporting.disk import require_matplotlib
    from hybonet.reporting.tables import metrics_table, neighbours_table
    from hybonet.tasks.hierarchy_embedding import HierarchyEmbeddingConfig
    from hybonet.tasks.run_directory import PICTURE, new_run, write_run
    from hybonet.tasks.run_picture import draw_run

    # Steps this small gain nothing from more threads, and with one the numbers do not depend on the machine's cores.
    torch.set_num_threads(1)
    console = Console()
    config = HierarchyEmbeddingConfig(**settings)
    edges = load_hierarchy(source)
    if plot:
        require_matplotlib()
    with new_run(out, overwrite=overwrite) as staging:
        trained = _train_with_bar(config, edges, console)
        record = write_run(staging, config, edges, trained)
        if plot:
            with console.status("drawing"):
                draw_run(staging, staging / PICTURE)
    console.print(metrics_table(record))
    console.print(neighbours_table(trained.table.weight.detach(), edges, trained.table.manifold))
    console.print(f"{'Picture' if plot else 'Run'}: {out / PICTURE if plot else out}", soft_wrap=True, highlight=False)


def _train_with_bar(config: HierarchyEmbeddingConfig, hierarchy: Hierarchy, console: object) -> TrainedHierarchy:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from hybonet.tasks.hierarchy_embedding import Progress as Report
    from hybonet.tasks.hierarchy_embedding import train

    columns = (
        TextColumn("epoch"),
        MofNCompleteColumn(),
        BarColumn(),
        TextColumn("loss {task.fields[loss]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=console) as bar:  # type: ignore[arg-type]
        task = bar.add_task("", total=config.epochs, loss="-")

        def show(report: Report) -> None:
            bar.update(task, completed=report.epoch, loss=f"{report.loss:.3f}")

        return train(config, hierarchy, show)


def _one_line(error: Exception) -> str:
    """A pydantic error lists every bad setting on lines of its own; the terminal gets them in one."""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return str(error)
    from hybonet.tasks.hierarchy_embedding import HierarchyEmbeddingConfig

    lines = []
    for item in error.errors():
        setting = ".".join(map(str, item["loc"]))
        meaning = HierarchyEmbeddingConfig.model_fields[setting].description
        lines.append(f"--{setting}: {item['msg']}, got {item['input']!r} ({meaning})")
    return "; ".join(lines)
