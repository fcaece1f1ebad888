"""Tables that other libraries hold in memory: data frames, rows, arrays and data sets, read without importing any."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hybonet.data.io.cell_grid import Grid, Problems
from hybonet.data.io.source_file import SPLIT_NAMES


def library_of(data: object) -> str:
    """The package that an object's type comes from: ``pandas``, ``networkx``, ``builtins``."""
    return type(data).__module__.partition(".")[0]


def is_path(data: object) -> bool:
    """Whether data are a name or a path, not data in memory."""
    return isinstance(data, str | Path)


@dataclass(frozen=True)
class MemoryTable:
    """Columns of values, of equal length.

    Example:
        >>> table = memory_table([("ann", "knows", 7), ("bob", "knows", None)])
        >>> table.columns[2], table.grid("triple").rows[1], table.where(1)
        ([7, None], ['bob', 'knows', ''], 'rows, row 2')
    """

    source: str
    #: Empty where columns have no names.
    names: tuple[str, ...]
    columns: list[list[Any]]

    def __len__(self) -> int:
        return len(self.columns[0])

    def where(self, row: int) -> str:
        """The place of a row, for messages; counted from 1."""
        return f"{self.source}, row {row + 1}"

    @cached_property
    def texts(self) -> list[list[str]]:
        """All cells as text, stripped; a missing value (None, NaN) is empty.

        Whole numbers that a missing one has turned into floats, as pandas does, are whole again.
        """
        return [[_text(cell) for cell in _without_points(column)] for column in self.columns]

    @cached_property
    def sha256(self) -> str:
        """Checksum of the cells as text."""
        digest = hashlib.sha256()
        for column in self.texts:
            digest.update("\x1f".join(column).encode("utf-8", "surrogatepass") + b"\x1e")
        return digest.hexdigest()

    def records(self) -> list[dict[str, Any]]:
        """The rows as mappings by column name."""
        return [dict(zip(self.names, row, strict=True)) for row in zip(*self.columns, strict=True)]

    def grid(self, row_is: str) -> Grid:
        """The same as rows of text, as from a file."""
        if not len(self):
            raise ValueError(f"{self.source}: expected at least one {row_is}, got none; add rows")
        rows = [list(row) for row in zip(*self.texts, strict=True)]
        return Grid(self.source, self.names, rows, self.where, self.sha256)


def memory_table(data: Any) -> MemoryTable:
    """The table of a frame (pandas, polars), of Hugging Face or pyarrow, of an array, or of rows (tuples, mappings)."""
    library = library_of(data)
    source = type(data).__name__
    names: Sequence[Any]
    if library == "polars" and hasattr(data, "collect"):
        data = data.collect()
    if library == "pandas" and hasattr(data, "iloc") and hasattr(data, "columns"):
        names = list(data.columns)
        columns = [data.iloc[:, at].tolist() for at in range(len(names))]
    elif library == "polars" and hasattr(data, "get_column"):
        names = list(data.columns)
        columns = [data.get_column(name).to_list() for name in names]
    elif library in ("datasets", "pyarrow") and hasattr(data, "column_names") and hasattr(data, "__len__"):
        names = list(data.column_names)
        columns = [data.column(name).to_pylist() if library == "pyarrow" else list(data[name]) for name in names]
    elif library in ("numpy", "torch") and getattr(data, "ndim", None) == 2:
        names, columns = (), [data[:, at].tolist() for at in range(data.shape[1])]
    elif isinstance(data, Iterable) and not isinstance(data, bytes | Mapping):
        source = "rows"
        names, columns = _columns_of_rows(list(data))
    else:
        raise ValueError(
            f"expected a name, a path, a data frame or rows of tuples, got {source}; give one of these, such as "
            "[('ann', 'knows', 'bob')]"
        )
    if not columns:
        raise ValueError(f"{source}: expected columns, got none; give a table with some")
    named = not all(isinstance(name, int) for name in names)  # a frame without names numbers its columns
    return MemoryTable(source, tuple(str(name) for name in names) if named else (), columns)


def memory_splits(data: Any) -> dict[str, Any]:
    """The parts of data that come in parts, as ``{"train": …}``; others are all train.

    Parts are a mapping by usual names (also a ``DatasetDict``), or attributes ``training``, ``validation``, ``testing``
    (also PyKEEN's ``Dataset``).

    Example:
        >>> memory_splits({"train": [1], "dev": [2]})
        {'train': [1], 'valid': [2]}
    """
    if hasattr(data, "training") and hasattr(data, "testing"):
        data = {name: getattr(data, name, None) for name in ("training", "validation", "testing")}
        data = {name: part for name, part in data.items() if part is not None}
    if not isinstance(data, Mapping):
        return {"train": data}
    known = {name: split for split, names in SPLIT_NAMES.items() for name in names}
    found = {known.get(str(name).casefold(), ""): part for name, part in data.items()}
    if "train" not in found or "" in found or len(found) < len(data):
        wrong = "rename or remove the others" if "train" in found else "name the rows to learn from train"
        raise ValueError(
            f"expected parts called train, valid and test, got {', '.join(map(str, data)) or 'none'}; {wrong}"
        )
    return {split: found[split] for split in SPLIT_NAMES if split in found}


def _columns_of_rows(rows: list[Any]) -> tuple[Sequence[Any], list[list[Any]]]:
    if not rows:
        raise ValueError("expected rows, got an empty list; give at least one")
    first = rows[0]
    if isinstance(first, Mapping):
        names = list(first)
        problems = Problems("rows", "rows")
        for number, row in enumerate(rows, 1):
            if not isinstance(row, Mapping) or set(row) != set(names):
                problems.add(f"rows, row {number}", f"expected the keys {', '.join(map(str, names))}, got {row!r:.60}")
        problems.tell()
        return names, [[row[name] for row in rows] for name in names]
    if not isinstance(first, Sequence) or isinstance(first, str):
        raise ValueError(f"rows, row 1: expected a tuple or a mapping, got {first!r:.60}; give one for each row")
    problems = Problems("rows", "rows")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != len(first):
            problems.add(f"rows, row {number}", f"expected {len(first)} values as in the first row, got {row!r:.60}")
    problems.tell()
    return (), [list(column) for column in zip(*rows, strict=True)]


def _without_points(column: list[Any]) -> list[Any]:
    """A column of whole numbers as such, where a missing one has made them floats."""
    if not all(isinstance(cell, float) and (cell.is_integer() or math.isnan(cell)) for cell in column):
        return column
    return [cell if math.isnan(cell) else int(cell) for cell in column]


def _text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell.strip()
    # pandas' own missing values compare with nothing.
    if cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    return str(cell).strip()
