"""What can be chosen when a graph is read, and a model of one is measured, asked and written."""

from __future__ import annotations

from typing import Any, Literal

from hybonet.tasks.options import ExportOptions, Options, option

__all__ = ["DataOptions", "Evaluate", "ExportOptions", "GraphFiles", "Options", "Predict"]


class GraphFiles(Options):
    """How a graph is read from files."""

    features: Any = option(None, "Table of node, number, number, … for a file of edges.")
    labels: Any = option(None, "Table of node, label for a file of edges.")
    label_column: str | None = option(
        None, "The column of the label, where there are several: a name, or a number from 0."
    )
    columns: str | None = option(None, "The two columns of the edges: names or numbers from 0, with a comma.")
    header: bool | None = option(None, "Whether first rows are column names.")
    allow_unlabelled: bool = option(
        False, "Accept nodes without a label; they are predicted, not trained on.", flag="--allow-unlabelled"
    )


class DataOptions(GraphFiles):
    """Learn the missing links of a graph, or the classes of its nodes, and keep everything in one folder.

    **Examples**

    Missing links of the small tree that is generated on the spot: `hybonet train graph --out runs/links`

    Classes of its nodes: `hybonet train graph --task nc --out runs/classes`

    A graph of your own: `hybonet train graph --data edges.csv --features nodes.csv --labels classes.csv --task nc --out
    runs/mine`

    The paper's training: `hybonet train graph --data airport --recipe paper-airport-nc --out runs/airport`

    Another model, other settings (`hybonet recipes show graph-lp` explains them all): `hybonet train graph --data cora
    --set model=GCN --set dim=32 --out runs/gcn`

    A million nodes: `hybonet train graph --data edges.parquet --recipe graph-large-lp --out runs/large`

    Go on with a run that was stopped: `hybonet train graph --out runs/mine --resume`
    """

    task: Literal["lp", "nc"] | None = option(
        None, "What to predict: lp (missing links) or nc (classes of nodes).", shown="the recipe's, or lp"
    )


class Evaluate(Options):
    """Measure links (ROC AUC, average precision) or classes (F1, accuracy) on held-out parts of the graph.

    **Examples**

    `hybonet evaluate runs/links` measures the best model on the validation and the test part.

    `hybonet evaluate runs/classes --split valid` measures one part.

    `hybonet evaluate runs/links --split test --json` gives all figures to a program.
    """

    split: Literal["valid", "test"] | None = option(None, "Which part.", shown="both, one after the other")


class Predict(Options):
    """Missing links with their probabilities, of the graph or of a node; or classes of nodes with theirs.

    **Examples**

    The most probable links that the graph lacks: `hybonet predict runs/links --top 20`

    Of one node: `hybonet predict runs/links --node ann`; only new ones: `hybonet predict runs/links --node ann --new`

    The classes of two nodes: `hybonet predict runs/classes --node ann --node bob`

    Of all nodes, into a file: `hybonet predict runs/classes --output classes.csv`
    """

    node: list[str] | None = option(None, "Name of a node. May be repeated.", shown="the whole graph")
    top: int = option(10, "How many links, of each node that is named.", ge=1)
    new: bool = option(False, "Links: leave out those that the graph has.")


class Plot(Options):
    """Draw the nodes on the Poincaré disk, coloured by class where classes are known, and the curves.

    **Examples**

    `hybonet plot runs/classes` draws the Poincaré disk with the nodes coloured by class, and the curves.
    """


class Export(ExportOptions):
    """Write a trained graph model, or the coordinates of its nodes.

    **Examples**

    `hybonet export runs/links --to pretrained --output model` writes what use needs, with a model card.

    `hybonet export runs/links --to vectors --chart poincare --output nodes.csv` writes every node's coordinates.
    """
