"""``hybonet train kg``, ``evaluate`` and ``predict``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from hybonet.cli.app import app, clean_errors
from hybonet.cli.training import (
    Changes,
    Out,
    Resume,
    refuse_with_resume,
    settings_for,
    train_app,
    train_in,
    use_threads,
)

_TRAIN_EXAMPLES = """
**Examples**

`hybonet train kg --data wordnet --out runs/wordnet`

`hybonet train kg --data triples.csv --columns subject,predicate,object --out runs/mine --set dim=64`

`hybonet train kg --data WN18RR --recipe paper-wn18rr-32 --out runs/wn18rr`

`hybonet train kg --out runs/mine --resume` goes on with a run that was stopped.
"""


@train_app.command("kg", epilog=_TRAIN_EXAMPLES)
def train_kg(
    out: Out,
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
    set_: Changes = None,
    columns: Annotated[
        str | None, typer.Option(help="Columns of head, relation, tail: names or numbers from 0.")
    ] = None,
    names: Annotated[Path | None, typer.Option(help="File of entity label and readable name.")] = None,
    resume: Resume = False,
    threads: Annotated[int | None, typer.Option(min=1, help="Processor threads.", show_default="torch's")] = None,
) -> None:
    """Train a knowledge-graph model, measure it on the test triples, and keep everything in one folder.

    Ctrl-C stops at the next batch, saves, and says how to go on.
    """
    with clean_errors():
        train(out, data, recipe, set_ or [], columns, names, resume=resume, threads=threads)


def train(
    out: Path,
    data: str | None = None,
    recipe_name: str | None = None,
    changes: Sequence[str] = (),
    columns: str | None = None,
    names: Path | None = None,
    *,
    resume: bool = False,
    threads: int | None = None,
    overwrite: bool = False,
) -> None:
    """What ``hybonet train kg`` does, with its options."""
    from hybonet.data.catalog import load_graph
    from hybonet.tasks.kg_run import read_settings, start_run, train_run

    use_threads(threads)
    if resume:
        refuse_with_resume(data, recipe_name, list(changes), columns, names)
        settings = read_settings(out)
    else:
        recipe_name = recipe_name or "default"
        settings = settings_for("kg", recipe_name, list(changes))

    def start() -> None:
        options: dict[str, object] = {}
        if columns is not None:
            parts = [part.strip() for part in columns.split(",")]
            options["columns"] = [int(part) if part.isdigit() else part for part in parts]
        if names is not None:
            options["names"] = names
        graph = load_graph(data or "wordnet", **options)
        for line in (*graph.notes, *graph.warnings):
            typer.echo(f"note: {line}", err=True)
        start_run(out, settings, graph, overwrite=overwrite, recipe=recipe_name)

    train_in(
        out,
        "kg",
        settings,
        start=None if resume else start,
        train=train_run,
        show=lambda: _show(out),
        rate=(settings.batch_size, "triples/s"),
    )


def _show(out: Path) -> None:
    from rich.console import Console

    from hybonet.reporting.kg_tables import metrics_table
    from hybonet.tasks.run_folder import read_record

    Console().print(metrics_table(read_record(out)))
    typer.echo(f"Run: {out}    ask it: hybonet predict {out} --head NAME --relation NAME")


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
