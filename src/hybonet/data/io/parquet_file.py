"""Triples from a Parquet file, read with pyarrow where it is installed."""

from __future__ import annotations

import importlib
import io
from collections.abc import Sequence
from typing import Any

from hybonet.data.io.column_choice import ROLES, choose_columns, recognise_header
from hybonet.data.io.numpy_file import first_line
from hybonet.data.io.source_file import SourceFile, check_size


def read_parquet_triples(
    file: SourceFile, columns: Sequence[str | int] | None
) -> tuple[list[str], list[str], list[str]]:
    """Labels of head, relation and tail; numbers become text, and a missing value an empty label.

    Args:
        file: the file's content.
        columns: names or positions of the three columns; None takes usual names, else the three of three.
    """
    arrow, _ = pyarrow_modules(file.source)
    table = read_parquet(file)
    names = list(table.column_names)
    places = choose_columns(names, columns, file.source) if columns is not None else recognise_header(names)
    if places is None:
        if len(names) != len(ROLES):
            raise ValueError(
                f"{file.source}: expected 3 columns (head, relation, tail), got {len(names)}: {', '.join(names)}; "
                "choose three with --columns (in Python columns=)"
            )
        places = (0, 1, 2)
    if len(table) == 0:
        raise ValueError(f"{file.source}: expected at least one triple, got no rows; add some")
    heads, relations, tails = (_labels(arrow, table, names[place], file.source) for place in places)
    return heads, relations, tails


def _labels(arrow: Any, table: Any, name: str, source: str) -> list[str]:
    try:
        column = table.column(name).cast(arrow.string())
    except arrow.ArrowException as error:
        raise ValueError(
            f"{source}: expected text or numbers in the column {name!r}, got {table.column(name).type} "
            f"({first_line(error)}); store labels as text"
        ) from None
    return [(label or "").strip() for label in column.to_pylist()]


def read_parquet(file: SourceFile) -> Any:
    """A file's whole ``pyarrow.Table``, or a ``ValueError`` if it is none."""
    arrow, parquet = pyarrow_modules(file.source)
    try:
        about = parquet.ParquetFile(io.BytesIO(file.content)).metadata
        groups = sum(about.row_group(number).total_byte_size for number in range(about.num_row_groups))
        # Repeated values take next to nothing in the file, and a place for each row in memory.
        check_size(file.source, max(groups, 8 * about.num_rows * about.num_columns), len(file.content))
        return parquet.read_table(io.BytesIO(file.content))
    except (arrow.ArrowException, OSError) as error:
        raise ValueError(
            f"{file.source}: expected Parquet data, got a damaged or mislabelled file ({first_line(error)}); "
            "write it again, or give it the ending that says what it is"
        ) from None


def pyarrow_modules(path: str) -> tuple[Any, Any]:
    """pyarrow and its Parquet part, or a ``ValueError`` that says what the file at ``path`` needs."""
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise ValueError(
            f"{path}: Parquet needs pyarrow, which is not installed; pip install hybonet[parquet], or use CSV"
        ) from None
