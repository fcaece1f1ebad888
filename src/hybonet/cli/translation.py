"""``hybonet train translation``, and what ``evaluate``, ``plot`` and ``export`` do with its runs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hybonet.cli import verbs
from hybonet.cli.app import clean_errors
from hybonet.cli.options import AsJson, PicturesFolder, Run, only_given, tell_notes
from hybonet.cli.pictures import show_drawn
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
    from hybonet.data.text.translation_data import TranslationData
    from hybonet.tasks.translation.settings import TranslationSettings

Data = Annotated[
    str | None,
    typer.Option(
        help="A name (`hybonet data list`), a table of pairs (.tsv), or a folder with train, valid and test.",
        show_default="toy",
    ),
]
Source = Annotated[Path | None, typer.Option(help="File of sentences, instead of --data.")]
Target = Annotated[Path | None, typer.Option(help="File of their translations, line by line.")]
Direction = Annotated[str | None, typer.Option(help="From which language into which, such as en-de.")]
Tokenized = Annotated[bool, typer.Option("--tokenized", help="Punctuation stands apart already, as Moses does it.")]
Codes = Annotated[Path | None, typer.Option(help="Merges of subword-nmt, for --set tokenizer=subword-nmt.")]

_TRAIN_EXAMPLES = """
**Examples**

The toy language inside the package, about a minute: `hybonet train translation --out runs/toy`

Two aligned files: `hybonet train translation --source talks.en --target talks.de --direction en-de --out runs/talks`

A table with a sentence, a tab and its translation a line: `hybonet train translation --data pairs.tsv --out runs/mine`

A folder with train.en, train.de, valid.en, valid.de, test.en, test.de:
`hybonet train translation --data talks --direction en-de --out runs/talks`

A corpus by name, other settings: `hybonet train translation --data multi30k --recipe multi30k-64 --set epochs=20
--out runs/multi30k`

Go on with a run that was stopped: `hybonet train translation --out runs/talks --resume`
"""
_EVALUATE_EXAMPLES = """
**Examples**

The best model of a run on its test sentences: `hybonet evaluate runs/toy`

On another split, all numbers for a program: `hybonet evaluate runs/multi30k --split test2017 --json`
"""
_PLOT_EXAMPLES = """
**Examples**

`hybonet plot runs/toy` draws the curves, and where the decoder looks while it translates the first test sentence.

`hybonet plot runs/toy --sentence "The dog sees two birds."` looks at this one.
"""
_EXPORT_EXAMPLES = """
**Example**

