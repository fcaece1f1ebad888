"""``hybonet data`` and ``hybonet recipes``: what there is to work with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hybonet.cli.app import app, clean_errors
from hybonet.cli.data_names import check_name

if TYPE_CHECKING:
    from rich.table import Table
#: What published figures are called.
_MEASURES = {"mrr": "MRR", "roc_auc": "AUC", "f1": "F1", "tokenized_bleu": "BLEU", "uuas": "UUAS"}

data_app = typer.Typer(
    help="Data by name: list, show, fetch and find it; make and measure your own graphs.", no_args_is_help=True
)
recipes_app = typer.Typer(help="Complete settings by name, the paper's among them.", no_args_is_help=True)
app.add_typer(data_app, name="data")
app.add_typer(recipes_app, name="recipes")


@data_app.command("list")
def list_data() -> None:
    """The data known by name: its size, licence and whether it is here."""
    with clean_errors():
        from rich.console import Console

        from hybonet.data.graphs.benchmarks import NETWORKS
        from hybonet.data.graphs.catalog import missing_files
        from hybonet.data.text.corpora import CORPORA, TOY, find_corpus, load_named_corpus
        from hybonet.data.triples.benchmarks import BENCHMARKS
        from hybonet.data.triples.catalog import find_dataset
        from hybonet.data.triples.shipped import load_shipped, shipped_graphs
        from hybonet.reporting.narrow_table import add_row, narrow_table

        counted = ("entities", "relations", "train", "valid", "test")
        table = narrow_table(["name"], counted, ["here"])
        licences: dict[str, list[str]] = {}
        for name in shipped_graphs():
            counts = load_shipped(name).statistics()
            add_row(table, name, *(f"{counts[part]:,}" for part in counted), "in the package")
            licences.setdefault("WordNet 3.0 licence", []).append(name)
        for name, entry in BENCHMARKS.items():
            here = "yes" if find_dataset(name) else "no"
            add_row(table, name, *(f"{entry.statistics[part]:,}" for part in counted), here)
            licences.setdefault(entry.licence, []).append(name)
        sizes = ("nodes", "edges", "features", "classes")
        networks = narrow_table(["name"], sizes, ["here"])
        for name, network in NETWORKS.items():
            missing = missing_files(name)
            here = "no" if missing is None else "without features" if missing else "yes"
            here = "generated" if network.generated else here
            add_row(networks, name, *(f"{network.statistics[part]:,}" for part in sizes), here)
            licences.setdefault(network.licence, []).append(name)
        pairs = ("train", "valid", "test")
        corpora = narrow_table(["name", "languages"], pairs, ["here"])
        toy = load_named_corpus(TOY)
        add_row(corpora, TOY, "-".join(toy.languages), *(f"{len(toy.splits[p]):,}" for p in pairs), "in the package")
        for name, corpus in CORPORA.items():
            here = "yes" if find_corpus(name) else "no"
            add_row(corpora, name, corpus.directions[0], *(f"{corpus.statistics[p]:,}" for p in pairs), here)
            licences.setdefault(corpus.licence, []).append(name)
        console = Console(highlight=False)
        console.print("Knowledge graphs")
        console.print(table)
        console.print("\nNetworks, for links and labels of nodes")
        console.print(networks)
        console.print("\nParallel text, for translation")
        console.print(corpora)
        console.print("\nTreebanks, for hybonet probe")
        console.print(_treebanks(licences))
        console.print("\nMentions, for entity typing")
        console.print(_mentions(licences))
        console.print(
            "\nhybonet data show NAME says more, path where it is; hybonet data fetch NAME downloads it.\nLicences:"
        )
        for licence, names in licences.items():
            console.print(f"  {', '.join(names)}: {licence}")


def _treebanks(licences: dict[str, list[str]]) -> Table:
    """Treebanks by name; their licences are added to those of the other data."""
    from hybonet.data.trees.treebanks import SPLITS, TOY, TREEBANKS, find_treebank, load_treebank
    from hybonet.reporting.narrow_table import add_row, narrow_table

    table = narrow_table(["name"], SPLITS, ["here"])
    counts = load_treebank(TOY).statistics()
    add_row(table, TOY, *(f"{counts[split]:,}" for split in SPLITS), "in the package")
    for name, entry in TREEBANKS.items():
        here = "yes" if find_treebank(name) else "no"
        add_row(table, name, *(f"{entry.statistics[split]:,}" for split in SPLITS), here)
        licences.setdefault(entry.licence, []).append(name)
    return table


def _mentions(licences: dict[str, list[str]]) -> Table:
    """Mentions by name; their licences are added to those of the other data."""
    from hybonet.data.mentions.loading import load_mentions
    from hybonet.data.mentions.mention_data import SPLITS
    from hybonet.data.mentions.named_sets import MENTION_SETS, SHIPPED, mentions_here
    from hybonet.reporting.narrow_table import add_row, narrow_table

    table = narrow_table(["name"], ["types", *SPLITS], ["here"])
    town = load_mentions(SHIPPED)
    counts = [len(town.types), *(len(town.split(split)) for split in SPLITS)]
    add_row(table, SHIPPED, *(f"{count:,}" for count in counts), "in the package")
    for name, entry in MENTION_SETS.items():
        here = "yes" if mentions_here(name) else "no"
        add_row(table, name, *(f"{entry.statistics[part]:,}" for part in ("types", *SPLITS)), here)
        licences.setdefault(entry.licence, []).append(name)
    return table


@data_app.command("fetch")
def fetch(name: Annotated[str, typer.Argument(help="A name from `hybonet data list`.")]) -> None:
    """Download data to the cache, checking its checksums; an interrupted download goes on where it stopped."""
    with clean_errors():
        from hybonet.data.graphs.benchmarks import NETWORKS
        from hybonet.data.graphs.catalog import fetch_network
        from hybonet.data.mentions.named_sets import MENTION_SETS, SHIPPED, find_mentions
        from hybonet.data.text.corpora import CORPORA, corpus_names, find_corpus, load_named_corpus
        from hybonet.data.trees.treebanks import fetch_treebank, published_name
        from hybonet.data.triples.catalog import fetch_dataset
        from hybonet.data.triples.shipped import shipped_graphs

        check_name(name)
        if name.casefold() in (*shipped_graphs(), SHIPPED):
            typer.echo(f"nothing to fetch: {name.casefold()} is inside the package; use it with --data {name}")
        elif name.casefold() in NETWORKS:
            typer.echo(str(fetch_network(name)))
        elif name.casefold() in MENTION_SETS:
            typer.echo(str(find_mentions(name.casefold())))  # says where to get what is not here
        elif treebank := published_name(name):
            typer.echo(str(fetch_treebank(treebank)))
        elif name.casefold() in corpus_names():
            load_named_corpus(name)  # says where to get what is not here
            typer.echo(str(find_corpus(name)) if name.casefold() in CORPORA else f"{name} is inside the package")
        else:
            typer.echo(str(fetch_dataset(name)))


@data_app.command("path")
def path(name: Annotated[str, typer.Argument(help="A name from `hybonet data list`.")]) -> None:
    """Where data lies on this machine: its folder, or its files inside the package."""
    with clean_errors():
        from hybonet.data.graphs.benchmarks import NETWORKS
        from hybonet.data.graphs.catalog import find_network
        from hybonet.data.mentions.named_sets import MENTION_SETS, SHIPPED, find_mentions, shipped_mentions
        from hybonet.data.text.corpora import CORPORA, corpus_names, find_corpus, load_named_corpus, toy_files
        from hybonet.data.trees.treebanks import find_treebank, published_name, toy_trees
        from hybonet.data.triples.catalog import find_dataset
        from hybonet.data.triples.shipped import shipped_files, shipped_graphs

        check_name(name)
        if name.casefold() in (*shipped_graphs(), SHIPPED):
            typer.echo(f"{name.casefold()} is inside the package; use it with --data {name}", err=True)
            files = shipped_mentions() if name.casefold() == SHIPPED else shipped_files(name.casefold())
            typer.echo("\n".join(files))
            return
        if name.casefold() in MENTION_SETS:
            typer.echo(str(find_mentions(name.casefold())))  # says where to get what is not here
            return
        if name.casefold() in corpus_names():
            load_named_corpus(name)  # says where to get what is not here
            typer.echo(
                str(find_corpus(name)) if name.casefold() in CORPORA else "\n".join([*toy_files(), *toy_trees()])
            )
            return
        if name.casefold() in NETWORKS and NETWORKS[name.casefold()].generated:
            raise ValueError(
                f"{name} is generated on demand and has no files; write some with hybonet data disease-tree"
            )
        if treebank := published_name(name):
            found = find_treebank(treebank)
        else:
            found = find_network(name) if name.casefold() in NETWORKS else find_dataset(name)
        if found is None:
            raise ValueError(f"{name} is not on this machine; fetch it with: hybonet data fetch {name}")
        typer.echo(str(found))


@recipes_app.command("list")
def list_recipes() -> None:
    """All recipes with the published figures they aim at."""
    with clean_errors():
        from rich.console import Console

        from hybonet.recipes import recipes
        from hybonet.reporting.narrow_table import add_row, narrow_table

        table = narrow_table(["recipe", "task", "data"], ["published"], ["what"])
        for each in recipes().values():
            metric, value = next(iter(each.published.items()), ("", 0.0))
            published = f"{_MEASURES.get(metric, metric)} {value:.3g}" if metric else ""
            add_row(table, each.name, each.task, each.data or "any", published, each.about)
        Console(highlight=False).print(table)


@recipes_app.command("show")
def show_recipe(
    name: Annotated[str, typer.Argument(help="A name from `hybonet recipes list`.")],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Every setting of a recipe with its value and meaning; change any with `--set key=value`."""
    with clean_errors():
        from rich.console import Console

        from hybonet.recipes import recipe
        from hybonet.reporting.narrow_table import add_row, narrow_table
        from hybonet.tasks.run_folder import command_for
        from hybonet.training import describe

        shown = recipe(name)
        settings = shown.settings
        if as_json:
            typer.echo(settings.model_dump_json(indent=2))
            return
        table = narrow_table(["setting", "value"], texts=["meaning"])
        for key, value, meaning in describe(settings):
            add_row(table, key, "none" if value is None else str(value), meaning)
        console = Console(highlight=False)
        console.print(table)
        given = " ENCODER" if shown.task == "probe" else ""
        console.print(f"\n{command_for(shown.task)}{given} --recipe {name} --set key=value changes any of these.")
        if shown.ranges:
            searched = ", ".join(f"{key} {each}" for key, each in shown.ranges.items())
            console.print(f"hybonet tune {shown.task} --recipe {name} searches {searched}.")
