"""``hybonet data show``, ``hyperbolicity`` and ``disease-tree``: look at data, measure networks, make some."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hybonet.cli.app import clean_errors
from hybonet.cli.catalogue import data_app
from hybonet.cli.data_names import near_data
from hybonet.cli.options import only_given
from hybonet.cli.text_data import is_text, show_provenance, show_text

Source = Annotated[str, typer.Argument(help="A name from `hybonet data list`, or a file of edges.")]


@data_app.command("show")
def show(
    source: Source,
    features: Features = None,
    labels: Labels = None,
    label_column: LabelColumn = None,
    columns: Columns = None,
    header: Header = None,
    allow_unlabelled: Unlabelled = False,
) -> None:
    """What a data set of any kind holds: its sizes, classes, checksums, and what was dropped or is missing."""
    with clean_errors():
        from hybonet.data.graphs.benchmarks import NETWORKS

        if is_text(source):
            show_text(source)
            return
        if not _is_network(source):
            _show_triples(source)
            return
        graph = read_data(about_data(source, features, labels, label_column, columns, header, allow_unlabelled))
        if source.casefold() in NETWORKS:
            entry = NETWORKS[source.casefold()]
            typer.echo(f"{entry.description}; licence: {entry.licence}")
        for what, count in graph.statistics().items():
            typer.echo(f"{what}: {count:,}")
        for label, count in graph.class_counts().items():
            typer.echo(f"  class {label}: {count:,} nodes")
        if graph.split is not None:
            typer.echo("published split: " + " / ".join(f"{size:,}" for size in graph.split.sizes) + " nodes")
        typer.echo(f"left out: {graph.repeated_edges:,} repeated edges, {len(graph.self_loops):,} self loops")
        show_provenance(graph.sha256, graph.notes)


def _show_triples(source: str) -> None:
    from hybonet.data import load_graph

    graph = load_graph(source)
    for what, count in graph.statistics().items():
        typer.echo(f"{what}: {count:,}")
    show_provenance(graph.sha256, (*graph.notes, *graph.warnings))


@data_app.command("hyperbolicity")
def hyperbolicity(
    source: Source,
    samples: Annotated[
        int | None, typer.Option(min=1, help="Random quadruples.", show_default="exact if small, else 50,000")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the draw.")] = 0,
    columns: Columns = None,
    header: Header = None,
) -> None:
    """Gromov's δ of a graph: how far its distances are from a tree's, and so how well hyperbolic space fits it."""
    with clean_errors():
        from hybonet.metrics import hyperbolicity as measure

        graph = load_data(only_given(data=source, columns=columns, header=header))
        found = measure(graph.edges, graph.num_nodes, samples=samples, seed=seed)
        bound = "" if found.diameter_exact else "at least "
        typer.echo(f"{graph.source}: {graph.num_nodes:,} nodes, {len(graph.edges):,} edges")
        typer.echo(f"δ: {found.delta:g} ({found.confidence()})")
        typer.echo(f"relative δ: {found.relative:.3f} (2δ over the diameter, {bound}{found.diameter})")
        typer.echo(f"mean δ: {found.mean:.4f} ± {found.mean_margin:.4f} ({found.samples:,} quadruples)")
        typer.echo(found.meaning())


@data_app.command("disease-tree")
def make_disease_tree(
    out: Annotated[Path, typer.Option(help="Folder to make, with edges.csv, features.csv and labels.csv.")],
    nodes: Annotated[int, typer.Option(min=2, help="Of the tree.")] = 600,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same files.")] = 0,
    label_noise: Annotated[float, typer.Option(min=0, max=1, help="Share of labels turned around.")] = 0.0,
) -> None:
    """Make a tree along which a disease spreads, like Disease of HGCN, of any size."""
    with clean_errors():
        from hybonet.data import disease_tree
        from hybonet.data.graphs.writing import write_network
        from hybonet.tasks.new_folder import new_folder

        with new_folder(out) as staging:
            written = write_network(disease_tree(nodes, seed=seed, label_noise=label_noise), staging)
        for path in written:
            typer.echo(str(out / path.name))


def _is_network(source: str) -> bool:
    """Whether a name or path is that of a network; triples have names of their own, or a folder."""
    from hybonet.data.graphs.benchmarks import NETWORKS
    from hybonet.data.triples.benchmarks import BENCHMARKS
    from hybonet.data.triples.shipped import shipped_graphs

    if source.casefold() in NETWORKS or Path(source).is_file():
        return True
    if source.casefold() in {name.casefold() for name in (*shipped_graphs(), *BENCHMARKS)} or Path(source).is_dir():
        return False
    raise ValueError(f"expected data, got {source!r}, which is neither a path nor a name; {near_data(source)}")
