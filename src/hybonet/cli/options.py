"""Options that several commands have, and what is said about data."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Annotated, Any

import typer

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what --output names, if it is there.")]
AsJson = Annotated[bool, typer.Option("--json", help="Everything, as JSON.")]


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print what people read, without control characters that may come from data; a file or pipe gets all of it."""
    from hybonet.reporting.console import cleaned

    stream = sys.stderr if err else sys.stdout
    typer.echo(cleaned(text) if err or stream.isatty() else text, err=err, nl=nl)


def only_given(**options: Any) -> dict[str, Any]:
    """Options that were given, without those that were not.

    Example:
        >>> only_given(data="facts.tsv", recipe=None)
        {'data': 'facts.tsv'}
    """
    return {name: value for name, value in options.items() if value is not None}


def tell_notes(lines: Iterable[str]) -> None:
    """Say on standard error what is odd about the data."""
    from hybonet.reporting.console import cleaned
    from hybonet.training.progress import print_line

    for line in lines:
        print_line(cleaned(f"note: {line}"), error=True)
