"""What ``hybonet evaluate``, ``predict``, ``plot`` and ``export`` do with runs of entity typing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hybonet.cli import verbs
from hybonet.cli.answers import answer_format, write_rows
from hybonet.cli.app import clean_errors
from hybonet.cli.options import AnswersFile, AnswersFormat, AsJson, ExportPlace, PicturesFolder, Run, Trained
from hybonet.cli.pictures import show_drawn

if TYPE_CHECKING:
    from hybonet.data.mentions.mention_data import Mention
    from hybonet.tasks.typing.predictor import TypeAnswer

_EVALUATE_EXAMPLES = """
**Examples**

The best model of a run on its test mentions: `hybonet evaluate runs/town`

With the threshold chosen on the validation mentions: `hybonet evaluate runs/town --calibrate`
"""
_PREDICT_EXAMPLES = """
**Examples**

`hybonet predict runs/town --sentence "The [baker] sold bread."`

`hybonet predict runs/town --sentence "The baker sold bread." --mention baker --top 5`

A file of mentions, as for training (types are not needed): `hybonet predict runs/town --mentions mine.jsonl --output
answers.tsv`
"""
_PLOT_EXAMPLES = """
**Example**

`hybonet plot runs/town` draws the types on the Poincaré disk, their distance from the centre by level, and the curves.
"""
_EXPORT_EXAMPLES = """
**Examples**

`hybonet export runs/town --to pretrained --output town-model` writes what use needs, with a model card.

`hybonet export runs/town --to vectors --output types.tsv` writes types, levels and Lorentz coordinates.
"""


@verbs.evaluate.of("typing", epilog=_EVALUATE_EXAMPLES)
def evaluate(
    run: Run,
    split: Annotated[Literal["train", "valid", "test"], typer.Option(help="Which mentions.")] = "test",
    threshold: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Probability above which a type is predicted.", show_default="the run's"),
    ] = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Take the threshold with the best F1 on the validation mentions.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Macro precision, recall and F1 of entity typing: all types together, and by level."""
    with clean_errors():
        from rich.console import Console

        from hybonet.metrics.typing import LOWEST
        from hybonet.tasks.run_folder import RECORD, read_record
        from hybonet.tasks.typing.report import LEGEND, scores_table
        from hybonet.tasks.typing.run import read_data, read_model, read_settings
        from hybonet.tasks.typing.task import EntityTypingTask

        if calibrate and threshold is not None:
            raise ValueError("expected --threshold or --calibrate, got both; leave out one")
        task = EntityTypingTask(read_settings(run), read_data(run))
        if not task.data.split(split):
            raise ValueError(f"the data of {run} has no {split} mentions; choose another --split")
        model = read_model(run, task.data)
        if calibrate:
            threshold = task.predictions(model, "valid").best_threshold()
        elif threshold is None:
            threshold = float(read_record(run)["threshold"]) if (run / RECORD).exists() else 0.5
        result = task.predictions(model, split, lowest=min(threshold, LOWEST)).measure(threshold)
        if as_json:
            typer.echo(json.dumps({"split": split, "threshold": threshold, **result}, indent=1))
            return
        console = Console(highlight=False)
        console.print(scores_table({split: result}, f"{split}: the likeliest type and all above {threshold:g}"))
        console.print(LEGEND, style="dim")


@verbs.predict.of("typing", epilog=_PREDICT_EXAMPLES)
def predict(
    run: Trained,
    sentence: Annotated[
        str | None, typer.Option(help="A sentence with the mention in brackets, or given by --mention.")
    ] = None,
    mention: Annotated[str | None, typer.Option(help="Words of the sentence whose types are asked for.")] = None,
    mentions: Annotated[
        Path | None, typer.Option(help="File of mentions, a JSON object a line as for training; types not needed.")
    ] = None,
    top: Annotated[
        int | None, typer.Option(min=1, help="How many types.", show_default="10; of a file: those predicted")
    ] = None,
    output: AnswersFile = None,
    form: AnswersFormat = None,
) -> None:
    """Types of a mention in a sentence, likeliest first."""
    with clean_errors():
        from hybonet.data.io.source_file import read_source
        from hybonet.data.mentions.mention_data import read_mentions
        from hybonet.data.mentions.sentence_words import mention_in
        from hybonet.tasks.typing.predictor import MentionTyper

        if (sentence is None) == (mentions is None):
            raise ValueError("expected either a --sentence or a file of --mentions")
        if mentions is not None and mention is not None:
            raise ValueError("expected --mention with a --sentence only; leave it out")
        written_as = answer_format(form, output)
        if sentence is not None:
            asked, top = [mention_in(sentence, mention)], top or 10
        else:
            assert mentions is not None
            asked = read_mentions(read_source(mentions), labelled=False)
        model = MentionTyper.load(run)
        _write(asked, model.types_of_many(asked, top=top), written_as, output)


def _write(asked: list[Mention], answers: list[list[TypeAnswer]], form: str, output: Path | None) -> None:
    if form == "table":
        from rich.console import Console

        from hybonet.tasks.typing.report import answers_table

        for mention, found in zip(asked, answers, strict=True):
            Console(highlight=False, markup=False).print(
                answers_table(mention.sentence, [answer.as_dict() for answer in found]), ""
            )
        return
    rows: list[dict[str, Any]] = [
        {"mention": number, "sentence": mention.sentence, "rank": rank, **answer.as_dict()}
        for number, (mention, found) in enumerate(zip(asked, answers, strict=True), 1)
        for rank, answer in enumerate(found, 1)
    ]
    write_rows(rows, form, output, f"{len(rows)} types of {len(asked)} mentions")


@verbs.plot.of("typing", epilog=_PLOT_EXAMPLES)
def plot(run: Run, output: PicturesFolder = None) -> None:
    """Draw the types on the Poincaré disk, how far from the centre each level lies, and the curves."""
    with clean_errors():
        from hybonet.tasks.typing import pictures as typing_pictures

        show_drawn(lambda: typing_pictures.draw_run(run, output or run))


@verbs.export.of("typing", epilog=_EXPORT_EXAMPLES)
def export(
    run: Trained,
    to: Annotated[
        Literal["pretrained", "vectors"],
        typer.Option(
            help="pretrained: a folder for `MentionTyper.from_pretrained`, without the sentences; vectors: the types' "
            "coordinates as .tsv."
        ),
    ],
    output: ExportPlace,
) -> None:
    """Write a trained typing model in a format that other tools read."""
    with clean_errors():
        from hybonet.tasks.typing.export import write_type_vectors
        from hybonet.tasks.typing.predictor import MentionTyper

        model = MentionTyper.load(run)
        if to == "pretrained":
            model.save_pretrained(output)
            typer.echo(f"Model: {output}")
        else:
            types, coordinates = write_type_vectors(model, output)
            typer.echo(f"{types:,} vectors of {coordinates} Lorentz coordinates: {output}")
