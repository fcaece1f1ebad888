"""``hybonet train kg``, ``evaluate`` and ``predict``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from hybonet.cli.app import app, clean_errors

train_app = typer.Typer(help="Train a model; `hybonet train kg --help` says how.", no_args_is_help=True)
app.add_typer(train_app, name="train")

_TRAIN_EXAMPLES = """
**Examples**

`hybonet train kg --data wordnet --out runs/wordnet`

`hybonet train kg --data triples.csv --columns subject,predicate,object --out runs/mine --set dim=64`

`hybonet train kg --data WN18RR --recipe paper-wn18rr-32 --out runs/wn18rr`

`hybonet train kg --out runs/mine --resume` goes on with a run that was stopped.
"""


@train_app.command("kg", epilog=_TRAIN_EXAMPLES)
def train_kg(
    out: Annotated[Path, typer.Option(help="Folder for the run: new, empty, or with --resume an earlier run.")],
    data: Annotated[
        str | None,
        typer.Option(
            help="A name (`hybonet data list`), a file of triples, or a folder with train/valid/test.",
            show_default="wordnet",
        ),
    ] = None,
    recipe: Annotated[
        str | None, typer.Option(help="Settings to start from (`hybonet recipes list`).", show_default="default")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Change a setting: key=value. May be repeated.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Columns of head, relation, tail: names or numbers from 0.")
    ] = None,
    names: Annotated[Path | None, typer.Option(help="File of entity label and readable name.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="Processor threads.", show_default="torch's")] = None,
) -> None:
    """Train a knowledge-graph model, measure it on the test triples, and keep everything in one folder.

    Ctrl-C stops at the next batch, saves, and says how to go on.
    """
    with clean_errors():
        _train(out, data, recipe, set_ or [], columns, names, resume, threads)


def _train(
    out: Path,
    data: str | None,
    recipe_name: str | None,
    changes: list[str],
    columns: str | None,
    names: Path | None,
    resume: bool,
    threads: int | None,
) -> None:
    import torch

    from hybonet.data.catalog import load_graph
    from hybonet.recipes import recipe
    from hybonet.tasks.kg_run import read_record, read_settings, start_run, train_run
    from hybonet.training import Interrupted, TerminalReporter, override

    if threads is not None:
        torch.set_num_threads(threads)
    if resume:
        if changes or columns or names or data is not None or recipe_name is not None:
            raise ValueError(
                "expected nothing but --out and --threads with --resume: a run keeps its data and settings; start a "
                "new one to change them"
            )
        settings = read_settings(out)
    else:
        recipe_name = recipe_name or "default"
        settings = override(recipe(recipe_name).settings, changes)
        if settings.device.startswith("cuda") and not torch.cuda.is_available():
            raise ValueError(f"expected a device of this machine, got {settings.device!r} without CUDA; use device=cpu")
        options: dict[str, object] = {}
        if columns is not None:
            parts = [part.strip() for part in columns.split(",")]
            options["columns"] = [int(part) if part.isdigit() else part for part in parts]
        if names is not None:
            options["names"] = names
        graph = load_graph(data or "wordnet", **options)
        for line in (*graph.notes, *graph.warnings):
            typer.echo(f"note: {line}", err=True)
        start_run(out, settings, graph, recipe=recipe_name)
    reporter = TerminalReporter(settings.epochs, (settings.batch_size, "triples/s"))
    try:
        train_run(out, resume=resume, resume_command=f"hybonet train kg --out {out} --resume", reporter=reporter)
    except Interrupted as stop:
        typer.echo(str(stop), err=True)
        raise typer.Exit(130) from None
    _show_metrics(read_record(out))
    typer.echo(f"Run: {out}    ask it: hybonet predict {out} --head NAME --relation NAME")


def _show_metrics(record: dict) -> None:
    from rich.console import Console

    from hybonet.reporting.kg_tables import metrics_table

    Console().print(metrics_table(record))


@app.command()
def evaluate(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    split: Annotated[Literal["train", "valid", "test"], typer.Option(help="Which triples.")] = "test",
    protocol: Annotated[
        Literal["standard", "released"],
        typer.Option(help="released: the head itself is no candidate, as in the paper's code (easier)."),
    ] = "standard",
    ties: Annotated[
        Literal["realistic", "optimistic", "pessimistic"], typer.Option(help="Rank of the truth among equal scores.")
    ] = "realistic",
    as_json: Annotated[bool, typer.Option("--json", help="Everything, as JSON.")] = False,
) -> None:
    """Filtered ranking metrics of a run: overall, by direction, by relation and by kind of relation."""
    with clean_errors():
        from rich.console import Console

        from hybonet.reporting.kg_tables import evaluation_tables
        from hybonet.tasks.kg_run import read_graph, read_model
        from hybonet.tasks.knowledge_graph import evaluate as measure

        graph = read_graph(run)
        if not len(graph.triples(split)):
            raise ValueError(f"the graph of {run} has no {split} triples; choose another --split")
        result = measure(read_model(run, graph), graph, split, protocol=protocol, ties=ties)
        if as_json:
            typer.echo(json.dumps(result, indent=1))
        else:
            for table in evaluation_tables(result):
                Console().print(table)


@app.command()
def predict(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    head: Annotated[str | None, typer.Option(help="Label or name of the head.")] = None,
    relation: Annotated[str | None, typer.Option(help="Label or name of the relation.")] = None,
    tail: Annotated[str | None, typer.Option(help="Label or name of the tail.")] = None,
    top: Annotated[int, typer.Option(min=1, help="How many answers.")] = 10,
    new: Annotated[bool, typer.Option("--new", help="Leave out what the training data says already.")] = False,
    questions: Annotated[
        Path | None, typer.Option(help="CSV or TSV with columns head, relation, tail; leave the asked one empty.")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Write answers here instead of the terminal.")] = None,
    faiss: Annotated[
        bool, typer.Option("--faiss", help="Search in a faiss index: the same answers, without probabilities.")
    ] = False,
    form: Annotated[
        Literal["table", "json", "csv"], typer.Option("--format", help="How answers are written.")
    ] = "table",
) -> None:
    """Ask a trained model: give two of head, relation and tail, and it ranks what the third may be."""
    with clean_errors():
        from hybonet.cli.answers import read_questions, write_answers
        from hybonet.tasks.kg_answers import KGModel

        one = {
            key: value for key, value in (("head", head), ("relation", relation), ("tail", tail)) if value is not None
        }
        if bool(one) == bool(questions):
            raise ValueError("expected either two of --head, --relation and --tail, or a file of --questions")
        asked = read_questions(questions) if questions else [one]
        model = KGModel.load(run)
        index = model.index() if faiss else None
        if questions:
            try:
                answers = model.ask_many(asked, top, known=not new, index=index)
            except ValueError as error:
                raise ValueError(f"{questions}, {error}") from None
        else:
            answers = [model.ask(one, top, known=not new, index=index)]
        write_answers(list(zip(asked, answers, strict=True)), form, output)
