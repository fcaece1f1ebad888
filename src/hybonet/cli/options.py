"""Options that commands of several tasks have, and what is read from them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

Run = Annotated[Path, typer.Argument(help="A run folder.")]
Trained = Annotated[Path, typer.Argument(help="A run folder, or an exported model.")]
AsJson = Annotated[bool, typer.Option("--json", help="Everything, as JSON.")]
PicturesFolder = Annotated[Path | None, typer.Option(help="Folder for the pictures.", show_default="the run")]
AnswersFile = Annotated[
    Path | None, typer.Option(help="Write answers to this .json, .csv or .tsv file instead of the terminal.")
]
AnswersFormat = Annotated[
    Literal["table", "json", "csv", "tsv"] | None,
    typer.Option("--format", help="How answers are written.", show_default="by the ending of --output, else table"),
]
ExportPlace = Annotated[Path, typer.Option(help="New file (vectors) or new folder; nothing is overwritten.")]


def only_given(**options: Any) -> dict[str, Any]:
    """Options that were given, without those that were not.

    Example:
        >>> only_given(data="facts.tsv", recipe=None)
        {'data': 'facts.tsv'}
    """
    return {name: value for name, value in options.items() if value is not None}


def column_list(text: str) -> list[int | str]:
    """Names or numbers of columns, with commas between them.

    Example:
        >>> column_list("subject, 2")
        ['subject', 2]
    """
    parts = [part.strip() for part in text.split(",")]
    return [int(part) if part.isdigit() else part for part in parts]


def tell_notes(lines: Iterable[str]) -> None:
    """Say on standard error what is odd about the data."""
    for line in lines:
        typer.echo(f"note: {line}", err=True)
