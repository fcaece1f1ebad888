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
    """How a graph is read, and what is learned of it."""

    task: Literal["lp", "nc"] | None = option(
        None, "What to predict: lp (missing links) or nc (classes of nodes).", shown="the recipe's, or lp"
    )


class Evaluate(Options):
    """Which parts of the graph."""

    split: Literal["valid", "test"] | None = option(None, "Which part.", shown="both, one after the other")


class Predict(Options):
    """Whose links or classes are asked for."""

    node: list[str] | None = option(None, "Name of a node. May be repeated.", shown="the whole graph")
    top: int = option(10, "How many links, of each node that is named.", ge=1)
    new: bool = option(False, "Links: leave out those that the graph has.")
