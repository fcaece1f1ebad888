"""How answers are written: tables for people; JSON, CSV or TSV for programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hybonet.cli.options import say
from hybonet.files import without_formula

if TYPE_CHECKING:
    from hybonet.reporting.answers import Answers, Measures

#: Formats by file ending.
FORMATS = {".json": "json", ".csv": "csv", ".tsv": "tsv"}


def answer_format(form: str | None, output: Path | None, text_file: str = "") -> str:
    """How answers are written: as --format says, else as the ending of the file does, else as tables.

    Args:
        text_file: the ending of files of plain text, for answers that are text.

    Example:
        >>> answer_format(None, Path("answers.tsv"))
        'tsv'
        >>> answer_format(None, Path("answers.txt"))
        Traceback (most recent call last):
        ValueError: expected --output to end in .json, .csv or .tsv, got 'answers.txt'; rename it, or say --format csv
    """
    if output is None:
        return form or "table"
    known = {**FORMATS, text_file: "text"} if text_file else FORMATS
    form = form or known.get(output.suffix.lower())
    if form is None:
        raise ValueError(
            f"expected --output to end in {', '.join(list(known)[:-1])} or {list(known)[-1]}, got "
            f"{output.name!r}; rename it, or say --format csv"
        )
    if form == "table":
        raise ValueError("expected --format json, csv or tsv for a file, got table; choose one, or leave out --output")
    return form


def check_output(
    output: Path | None, *, overwrite: bool = False, inputs: Mapping[str, Any] = MappingProxyType({})
) -> None:
    """Refuse, before any work, a file that could not be written, that may not be replaced, or that is read, too.

    Args:
        inputs: what is read, by what it is called; anything but paths is passed over.

    Example:
        >>> check_output(Path("/"))
        Traceback (most recent call last):
        ValueError: expected a file to write to, got '/', which is a folder; choose another --output
    """
    if output is None:
        return
    if output.is_dir() or not output.parent.is_dir():
        what = "a folder" if output.is_dir() else "a file in a folder that is not there"
        raise ValueError(f"expected a file to write to, got {str(output)!r}, which is {what}; choose another --output")
    if output.is_file() and not overwrite:
        raise ValueError(
            f"expected a new file, got {str(output)!r}, which is there; add --overwrite to replace it, or choose "
            "another --output"
        )
    for name, path in inputs.items():
        if isinstance(path, Path) and output.is_file() and path.exists() and output.samefile(path):
            raise ValueError(
                f"expected --output to be another file than that of the {name}, got {str(output)!r} for both; choose "
                "another --output"
            )


def write_text(text: str, output: Path | None) -> None:
    """To the terminal or, whole or not at all, to a file."""
    from hybonet.cli.options import say
    from hybonet.files import write_atomically

    if output is None:
        say(text)
        return
    write_atomically(output, lambda target: target.write_text(text + "\n", encoding="utf-8"))


def write(
    answered: Answers | Measures, form: str, output: Path | None, *, quiet: bool = False, safe_csv: bool = False
) -> None:
    """To the terminal or, whole or not at all, to a file, in the form that :func:`answer_format` chose.

    Example:
        >>> from hybonet.reporting.answers import Answers
        >>> write(Answers([{"rank": 1, "name": "dog"}]), "csv", None)
        rank,name
        1,dog
    """
    from hybonet.files import write_atomically

    if form == "table":
        _print(answered)
        return
    text = _text(answered, form, safe_csv)
    if output is None:
        say(text, nl=False)
        return
    write_atomically(output, lambda target: target.write_text(text, encoding="utf-8"))
    if not quiet:
        say(f"{len(answered):,} {'measures' if isinstance(answered, dict) else 'answers'}: {output}")


def _print(answered: Answers | Measures) -> None:
    from hybonet.reporting.console import Console

    text = getattr(answered, "text", None)
    if text is not None:
        say(text, nl=False)
        return
    console = Console(highlight=False)
    for table in answered.tables():
        console.print(table)


def _text(answered: Answers | Measures, form: str, safe_csv: bool) -> str:
    if form == "text":
        text: str | None = getattr(answered, "text", None)
        assert text is not None
        return text
    if form == "json":
        return json.dumps(answered.as_json(), indent=1, ensure_ascii=False) + "\n"
    rows = answered.rows()
    if safe_csv:
        rows = [{name: without_formula(cell) for name, cell in row.items()} for row in rows]
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, answered.columns, delimiter="\t" if form == "tsv" else ",", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()
