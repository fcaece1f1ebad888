"""Options of a task: what the command line shows as ``--option``, and Python takes as a keyword. Imports no torch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from inspect import getdoc
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from pydantic import Field

from hybonet.training.settings import Settings


class Options(Settings):
    """Base of all options; unknown names and wrong values are errors that name near matches, as for settings.

    Example:
        >>> class Reading(Options):
        ...     separator: str | None = option(None, "Character between columns.", shown="by the file's ending")
        >>> Reading(separator=";").given()
        {'separator': ';'}
    """

    @classmethod
    def _own_word(cls, name: str, value: Any) -> Any:
        """As Python has it: numbers may be names, one may stand for several, and columns may be a list or tuple.

        Example:
            >>> class Ask(Options):
            ...     node: list[str] | None = None
            ...     columns: str | None = None
            >>> Ask(node=7, columns=("child", 2))
            Ask(node=['7'], columns='child,2')
        """
        field = cls.model_fields.get(name)
        kinds = () if field is None else (field.annotation, *get_args(field.annotation))
        if isinstance(value, Sequence) and not isinstance(value, str) and str in kinds:
            return ",".join(map(str, value))
        if value is not None and (list[str] in kinds or list[Path] in kinds):
            return list(map(_name, value if isinstance(value, Iterable) and not isinstance(value, str) else [value]))
        return _name(value) if str in kinds else super()._own_word(name, value)

    #: How the name of a file ends that gets answers as plain text, where answers are text.
    text_file: ClassVar[str] = ""

    @classmethod
    def help_text(cls) -> tuple[str, str]:
        """What ``--help`` says of a command with these options, and its examples: the two parts of the docstring."""
        about, _, examples = (getdoc(cls) or "").partition("**Examples**")
        return ("", "") if cls.__module__ == __name__ else (about.strip(), examples.strip())

    def given(self) -> dict[str, Any]:
        """The options that were given, without those that were not."""
        return {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}

    def name_data(self) -> bool:
        """Whether these options name the data, so that the task's own are not taken."""
        return False


def option(
    default: Any, help: str, *, shown: str | None = None, flag: str | None = None, argument: bool = False, **limits: Any
) -> Any:
    """A field of :class:`Options`.

    Args:
        default: taken when it is not given; ``...`` if it must be.
        help: what it means, a sentence or a few words.
        shown: what help says of a default that is not a plain value.
        flag: its name on the command line, where that is not the field's.
        argument: it comes without ``--`` on the command line.
        limits: of pydantic's ``Field``: ``ge``, ``gt``, ``le``, …
    """
    extra: dict[str, Any] = {"shown": shown, "flag": flag, "argument": argument}
    return Field(default, description=help, json_schema_extra=extra, **limits)


def _name(value: Any) -> Any:
    return str(value) if isinstance(value, Real | Path) and not isinstance(value, bool) else value


class NoOptions(Options):
    """Where there is nothing to choose."""


class EvaluateOptions(Options):
    """Which part of the data to measure on; tasks have more."""

    split: Literal["train", "valid", "test"] = option("test", "Which part of the data.")


class PlotOptions(Options):
    """What to draw; tasks have more."""


class ExportOptions(Options):
    """What to write; tasks have more kinds."""

    to: Literal["pretrained", "vectors"] = option(
        "pretrained",
        "pretrained: a folder for `hybonet.load`, with a model card; vectors: coordinates as .tsv, .csv, .parquet or "
        ".npz.",
    )
    chart: Literal["lorentz", "poincare", "klein", "tangent"] | None = option(
        None, "Coordinates of vectors; tangent: Euclidean, at the origin.", shown="lorentz"
    )
    safe_csv: bool = option(False, "A ' before names that a spreadsheet would take for a formula.")


def names_of(options: type[Options], values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that are options of this kind.

    Example:
        >>> names_of(EvaluateOptions, {"split": "valid", "epochs": 3})
        {'split': 'valid'}
    """
    return {name: value for name, value in values.items() if name in options.model_fields}


def as_path(place: str | Path) -> Path:
    """A place on disk, however it is written.

    Example:
        >>> as_path("runs/kg").name
        'kg'
    """
    return Path(place).expanduser()


def column_list(text: str) -> list[int | str]:
    """Names or numbers of columns, with commas between them.

    Example:
        >>> column_list("subject, 2")
        ['subject', 2]
    """
    parts = [part.strip() for part in text.split(",")]
    return [int(part) if part.isdigit() else part for part in parts]
