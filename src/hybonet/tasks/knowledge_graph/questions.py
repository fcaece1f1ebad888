"""Questions to a knowledge graph from a file."""

from __future__ import annotations

from pathlib import Path

from hybonet.data.io.source_file import read_source
from hybonet.data.io.text_table import parse_table, separator_for
from hybonet.data.triples.triple_file import SEPARATORS

COLUMNS = ("head", "relation", "tail")


def read_questions(path: Path) -> list[dict[str, str]]:
    """Rows of a CSV or TSV (or .txt) file with a header that names two or three of head, relation and tail.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "questions.csv"
        >>> _ = path.write_text("head,relation\\ndog,hypernym\\n")
        >>> read_questions(path)
        [{'head': 'dog', 'relation': 'hypernym'}]
    """
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
        raise ValueError(f"{path}: expected a question per line after the header, got none; add some")
    return questions
