"""Tables in JSON: an array of rows, or a row per line; a row is an array of cells, or an object by column names."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from hybonet.data.io.in_memory import MemoryTable, memory_table
from hybonet.data.io.source_file import SourceFile
from hybonet.data.io.text_table import decode
from hybonet.files import parse_json

ENDINGS = (".json", ".jsonl", ".ndjson")


def is_json(file: SourceFile) -> bool:
    """Whether a file's name says that it is JSON."""
    return PurePath(file.bare_name).suffix.lower() in ENDINGS


def json_table(file: SourceFile) -> MemoryTable:
    r"""The table of a file; a cell that is missing (null) is empty.

    Example:
        >>> lines = SourceFile("kin.jsonl", "kin.jsonl", b'["ann", "knows", "bob"]\n["bob", "knows", 7]\n')
        >>> json_table(lines).texts
        [['ann', 'bob'], ['knows', 'knows'], ['bob', '7']]
        >>> array = SourceFile("kin.json", "kin.json", b'[{"head": "ann", "tail": "bob"}]')
        >>> json_table(array).names
        ('head', 'tail')
        >>> json_table(SourceFile("kin.json", "kin.json", b'["ann"\n'))
        Traceback (most recent call last):
        ValueError: kin.json, line 1: expected JSON, got malformed text (Expecting ',' delimiter, column 8); correct it
    """
    rows = json_rows(file)
    try:
        return replace(memory_table(rows), source=file.source)
    except ValueError as error:
        raise ValueError(str(error).replace("rows", file.source, 1)) from None


def json_rows(file: SourceFile) -> list[Any]:
    """What the array or the lines of a file hold."""
    text = decode(file.content, file.source)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    try:
        whole = parse_json(text) if text.lstrip().startswith("[") else None
    except json.JSONDecodeError as error:
        if error.msg != "Extra data":  # of an array per line, the second is too much
            raise _malformed(file, error.lineno, error) from None
        whole = None
    if isinstance(whole, list) and (len(lines) > 1 or not whole or isinstance(whole[0], list | dict)):
        return whole
    rows = []
    for number, line in lines:
        try:
            rows.append(parse_json(line))
        except json.JSONDecodeError as error:
            raise _malformed(file, number, error) from None
    return rows


def _malformed(file: SourceFile, line: int, error: json.JSONDecodeError) -> ValueError:
    return ValueError(
        f"{file.source}, line {line}: expected JSON, got malformed text ({error.msg}, column {error.colno}); correct it"
    )