`hybonet export runs/toy --output toy-model` writes what use needs, with a model card; the text stays behind.
"""


@train_app.command("translation", epilog=_TRAIN_EXAMPLES)
def train_translation(
    out: Out,
    data: Data = None,
    source: Source = None,
    target: Target = None,
    direction: Direction = None,
    tokenized: Tokenized = False,
    codes: Codes = None,
    recipe: Annotated[str | None, typer.Option(help=RECIPE_HELP, show_default="translation")] = None,
    set_: Changes = None,
    resume: Resume = False,
    tensorboard: TensorBoard = False,
    threads: Threads = None,
) -> None:
    """Train a translation model, score its translations of the test sentences, and keep everything in one folder.

    Ctrl-C stops at the next batch, saves, and says how to go on.
    """
    with clean_errors():
        from hybonet.tasks.translation.run import read_settings_to_resume, start_run, train_run

        use_threads(threads)
        given = about_data(data, source, target, direction, tokenized, codes)
        chosen = recipe or "translation"
        settings = settings_of_run(
            out,
            "translation",
            resume=resume,
            read=read_settings_to_resume,
            recipe=chosen,
            given=given | only_given(recipe=recipe),
            changes=set_ or [],
        )
        train_in(
            out,
            "translation",
            settings,
            start=None if resume else lambda: start_run(out, settings, load_data(settings, given), recipe=chosen),
            train=train_run,
            show=lambda: _show(out),
            tensorboard=tensorboard,
        )


def about_data(
    data: str | None,
    source: Path | None,
    target: Path | None,
    direction: str | None,
    tokenized: bool,
    codes: Path | None,
) -> dict[str, Any]:
    """The options about text that were given, as :func:`load_data` takes them and as a file of JSON can hold them."""
    files = {"source": source and str(source), "target": target and str(target), "codes": codes and str(codes)}
    return only_given(data=data, direction=direction, tokenized=tokenized or None, **files)


def load_data(settings: TranslationSettings, given: Mapping[str, Any]) -> TranslationData:
    """The text that options ask for, as numbers; what is odd about it is told."""
    from hybonet.data import load_corpus
    from hybonet.data.text.translation_data import prepare

    source, target = given.get("source"), given.get("target")
    name = given.get("data", None if source or target else "toy")
    rest: dict[str, Any] = {key: value for key, value in given.items() if key in ("direction", "tokenized", "codes")}
    if "codes" in rest and settings.tokenizer != "subword-nmt":
        raise ValueError(
            f"expected tokenizer=subword-nmt with --codes, got tokenizer={settings.tokenizer}; add --set "
            "tokenizer=subword-nmt, or leave --codes out"
        )
    data = prepare(
        load_corpus(name, source_file=source, target_file=target, **rest),
        settings.tokenizer,
        settings.vocabulary,
        share=settings.share_vocabulary,
        max_length=settings.max_length,
    )
    tell_notes(data.notes)
    return data


def _show(out: Path) -> None:
    from rich.console import Console

    from hybonet.tasks.run_folder import read_record
    from hybonet.tasks.translation.report import LEGEND, examples_table, scores_table, signature_lines
    from hybonet.tasks.translation.run import read_about

    record, console = read_record(out), Console(highlight=False)
    console.print(scores_table(record))
    console.print(LEGEND, style="dim")
    if "test" in record:
        for line in signature_lines(record["test"]):
            console.print(line, style="dim", soft_wrap=True)
        console.print(examples_table(record["test"]["examples"]))
    place = shlex.quote(str(out))
    sentence = "A sentence , cut as the training text is ." if read_about(out)["tokenized"] else "A sentence."
    typer.echo(f"Run: {out}\nTranslate with it: echo '{sentence}' | hybonet translate {place}")


@verbs.evaluate.of("translation", epilog=_EVALUATE_EXAMPLES)
def evaluate_translation(
    run: Run,
    split: Annotated[
        str, typer.Option(help="Which sentences: test, valid, or another test set of the corpus.")
    ] = "test",
    beam: Annotated[int | None, typer.Option(min=1, help="Translations followed.", show_default="the run's")] = None,
    length_penalty: Annotated[
        float | None, typer.Option(min=0, help="0: short translations win.", show_default="the run's")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Perplexity, sacreBLEU, chrF and the paper's BLEU of a run's translations, with signatures."""
    with clean_errors():
        from rich.console import Console

        from hybonet.tasks.translation.decoding import Decoding
        from hybonet.tasks.translation.evaluation import evaluate
        from hybonet.tasks.translation.report import LEGEND, scores_table, signature_lines
        from hybonet.tasks.translation.run import read_data, read_model, read_settings
        from hybonet.training import near_match
        from hybonet.training.progress import counting

        settings, data = read_settings(run), read_data(run)
        if split not in data.texts:
            raise ValueError(f"expected a split of {run}, got {split!r}; {near_match(split, data.texts)}")
        chosen = Decoding(
            beam=beam or settings.beam,
            length_penalty=settings.length_penalty if length_penalty is None else length_penalty,
        )
        with counting("translating", len(data.texts[split])) as progress:
            result = evaluate(read_model(run), data, split, chosen, settings=settings, progress=progress)
        if as_json:
            typer.echo(json.dumps(result, indent=1, ensure_ascii=False))
            return
        console = Console(highlight=False)
        console.print(scores_table({split: result}))
        console.print(LEGEND, style="dim")
        for line in signature_lines(result):
            console.print(line, style="dim", soft_wrap=True)


@verbs.plot.of("translation", epilog=_PLOT_EXAMPLES)
def plot_translation(
    run: Run,
    sentence: Annotated[
        str | None, typer.Option(help="Whose translation is looked at.", show_default="the first test sentence")
    ] = None,
    output: PicturesFolder = None,
) -> None:
    """Draw the curves of a training, and where the decoder looks while it translates a sentence."""
    with clean_errors():
        from hybonet.tasks.translation import pictures as mt_pictures

        show_drawn(lambda: mt_pictures.draw_run(run, output or run, sentence=sentence))


@verbs.export.of("translation", epilog=_EXPORT_EXAMPLES)
def export_translation(
    run: Run,
    output: Annotated[Path, typer.Option(help="New folder; nothing is overwritten.")],
    to: Annotated[
        Literal["pretrained"], typer.Option(help="pretrained: a folder for `MTModel.from_pretrained`.")
    ] = "pretrained",
) -> None:
    """Write a trained translation model as a folder to hand on."""
    with clean_errors():
        from hybonet.tasks.translation.predictor import MTModel

        MTModel.load(run).save_pretrained(output)
        typer.echo(f"Model: {output}")
