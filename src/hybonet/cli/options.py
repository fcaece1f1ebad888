"""Options that several commands have, and what is said about data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Everything, as JSON.")]


def only_given(**options: Any) -> dict[str, Any]:
    """Options that were given, without those that were not.

    Example:
        >>> only_given(data="facts.tsv", recipe=None)
        {'data': 'facts.tsv'}
    """
    return {name: value for name, value in options.items() if value is not None}


def tell_notes(lines: Iterable[str]) -> None:
    """Say on standard error what is odd about the data."""
    for line in lines:
        typer.echo(f"note: {line}", err=True)
