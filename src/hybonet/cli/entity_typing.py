"""``hybonet train typing``; what other commands do with its runs is in :mod:`hybonet.cli.typing_runs`."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hybonet.cli.app import clean_errors
from hybonet.cli.options import only_given, tell_notes
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
    from hybonet.data.mentions.mention_data import Mention
    from hybonet.tasks.typing.settings import TypingSettings

Data = Annotated[
    str | None,
    typer.Option(
        help="little-town (inside the package), ufet (from HYBONET_DATA), a folder with train, valid and test .json or "
        ".jsonl files, or one such file.",
        show_default="little-town",
    ),
]
Types = Annotated[
    Path | None,
    typer.Option(
        help="File of types: one a line, or a type, a tab and its level.",
        show_default="types.txt of the folder, else all that occur",
    ),
]
Words = Annotated[
    Path | None,
    typer.Option(
        help="Text file of word vectors, such as GloVe's; may be packed (.gz, .xz).",
        show_default="words.txt of the folder, else GloVe in HYBONET_DATA",
    ),
]

_TRAIN_EXAMPLES = """
**Examples**

The invented town inside the package, under two minutes: `hybonet train typing --out runs/town`

Mentions of your own with GloVe: `hybonet train typing --data mine --types types.tsv --words glove.6B.100d.txt --out
runs/mine`

The crowd-sourced Open Entity data (see docs/entity-typing.md): `hybonet train typing --data ufet --recipe typing --out
runs/ufet`

Go on with a run that was stopped: `hybonet train typing --out runs/mine --resume`
"""


@train_app.command("typing", epilog=_TRAIN_EXAMPLES)
def train_typing(
    out: Out,
    data: Data = None,
    types: Types = None,
    words: Words = None,
    recipe: Annotated[
        str | None, typer.Option(help=RECIPE_HELP, show_default="typing; typing-tutorial for little-town")
    ] = None,
    set_: Changes = None,
    resume: Resume = False,
    tensorboard: TensorBoard = False,
    threads: Threads = None,
) -> None:
    """Train a model that tells the types of mentions in sentences, measure it, and keep everything in one folder.

    Ctrl-C stops at the next batch, saves, and says how to go on.
    """
    with clean_errors():
        from hybonet.tasks.typing.run import read_settings_to_resume, train_run

        use_threads(threads)
        chosen = recipe or ("typing-tutorial" if data in (None, "little-town") else "typing")
        settings = settings_of_run(
            out,
            "typing",
            resume=resume,
            read=read_settings_to_resume,
            recipe=chosen,
            given=only_given(data=data, types=types, words=words, recipe=recipe),
            changes=set_ or [],
        )
        train_in(
            out,
            "typing",
            settings,
            start=None if resume else lambda: _start(out, settings, chosen, data or "little-town", types, words),
            train=train_run,
            show=lambda: _show(out),
            rate=(settings.batch_size, "mentions/s"),
            tensorboard=tensorboard,
        )


def _start(
    out: Path, settings: TypingSettings, recipe: str, source: str, types: Path | None, words: Path | None
) -> None:
    """Load the mentions and write what a run starts from."""
    from hybonet.data.mentions.loading import load_mentions
    from hybonet.tasks.typing.run import start_run

    data = load_mentions(source, types=types, words=words)
    tell_notes(data.notes)
    start_run(out, settings, data, recipe=recipe)


def _show(out: Path) -> None:
    from rich.console import Console

    from hybonet.tasks.run_folder import read_record
    from hybonet.tasks.typing.report import LEGEND, record_table
    from hybonet.tasks.typing.run import read_data

    console = Console(highlight=False)
    console.print(record_table(read_record(out)))
    console.print(LEGEND, style="dim")
    typer.echo(f"Run: {out}\nAsk it: hybonet predict {shlex.quote(str(out))} {question(out, read_data(out).valid)}")


def question(out: Path, mentions: Sequence[Mention]) -> str:
    """Options of ``hybonet predict`` that work: the first sentence with no other brackets, else all mentions."""
    from hybonet.data.mentions.sentence_words import mention_in, split_words
    from hybonet.tasks.typing.run import mentions_file

    for mention in mentions:
        with contextlib.suppress(ValueError):
            if mention_in(mention.sentence).words == split_words(" ".join(mention.words)):
                return f"--sentence {shlex.quote(mention.sentence)}"
    return f"--mentions {shlex.quote(str(out / mentions_file('valid')))}"
