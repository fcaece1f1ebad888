"""Rows of a TSV or CSV file, and the line each came from; every error names the source, the line, the value."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from pathlib import PurePath
from typing import Any

#: How a separator is called in messages; others are shown as they are.
SEPARATOR_NAMES = {"\t": "a tab", ",": "a comma", " ": "a space", ";": "a semicolon", "|": "a bar"}


@dataclass(frozen=True)
class TextTable:
    r"""The rows of a text file, cells as they stand; a blank line is an empty row.

    Example:
        >>> table = parse_table(b"dog\tcanine\n\nwolf\tcanine\n", "animals.tsv", separator="\t")
        >>> table.rows
        [['dog', 'canine'], [], ['wolf', 'canine']]
        >>> table.where(2)
        'animals.tsv, line 3'
    """

    source: str
    separator: str
    text: str = field(repr=False)
    row_is: str = "row"

    @cached_property
    def rows(self) -> list[list[str]]:
        """Cells of every line."""
        reader = _reader(self.text, self.separator)
        try:
            return list(reader)
        except csv.Error as error:
            raise ValueError(
                f"{self.source}, line {reader.line_num}: expected one {self.row_is} per line as CSV, got malformed "
                f'text ({error}); close every quote, and write a quote inside a name as ""'
            ) from None

    def columns(self) -> list[list[str]] | None:
        """All cells by column if every line has the same number of them and none is quoted, else None.

        Many times faster than rows, for it makes no list of each.
        """
        text = self.text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
        if self.separator == "," and '"' in text:
            return None
        lines = text.split("\n")
        separators = set(map(str.count, lines, repeat(self.separator)))
        if len(separators) != 1:
            return None
        width, cells = 1 + separators.pop(), self.separator.join(lines).split(self.separator)
        return [cells[column::width] for column in range(width)]

    def where(self, row: int) -> str:
        """The source and the line on which a row ends, for messages."""
        line = row + 1
        if '"' in self.text:  # quoted cells may hold line breaks: read again, counting lines
            reader = _reader(self.text, self.separator)
            for _ in range(row + 1):
                next(reader)
            line = reader.line_num
        return f"{self.source}, line {line}"

    def error(self, row: int, problem: str) -> ValueError:
        """The error to raise for a bad row."""
        return ValueError(f"{self.where(row)}: {problem}")

    def __iter__(self) -> Iterator[list[str]]:
        return iter(self.rows)


def parse_table(content: bytes, source: str, *, separator: str, row_is: str = "row") -> TextTable:
    """A file's bytes as a table.

    Only comma-separated text knows quotes: elsewhere a quote is part of a name.
    """
    return TextTable(source, separator, decode(content, source), row_is)


def decode(content: bytes, source: str) -> str:
    """The text of UTF-8 bytes without byte order mark, or a ValueError naming the first line that is not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{source}, line {line}: expected UTF-8 text, got the byte {content[error.start]:#04x}; "
            "save the file as UTF-8"
        ) from None


def separator_for(source: str, known: Mapping[str, str]) -> str:
    """The column separator that a file's ending promises."""
    suffix = PurePath(source).suffix.lower()
    if suffix not in known:
        raise ValueError(
            f"{source}: expected a file name ending in {' or '.join(known)}, got {suffix or 'no ending'!r}; "
            "rename the file so that its ending says how its columns are separated"
        )
    return known[suffix]


def _reader(text: str, separator: str) -> Any:  # the reader's class has no public name
    lines = io.StringIO(text, newline="")
    if separator == ",":
        return csv.reader(lines, strict=True)
    return csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE)
