"""``hybonet train kg``, ``evaluate`` and ``predict``."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hybonet.cli import verbs
from hybonet.cli.app import clean_errors
from hybonet.cli.options import AnswersFile, AnswersFormat, AsJson, Trained, column_list, only_given, tell_notes
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
    from hybonet import KGModel
    from hybonet.data.triples.triple_data import TripleData
    from hybonet.tasks.knowledge_graph.task import KnowledgeGraphSettings

Data = Annotated[
    str | None,
    typer.Option(
        help="A name (`hybonet data list`), a file of triples, or a folder with train/valid/test.",
        show_default="wordnet",
    ),
]
Columns = Annotated[
    str | None, typer.Option(help="Columns of head, relation, tail: names or numbers from 0, with commas.")
]
Separator = Annotated[str | None, typer.Option(help="Character between columns.", show_default="by the file's ending")]
Teachers = Annotated[
    list[Path] | None,
    typer.Option(help="A finished run on the same graph to learn from besides the triples. May be repeated."),
]
InverseWeight = Annotated[
    float | None,
    typer.Option(
        min=0, help="Score triples in both directions, as the setting of that name.", show_default="the run's"
    ),
]
InversePower = Annotated[float | None, typer.Option(help="Likewise, with an inverse weight.", show_default="the run's")]
Names = Annotated[Path | None, typer.Option(help="File of entity label and readable name.")]

_TRAIN_EXAMPLES = """
**Examples**

The graph inside the package, a few minutes: `hybonet train kg --data wordnet --out runs/wordnet`

Triples of your own: `hybonet train kg --data facts.csv --columns subject,predicate,object --out runs/mine`

Other settings (`hybonet recipes show default` explains them all):
`hybonet train kg --data facts.tsv --set dim=64 --set epochs=100 --out runs/big`

Learn from runs that are there, to be better at the same size: `hybonet train kg --data facts.tsv --teacher runs/a
--teacher runs/b --out runs/student`

The paper's training: `hybonet train kg --data WN18RR --recipe paper-wn18rr-32 --out runs/wn18rr`

Go on with a run that was stopped: `hybonet train kg --out runs/mine --resume`

Give a run more epochs: `hybonet train kg --out runs/mine --resume --set epochs=80`
"""
_EVALUATE_EXAMPLES = """
**Examples**

The best model of a run on its test triples: `hybonet evaluate runs/wordnet`

On the validation triples, all numbers for a program: `hybonet evaluate runs/wordnet --split valid --json`

Ranked as the paper's code does: `hybonet evaluate runs/wordnet --protocol paper_code`

In both directions, is it better? `hybonet evaluate runs/wordnet --split valid --inverse-weight 0.4`
"""
_PREDICT_EXAMPLES = """
**Examples**

What is a dog? `hybonet predict runs/wordnet --head dog.n.01 --relation hypernym`

Which parts of a car does the training data not name? `hybonet predict runs/wordnet --relation part_of --tail car.n.01
--new`

How are dog and animal related? `hybonet predict runs/wordnet --head dog.n.01 --tail animal.n.01`

How likely is a triple? `hybonet predict runs/wordnet --head dog.n.01 --relation hypernym --tail animal.n.01`

