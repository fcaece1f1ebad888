"""``hybonet data`` and ``hybonet recipes``: what there is to work with."""

from __future__ import annotations

from typing import Annotated

import typer

from hybonet.cli.app import app, clean_errors

data_app = typer.Typer(help="Benchmark graphs: list them, fetch them, find them on disk.", no_args_is_help=True)
recipes_app = typer.Typer(help="Complete settings by name, the paper's among them.", no_args_is_help=True)
app.add_typer(data_app, name="data")
app.add_typer(recipes_app, name="recipes")


@data_app.command("list")
def list_data() -> None:
    """The graphs known by name: their size, licence and whether they are here."""
    from rich.console import Console
    from rich.table import Table

    from hybonet.data.benchmarks import BENCHMARKS
    from hybonet.data.catalog import find_dataset
    from hybonet.data.shipped_graph import load_shipped, shipped_graphs

    table = Table("name", "entities", "relations", "train / valid / test", "licence", "where")
    sizes = "{train:,} / {valid:,} / {test:,}"
    for name in shipped_graphs():
        counts = load_shipped(name).statistics()
        table.add_row(
            name,
            f"{counts['entities']:,}",
            str(counts["relations"]),
            sizes.format(**counts),
            "WordNet",
            "in the package",
        )
    for name, entry in BENCHMARKS.items():
        counts = dict(entry.statistics)
        where = find_dataset(name)
        table.add_row(
            name,
            f"{counts['entities']:,}",
            str(counts["relations"]),
            sizes.format(**counts),
            entry.licence,
            str(where) if where else f"not here: hybonet data fetch {name}",
        )
    Console().print(table)


@data_app.command("fetch")
def fetch(name: Annotated[str, typer.Argument(help="A name from `hybonet data list`.")]) -> None:
    """Download a graph to the cache, checking its checksums; an interrupted download goes on where it stopped."""
    with clean_errors():
        from hybonet.data.catalog import fetch_dataset

        typer.echo(str(fetch_dataset(name)))


@data_app.command("path")
def path(name: Annotated[str, typer.Argument(help="A name from `hybonet data list`.")]) -> None:
    """Where a graph lies on this machine."""
    with clean_errors():
        from hybonet.data.catalog import find_dataset

        found = find_dataset(name)
        if found is None:
            raise ValueError(f"{name} is not on this machine; fetch it with: hybonet data fetch {name}")
        typer.echo(str(found))


@recipes_app.command("list")
def list_recipes() -> None:
    """All recipes with the published figures they aim at."""
    from rich.console import Console
    from rich.table import Column, Table

    from hybonet.recipes import recipes

    table = Table(Column("recipe", no_wrap=True), "task", "data", "what", "published MRR")
    for each in recipes().values():
        published = f"{each.published['mrr']:.3f}" if each.published else ""
        table.add_row(each.name, each.task, each.data or "any", each.about, published)
    Console().print(table)


@recipes_app.command("show")
def show_recipe(name: Annotated[str, typer.Argument(help="A name from `hybonet recipes list`.")]) -> None:
    """Every setting of a recipe, as JSON; change any with `--set key=value`."""
    with clean_errors():
        from hybonet.recipes import recipe

        typer.echo(recipe(name).settings.model_dump_json(indent=2))
