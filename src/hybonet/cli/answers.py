"""Questions from files, and answers as tables, JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from hybonet.tasks.kg_answers import Answer

COLUMNS = ("head", "relation", "tail")


def read_questions(path: Path) -> list[dict[str, str]]:
    """Rows of a CSV or TSV file with a header that names two or three of head, relation and tail.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "questions.csv"
        >>> _ = path.write_text("head,relation\\ndog,hypernym\\n")
        >>> read_questions(path)
        [{'head': 'dog', 'relation': 'hypernym'}]
    """
    separator = "\t" if path.suffix.lower() in (".tsv", ".txt") else ","
    with open(path, encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, delimiter=separator)
        header = reader.fieldnames or []
        unknown = [name for name in header if name not in COLUMNS]
        if len(header) < 2 or unknown:
            raise ValueError(
                f"{path}, line 1: expected a header naming two or three of head, relation and tail, got "
                f"{', '.join(map(repr, header)) or 'nothing'}"
            )
        questions = [{key: value.strip() for key, value in row.items() if key and value} for row in reader]
    if not questions:
        raise ValueError(f"{path}: expected a question a line after the header, got none")
    return questions


def write_answers(answered: list[tuple[dict[str, str], list[Answer]]], form: str, output: Path | None) -> None:
    """To the terminal, or to a file (JSON or CSV by --format, else by its ending)."""
    if form == "table" and output is not None:
        form = "json" if output.suffix.lower() == ".json" else "csv"
    if form == "table":
        _print_tables(answered)
        return
    rows = [
        {**{name: question.get(name, "") for name in COLUMNS}, "rank": rank, **answer.as_dict()}
        for question, answers in answered
        for rank, answer in enumerate(answers, 1)
    ]
    if form == "json":
        text = json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
    else:
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, [*COLUMNS, "rank", "label", "name", "probability", "score", "known"])
        writer.writeheader()
        writer.writerows(rows)
        text = buffer.getvalue()
    if output is None:
        typer.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
        typer.echo(f"{len(rows)} answers to {len(answered)} questions: {output}")


def _print_tables(answered: list[tuple[dict[str, str], list[Answer]]]) -> None:
    from rich.console import Console
    from rich.table import Table

    for question, answers in answered:
        title = " — ".join(question.get(name, "?") for name in COLUMNS)
        figure = "score" if any(answer.probability is None for answer in answers) else "probability"
        table = Table("", "answer", "label", figure, "known", title=title, title_justify="left")
        for rank, answer in enumerate(answers, 1):
            value = f"{getattr(answer, figure):.3f}"
            table.add_row(str(rank), answer.name, answer.label, value, "yes" if answer.known else "")
        Console().print(table)