A file of questions, whose first line names the columns (`head,relation`): `hybonet predict runs/wordnet --questions
questions.csv --output answers.tsv`
"""


@train_app.command("kg", epilog=_TRAIN_EXAMPLES)
def train_kg(
    out: Out,
    data: Data = None,
    recipe: Annotated[str | None, typer.Option(help=RECIPE_HELP, show_default="default")] = None,
    set_: Changes = None,
    columns: Columns = None,
    separator: Separator = None,
    names: Names = None,
    teacher: Teachers = None,
    resume: Resume = False,
    tensorboard: TensorBoard = False,
    threads: Threads = None,
) -> None:
    """Train a knowledge-graph model, measure it on the test triples, and keep everything in one folder.

    Ctrl-C stops at the next batch, saves, and says how to go on.
    """
    with clean_errors():
        given = only_given(data=data, columns=columns, separator=separator, names=names, recipe=recipe, teacher=teacher)
        train(out, given, set_ or [], resume=resume, threads=threads, tensorboard=tensorboard)


def train(
    out: Path,
    given: dict[str, Any],
    changes: list[str],
    *,
    resume: bool = False,
    threads: int | None = None,
    overwrite: bool = False,
    tensorboard: bool = False,
) -> None:
    """What ``hybonet train kg`` does; ``given`` has its options about data and recipe."""
    from hybonet.tasks.knowledge_graph.run import read_settings, train_run

    use_threads(threads)
    recipe = given.get("recipe", "default")
    settings = settings_of_run(
        out, "kg", resume=resume, read=read_settings, recipe=recipe, given=given, changes=changes
    )
    train_in(
        out,
        "kg",
        settings,
        start=None if resume else lambda: _start(out, settings, dict(given), overwrite),
        train=train_run,
        show=lambda: _show(out),
        rate=(settings.batch_size, "triples/s"),
        tensorboard=tensorboard,
        overwrite=overwrite,
    )


def _start(out: Path, settings: KnowledgeGraphSettings, given: dict[str, Any], overwrite: bool) -> None:
    """Load the graph and write what a run starts from."""
    from rich.progress import Progress

    from hybonet.recipes import recipe
    from hybonet.tasks.knowledge_graph.run import start_run

    recipe_name, teachers = given.pop("recipe", "default"), given.pop("teacher", ())
    if recipe(recipe_name, "kg").distilled and not teachers:
        raise ValueError(
            f"expected --teacher RUN with the recipe {recipe_name}, which learns from trained runs; give one or more, "
            "or choose another recipe"
        )
    graph = load_data(given)
    with Progress(transient=True, disable=not teachers) as bar:
        asking = bar.add_task("asking the teachers", total=None, visible=bool(teachers))
        start_run(
            out,
            settings,
            graph,
            overwrite=overwrite,
            teachers=teachers,
            advance=lambda done, total: bar.update(asking, advance=done, total=total),
            recipe=recipe_name,
        )


def load_data(given: dict[str, Any]) -> TripleData:
    """The graph that options about data ask for; what is odd about it is told."""
    from hybonet.data import load_knowledge_graph

    options = {key: value for key, value in given.items() if key != "data"}
    if "columns" in options:
        options["columns"] = column_list(options["columns"])
    graph = load_knowledge_graph(given.get("data", "wordnet"), **options)
    tell_notes((*graph.notes, *graph.warnings))
    return graph


def _show(out: Path) -> None:
    from rich.console import Console

    from hybonet.tasks.knowledge_graph.report import LEGEND, PAPER_CODE, metrics_table
    from hybonet.tasks.knowledge_graph.run import read_graph
    from hybonet.tasks.run_folder import read_record

    record, console = read_record(out), Console(highlight=False)
    console.print(metrics_table(record))
    console.print(f"{LEGEND} {PAPER_CODE if 'test' in record else ''}", style="dim")
    graph = read_graph(out)
    head, relation, _ = graph.train[0].tolist()
    question = f"--head {shlex.quote(graph.entities[head])} --relation {shlex.quote(graph.relations[relation])}"
    typer.echo(f"Run: {out}\nAsk it: hybonet predict {shlex.quote(str(out))} {question}")


@verbs.evaluate.of("kg", epilog=_EVALUATE_EXAMPLES)
def evaluate(
    run: Trained,
    split: Annotated[Literal["train", "valid", "test"], typer.Option(help="Which triples.")] = "test",
    protocol: Annotated[
        Literal["standard", "paper_code"],
        typer.Option(help="paper_code: the head itself is no candidate, as in the paper's code (easier)."),
    ] = "standard",
    ties: Annotated[
        Literal["realistic", "optimistic", "pessimistic"], typer.Option(help="Rank of the truth among equal scores.")
    ] = "realistic",
    inverse_weight: InverseWeight = None,
    inverse_power: InversePower = None,
    as_json: AsJson = False,
) -> None:
    """Filtered ranking metrics of a run: overall, by direction, by relation and by kind of relation."""
    with clean_errors():
        from rich.console import Console

        from hybonet.tasks.knowledge_graph.predictor import KGModel
        from hybonet.tasks.knowledge_graph.report import LEGEND, evaluation_tables
        from hybonet.tasks.knowledge_graph.run import read_graph, read_model
        from hybonet.tasks.knowledge_graph.task import evaluate as measure
        from hybonet.tasks.run_folder import read_config

        # Without the record: where that is damaged, or that of other answers, one measures again.
        graph = read_graph(run)
        model = KGModel(read_model(run, graph), graph, config=read_config(run, "kg"))
        if not len(model.graph.triples(split)):
            raise ValueError(f"the graph of {run} has no {split} triples; choose another --split")
        directions = _score_as_asked(model, inverse_weight, inverse_power)
        result = {**directions, **measure(model.scorer, model.graph, split, protocol=protocol, ties=ties)}
        if as_json:
            typer.echo(json.dumps(result, indent=1))
        else:
            console = Console(highlight=False)
            for table in evaluation_tables(result):
                console.print(table, "")
            console.print(LEGEND, style="dim")


def _score_as_asked(model: KGModel, other: float | None, power: float | None) -> dict[str, float]:
    """Let a model read as options say, or else its own settings; how it reads, as far as that is known."""
    from hybonet.tasks.knowledge_graph.task import KnowledgeGraphSettings

    given = only_given(inverse_weight=other, inverse_power=power)
    own, fields = model.config.get("settings", {}), KnowledgeGraphSettings.model_fields
    names = ("inverse_weight", "inverse_power")
    if not given:
        return {name: own[name] for name in names if name in own}
    asked = {name: given.get(name, own.get(name, fields[name].default)) for name in names}
    if not asked["inverse_weight"] and power is not None:
        found = "the run has none of its own" if other is None else "got --inverse-weight 0"
        raise ValueError(
            "expected an inverse weight with --inverse-power, which changes nothing without one, and "
            f"{found}; give --inverse-weight 0.3, say, or leave --inverse-power out"
        )
    model.score_both_directions(**asked)
    return asked


@verbs.predict.of("kg", epilog=_PREDICT_EXAMPLES)
def predict(
    run: Trained,
    head: Annotated[str | None, typer.Option(help="Label or name of the head.")] = None,
    relation: Annotated[str | None, typer.Option(help="Label or name of the relation.")] = None,
    tail: Annotated[str | None, typer.Option(help="Label or name of the tail.")] = None,
    top: Annotated[int, typer.Option(min=1, help="How many answers.")] = 10,
    new: Annotated[bool, typer.Option("--new", help="Leave out what the training data says already.")] = False,
    questions: Annotated[
        Path | None,
        typer.Option(
            help="CSV or TSV with columns head, relation, tail; leave the asked one empty, or none to judge triples."
        ),
    ] = None,
    output: AnswersFile = None,
    faiss: Annotated[
        bool, typer.Option("--faiss", help="Search in a faiss index: the same answers, without probabilities.")
    ] = False,
    inverse_weight: InverseWeight = None,
    inverse_power: InversePower = None,
    form: AnswersFormat = None,
) -> None:
    """Ask a trained model: give two of head, relation and tail, and it ranks what the third may be.

    Give all three, and it says how likely they are: the ranks of tail and head among all entities, and a probability.
    """
    with clean_errors():
        from hybonet.cli.answers import COLUMNS, answer_format, read_questions, write_answers, write_judgements
        from hybonet.tasks.knowledge_graph.predictor import KGModel

        one = only_given(head=head, relation=relation, tail=tail)
        if bool(one) == bool(questions):
            raise ValueError("expected either two or three of --head, --relation and --tail, or a file of --questions")
        written_as = answer_format(form, output)
        asked = read_questions(questions) if questions else [one]
        whole = all(len(each) == len(COLUMNS) for each in asked)
        if whole and (new or faiss):
            raise ValueError(
                f"expected a question for --{'new' if new else 'faiss'}, got whole triples to judge; leave it out, or "
                "leave out the head, relation or tail that you ask for"
            )
        model = KGModel.load(run)
        _score_as_asked(model, inverse_weight, inverse_power)
        index = model.index() if faiss else None
        try:
            judged = model.judge(asked) if whole else []
            answers = [] if whole else model.ask_many(asked, top, known=not new, index=index)
        except ValueError as error:
            # One question has no number; of a file, the message names file and question.
            raise ValueError(
                f"{questions}, {error}" if questions else str(error).removeprefix("question 1: ")
            ) from None
        if whole:
            write_judgements(judged, written_as, output)
        else:
            write_answers(list(zip(asked, answers, strict=True)), written_as, output)
