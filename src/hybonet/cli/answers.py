"""Questions from files, and answers as tables, JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from hybonet.tasks.knowledge_graph.predictor import Answer, Judgement

COLUMNS = ("head", "relation", "tail")
#: Formats by file ending.
FORMATS = {".json": "json", ".csv": "csv", ".tsv": "tsv"}


def read_questions(path: Path) -> list[dict[str, str]]:
    """Rows of a CSV or TSV (or .txt) file with a header that names two or three of head, relation and tail.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "questions.csv"
        >>> _ = path.write_text("head,relation\\ndog,hypernym\\n")
        >>> read_questions(path)
        [{'head': 'dog', 'relation': 'hypernym'}]
    """
    from hybonet.data.io.source_file import read_source
    from hybonet.data.io.text_table import parse_table, separator_for
    from hybonet.data.triples.triple_file import SEPARATORS

    file = read_source(path)
    separator = separator_for(file.bare_name, SEPARATORS)
    table = parse_table(file.content, file.source, separator=separator, row_is="question")
    rows = [(number, [cell.strip() for cell in row]) for number, row in enumerate(table) if any(row)]
    header = rows[0][1] if rows else []
    if len(header) < 2 or not set(header) <= set(COLUMNS) or len(set(header)) < len(header):
        raise ValueError(
            f"{path}, line 1: expected a header naming two or three of head, relation and tail, got "
            f"{', '.join(map(repr, header)) or 'nothing'}; write e.g. head{separator}relation"
        )
    for number, row in rows:
        if len(row) != len(header):
            raise table.error(number, f"expected {len(header)} columns as in the header, got {len(row)}; correct it")
    questions = [{key: cell for key, cell in zip(header, row, strict=True) if cell} for _, row in rows[1:]]
    if not questions:
        raise ValueError(f"{path}: expected a question a line after the header, got none; add some")
    return questions


def answer_format(form: str | None, output: Path | None) -> str:
    """How answers are written: as --format says, else as the ending of the file does, else as tables.

    Example:
        >>> answer_format(None, Path("answers.tsv"))
        'tsv'
        >>> answer_format(None, Path("answers.txt"))
        Traceback (most recent call last):
        ValueError: expected --output to end in .json, .csv or .tsv, got 'answers.txt'; rename it, or say --format csv
    """
    if output is None:
        return form or "table"
    check_output(output)
    form = form or FORMATS.get(output.suffix.lower())
    if form is None:
        raise ValueError(
            f"expected --output to end in {', '.join(list(FORMATS)[:-1])} or {list(FORMATS)[-1]}, got "
            f"{output.name!r}; rename it, or say --format csv"
        )
    if form == "table":
        raise ValueError("expected --format json, csv or tsv for a file, got table; choose one, or leave out --output")
    return form


def check_output(output: Path) -> None:
    """Refuse, before any work, a file that could not be written.

    Example:
        >>> check_output(Path("/"))
        Traceback (most recent call last):
        ValueError: expected a file to write to, got '/', which is a folder; choose another --output
    """
    if output.is_dir() or not output.parent.is_dir():
        what = "a folder" if output.is_dir() else "a file in a folder that is not there"
        raise ValueError(f"expected a file to write to, got {str(output)!r}, which is {what}; choose another --output")


def write_answers(answered: list[tuple[dict[str, str], list[Answer]]], form: str, output: Path | None) -> None:
    """To the terminal, or to a file, in the form that :func:`answer_format` chose."""
    if form == "table":
        _print_tables(answered)
        return
    rows = [
        {**{name: question.get(name, "") for name in COLUMNS}, "rank": rank, **answer.as_dict()}
        for question, answers in answered
        for rank, answer in enumerate(answers, 1)
    ]
    columns = [*COLUMNS, "rank", "label", "name", "probability", "score", "known"]
    write_rows(rows, form, output, f"{len(rows)} answers to {len(answered)} questions", columns=columns)


def write_judgements(judged: list[Judgement], form: str, output: Path | None) -> None:
    """What a model thinks of triples, in the form that :func:`answer_format` chose."""
    if form != "table":
        columns = [*COLUMNS, "tail_rank", "head_rank", "probability", "score", "known"]
        rows = [each.as_dict() for each in judged]
        write_rows(rows, form, output, f"{len(rows)} triples judged", columns=columns)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*COLUMNS, "rank of tail", "of head", "probability", "known")
    for each in judged:
        ranks = (f"{each.tail_rank:,g}", f"{each.head_rank:,g}")
        known = "yes" if each.known else ""
        names = map(Text, (each.head, each.relation, each.tail))  # as they are: strings would be read as markup
        table.add_row(*names, *ranks, f"{each.probability:.3f}", known)
    Console().print(table)


def write_rows(
    rows: Sequence[Mapping[str, Any]], form: str, output: Path | None, what: str, *, columns: Sequence[str] = ()
) -> None:
    """Rows with the same keys as JSON, CSV or TSV, to the terminal or, whole or not at all, to a file.

    Args:
        what: told about the file.
        columns: the rows' keys, for a header even where there is no row.

    Example:
        >>> write_rows([{"rank": 1, "name": "dog"}], "csv", None, "1 answer")
        rank,name
        1,dog
    """
    from hybonet.files import write_atomically

    if form == "json":
        text = json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
    else:
        buffer = io.StringIO()
        fields = columns or list(rows[0] if rows else ())
        writer = csv.DictWriter(buffer, fields, delimiter="\t" if form == "tsv" else ",", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        text = buffer.getvalue()
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_atomically(output, lambda target: target.write_text(text, encoding="utf-8"))
        typer.echo(f"{what}: {output}")


def _print_tables(answered: list[tuple[dict[str, str], list[Answer]]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    for question, answers in answered:
        title = Text(" — ".join(question.get(name, "?") for name in COLUMNS), style="table.title")
        figure = "score" if any(answer.probability is None for answer in answers) else "probability"
        table = Table("", "answer", "label", figure, "known", title=title, title_justify="left")
        for rank, answer in enumerate(answers, 1):
            value = f"{getattr(answer, figure):.3f}"
            table.add_row(str(rank), Text(answer.name), Text(answer.label), value, "yes" if answer.known else "")
        Console().print(table)
