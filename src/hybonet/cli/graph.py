"""``hybonet train graph``: links and classes of a network learned, measured and kept."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hybonet.cli.app import clean_errors
from hybonet.cli.options import column_list, only_given, tell_notes
from hybonet.cli.training import (
    RECIPE_HELP,
    Changes,
    Out,
    Resume,
    TensorBoard,
    Threads,
    settings_of_run,
    train_app,
    train_in,
    use_threads,
)

if TYPE_CHECKING:
    from hybonet.data.graphs.graph_data import GraphData

Data = Annotated[
    str | None,
    typer.Option(help="A name (`hybonet data list`), or a file of edges.", show_default="disease-small"),
]
TaskOption = Annotated[
    Literal["lp", "nc"] | None,
    typer.Option(
        "--task",
        help="What to predict: lp (missing links) or nc (classes of nodes).",
        show_default="the recipe's, or lp",
    ),
]
Features = Annotated[Path | None, typer.Option(help="Table of node, number, number, … for a file of edges.")]
Labels = Annotated[Path | None, typer.Option(help="Table of node, label for a file of edges.")]
LabelColumn = Annotated[
    str | None, typer.Option(help="The column of the label, where there are several: a name, or a number from 0.")
]
Columns = Annotated[
    str | None, typer.Option(help="The two columns of the edges: names or numbers from 0, with a comma.")
]
Header = Annotated[bool | None, typer.Option("--header/--no-header", help="Whether first rows are column names.")]
Unlabelled = Annotated[
    bool, typer.Option("--allow-unlabelled", help="Accept nodes without a label; they are predicted, not trained on.")
]

_EXAMPLES = """
**Examples**

Missing links of the small tree that is generated on the spot: `hybonet train graph --out runs/links`

Classes of its nodes: `hybonet train graph --task nc --out runs/classes`

A graph of your own: `hybonet train graph --data edges.csv --features nodes.csv --labels classes.csv --task nc
--out runs/mine`

The paper's training: `hybonet train graph --data airport --recipe paper-airport-nc --out runs/airport`

Another model, other settings (`hybonet recipes show graph-lp` explains them all):
`hybonet train graph --data cora --set model=GCN --set dim=32 --out runs/gcn`

A million nodes: `hybonet train graph --data edges.parquet --recipe graph-large-lp --out runs/large`

Go on with a run that was stopped: `hybonet train graph --out runs/mine --resume`
"""


@train_app.command("graph", epilog=_EXAMPLES)
def train_graph(
    out: Out,
    data: Data = None,
    task: TaskOption = None,
    recipe: Annotated[str | None, typer.Option(help=RECIPE_HELP, show_default="graph-lp or graph-nc")] = None,
    set_: Changes = None,
    features: Features = None,
    labels: Labels = None,
    label_column: LabelColumn = None,
    columns: Columns = None,
    header: Header = None,
    allow_unlabelled: Unlabelled = False,
    resume: Resume = False,
    tensorboard: TensorBoard = False,
    threads: Threads = None,
) -> None:
    """Learn the missing links of a graph, or the classes of its nodes, and keep everything in one folder.

    Ctrl-C stops at the next batch, saves, and says how to go on.
    """
    with clean_errors():
        from hybonet.tasks.graph.run import read_settings, start_run, train_run

        given = about_data(data, features, labels, label_column, columns, header, allow_unlabelled)
        asked = given | only_given(task=task, recipe=recipe)
        use_threads(threads)
        chosen, changes = (recipe or "", set_ or []) if resume else recipe_and_changes(task, recipe, set_ or [])
        settings = settings_of_run(
            out, "graph", resume=resume, read=read_settings, recipe=chosen, given=asked, changes=changes
        )
        train_in(
            out,
            "graph",
            settings,
            start=None if resume else lambda: start_run(out, settings, load_data(given), recipe=chosen),
            train=train_run,
            show=lambda: _show(out),
            rate=(settings.batch_size or 1, "steps/s" if settings.batch_size is None else "examples/s"),
            tensorboard=tensorboard,
        )


def about_data(
    data: str | None,
    features: Path | None,
    labels: Path | None,
    label_column: str | None,
    columns: str | None,
    header: bool | None,
    allow_unlabelled: bool,
) -> dict[str, Any]:
    """The options about data that were given."""
    return only_given(
        data=data,
        features=features and str(features),
        labels=labels and str(labels),
        label_column=label_column,
        columns=columns,
        header=header,
        allow_unlabelled=allow_unlabelled or None,
    )


def recipe_and_changes(task: str | None, recipe: str | None, changes: list[str]) -> tuple[str, list[str]]:
    """The recipe to start from, and changes that say the task too; a recipe for the other task is a mistake."""
    from hybonet.recipes import recipe as find
    from hybonet.tasks.graph.recipes import DEFAULTS

    own = [change.partition("=")[2].strip() for change in changes if change.partition("=")[0].strip() == "task"]
    if task is not None and any(each != task for each in own):
        raise ValueError(f"expected one task, got --task {task} and --set task={own[-1]}; leave one out")
    wanted = task or (own[-1] if own else None)
    if recipe is None:
        return DEFAULTS.get(wanted or "lp", DEFAULTS["lp"]), changes
    made_for = find(recipe, "graph").settings.task
    if task is not None and task != made_for:
        raise ValueError(
            f"expected a recipe for --task {task}, but {recipe!r} is one for --task {made_for}; leave --task out, or "
            "choose another recipe"
        )
    return recipe, changes


def load_data(given: dict[str, Any]) -> GraphData:
    """The graph that options about data ask for; what is odd about it is told."""
    graph = read_data(given)
    tell_notes(graph.notes)
    return graph


def read_data(given: dict[str, Any]) -> GraphData:
    """The graph that options about data ask for."""
    from hybonet.data import load_graph

    options = {key: value for key, value in given.items() if key != "data"}
    if "columns" in options:
        options["columns"] = column_list(options["columns"])
    if "label_column" in options:
        text = options["label_column"]
        options["label_column"] = int(text) if text.isdigit() else text
    return load_graph(given.get("data", "disease-small"), **options)


def _show(out: Path) -> None:
    from rich.console import Console

    from hybonet.tasks.graph.report import legend, metrics_table
    from hybonet.tasks.graph.run import read_task
    from hybonet.tasks.run_folder import read_record

    record, console = read_record(out), Console(highlight=False)
    console.print(metrics_table(record))
    console.print(legend(record), style="dim")
    node = shlex.quote(read_task(out).graph.nodes[0])
    typer.echo(f"Run: {out}\nAsk it: hybonet predict {shlex.quote(str(out))} --node {node}")
