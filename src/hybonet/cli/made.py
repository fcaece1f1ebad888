"""Commands made from options: a field of an :class:`~hybonet.tasks.options.Options` class is an ``--option``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from hybonet.cli.app import clean_errors
from hybonet.tasks.options import Options

#: Limits of a field that typer checks, too.
_LIMITS = {"ge": "min", "le": "max"}


def parameters(options: type[Options], *, but: Iterable[str] = ()) -> list[inspect.Parameter]:
    """Typer's parameters for the fields of a class of options.

    Example:
        >>> from hybonet.tasks.options import EvaluateOptions
        >>> [each.name for each in parameters(EvaluateOptions)]
        ['split']
    """
    return [_parameter(name, field) for name, field in options.model_fields.items() if name not in set(but)]


def _parameter(name: str, field: Any) -> inspect.Parameter:
    extra: Mapping[str, Any] = field.json_schema_extra or {}
    limits = {
        _LIMITS[kind]: value
        for each in field.metadata
        for kind in _LIMITS
        if (value := getattr(each, kind, None)) is not None
    }
    about: dict[str, Any] = {"help": field.description, **limits}
    if extra.get("shown"):
        about["show_default"] = extra["shown"]
    kind = Path | None if field.annotation is Any else field.annotation  # data: objects of Python, or a file
    names = []
    if extra.get("flag"):
        names = [extra["flag"]]
    elif kind is bool:
        names = [f"--{name.replace('_', '-')}"]
    option = typer.Argument(**about) if extra.get("argument") else typer.Option(*names, **about)
    default = inspect.Parameter.empty if field.is_required() else field.default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option])


def parameter(name: str, kind: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    """One that every command of its kind has; ``kind`` is annotated with typer's option."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def add(
    place: typer.Typer,
    body: Callable[..., None],
    given: Iterable[inspect.Parameter],
    *,
    name: str | None,
    about: str,
    examples: str = "",
) -> None:
    """Add a command that has these parameters, and whose mistakes are one line.

    Args:
        body: takes the parameters by name.
        examples: the end of its help.
    """
    ordered = sorted(given, key=lambda each: each.default is not inspect.Parameter.empty)

    def run(**values: Any) -> None:
        with clean_errors():
            body(**values)

    run.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in ordered}
    place.command(name, help=about, epilog=f"**Examples**\n\n{examples}" if examples else None)(run)


def chosen(options: type[Options], values: Mapping[str, Any]) -> Options:
    """The options that were given on a command line; those that have their default count as not given."""
    fields = options.model_fields
    return options.checked(
        {name: value for name, value in values.items() if name in fields and value not in (fields[name].default, [])}
    )
