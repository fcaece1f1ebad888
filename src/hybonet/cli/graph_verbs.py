"""``hybonet evaluate``, ``predict``, ``plot`` and ``export`` for runs of ``hybonet train graph``."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

from hybonet.cli import verbs
from hybonet.cli.app import clean_errors
from hybonet.cli.options import AnswersFile, AnswersFormat, AsJson, ExportPlace, PicturesFolder, Run, Trained
from hybonet.cli.pictures import show_drawn

_EVALUATE_EXAMPLES = """
**Examples**

`hybonet evaluate runs/links` measures the best model on the validation and the test part.

`hybonet evaluate runs/classes --split valid` measures one part.

`hybonet evaluate runs/links --split test --json` gives all figures to a program.
"""
_PREDICT_EXAMPLES = """
**Examples**

The most probable links that the graph lacks: `hybonet predict runs/links --top 20`

Of one node: `hybonet predict runs/links --node ann`; only new ones: `hybonet predict runs/links --node ann --new`

The classes of two nodes: `hybonet predict runs/classes --node ann --node bob`

Of all nodes, into a file: `hybonet predict runs/classes --output classes.csv`
"""
_PLOT_EXAMPLES = """
**Example**

`hybonet plot runs/classes` draws the Poincaré disk with the nodes coloured by class, and the curves.
"""
_EXPORT_EXAMPLES = """
**Examples**

`hybonet export runs/links --to pretrained --output model` writes what use needs, with a model card.

`hybonet export runs/links --to vectors --chart poincare --output nodes.csv` writes every node's coordinates.
"""


@verbs.evaluate.of("graph", epilog=_EVALUATE_EXAMPLES)
def evaluate(
    run: Trained,
    split: Annotated[
        Literal["valid", "test"] | None, typer.Option(help="Which part.", show_default="both, one after the other")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure links (ROC AUC, average precision) or classes (F1, accuracy) on held-out parts of the graph."""
    with clean_errors():
        from rich.console import Console

        from hybonet.tasks.graph.report import legend, split_table
        from hybonet.tasks.graph.run import read_model, read_task

        task = read_task(run)
        parts: tuple[Literal["valid", "test"], ...] = ("valid", "test") if split is None else (split,)
        measured = task.measure(read_model(run, task), *parts)
        if as_json:
            typer.echo(json.dumps({"protocol": task.settings.protocol, **measured}, indent=1))
            return
        console = Console(highlight=False)
        console.print(split_table(measured))
        console.print(legend({**task.describe(), "test": next(iter(measured.values()))}), style="dim")


@verbs.predict.of("graph", epilog=_PREDICT_EXAMPLES)
def predict(
    run: Trained,
    node: Annotated[
        list[str] | None, typer.Option(help="Name of a node. May be repeated.", show_default="the whole graph")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many links, of each node that is named.")] = 10,
    new: Annotated[bool, typer.Option("--new", help="Links: leave out those that the graph has.")] = False,
    output: AnswersFile = None,
    form: AnswersFormat = None,
) -> None:
    """Missing links with their probabilities, of the graph or of a node; or classes of nodes with theirs."""
    with clean_errors():
        from hybonet.cli.answers import answer_format
        from hybonet.cli.graph_answers import show_classes, show_links
        from hybonet.tasks.graph.predictor import NetworkModel

        written_as = answer_format(form, output)
        model = NetworkModel.load(run)
        if model.task.settings.task == "nc":
            if new:
                raise ValueError("expected --new with links only, but the run predicts classes; leave it out")
            show_classes(model, node, written_as, output)
        else:
            show_links(model, node, top, new, written_as, output)


@verbs.plot.of("graph", epilog=_PLOT_EXAMPLES)
def plot(run: Run, output: PicturesFolder = None) -> None:
    """Draw the nodes on the Poincaré disk, coloured by class where classes are known, and the curves."""
    with clean_errors():
        from hybonet.tasks.graph import pictures as graph_pictures

        show_drawn(lambda: graph_pictures.draw_run(run, output or run))


@verbs.export.of("graph", epilog=_EXPORT_EXAMPLES)
def export(
    run: Trained,
    to: Annotated[
        Literal["pretrained", "vectors"],
        typer.Option(
            help="pretrained: a folder for `NetworkModel.from_pretrained`; vectors: the nodes' coordinates as .tsv, "
            ".csv, .parquet or .npz."
        ),
    ],
    output: ExportPlace,
    chart: Annotated[
        Literal["lorentz", "poincare", "klein", "tangent"] | None,
        typer.Option(
            help="Coordinates of vectors of hyperbolic models; tangent: Euclidean, at the origin.",
            show_default="lorentz",
        ),
    ] = None,
) -> None:
    """Write a trained graph model, or the coordinates of its nodes, for other tools."""
    with clean_errors():
        from hybonet.tasks.graph.export import write_node_vectors
        from hybonet.tasks.graph.predictor import NetworkModel

        if to == "pretrained" and chart is not None:
            raise ValueError(f"expected --chart with vectors only, got --chart {chart} --to pretrained")
        model = NetworkModel.load(run)
        if to == "pretrained":
            model.save_pretrained(output)
            typer.echo(f"Model: {output}")
            return
        nodes, coordinates, what = write_node_vectors(model, output, chart)
        typer.echo(f"{nodes:,} vectors of {coordinates} {what} coordinates: {output}")
