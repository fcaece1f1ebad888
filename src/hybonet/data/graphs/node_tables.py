"""Tables of a network's nodes: features and labels, from CSV, TSV, Parquet or npz."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray

from hybonet.data.io.cell_grid import Grid, Problems, ending_of, read_arrays, read_grid, row_place
from hybonet.data.io.column_choice import place_of
from hybonet.data.io.source_file import SourceFile

_NODE_WORDS = frozenset(("node", "id", "name", "node_id"))
_LABEL_WORDS = frozenset(("label", "class", "category", "y"))


def read_features(file: SourceFile | Grid, header: bool | None) -> tuple[list[str], torch.Tensor]:
    r"""Nodes and their numbers, float32 of shape (nodes, features).

    Example:
        >>> read_features(SourceFile("a.csv", "a.csv", b"ann,3\nbob,old\n"), None)
        Traceback (most recent call last):
        ValueError: a.csv, line 2: expected a finite number in column 1, got 'old' for node 'bob'; correct it, ...
    """
    if isinstance(file, SourceFile) and ending_of(file) == ".npz":
        arrays = read_arrays(file, features=True, nodes=False)
        values = arrays["features"]
        if values.ndim != 2 or values.dtype.kind not in "biuf":
            raise ValueError(
                f"{file.source}: expected features as numbers of shape (n, f), got {values.shape} of {values.dtype}; "
                "give one row a node"
            )
        names = _array_names(file, arrays, len(values))
        narrow = _narrow(values)
        problems = Problems(file.source, "features")
        for at, column in np.argwhere(~np.isfinite(narrow)).tolist():
            value = values[at, column]
            problems.add(
                row_place(file)(at), f"{_expected(value)} in column {column}, got {value} for node {names[at]!r}"
            )
        problems.tell("correct it, or remove the column; nothing was loaded")
        return names, torch.from_numpy(narrow)
    grid = read_grid(file, row_is="node", is_header=_is_feature_header, header=header)
    if grid.width < 2:
        raise ValueError(f"{file.source}: expected a node and at least one number a row, got 1 column; add features")
    names = _unique_nodes(grid)
    try:
        narrow = _narrow(np.array([row[1:] for row in grid.rows], dtype=np.float64))
    except ValueError:
        narrow = np.array(np.nan, dtype=np.float32)
    if not np.isfinite(narrow).all():
        problems = Problems(file.source, "features")
        for at, row in enumerate(grid.rows):
            for column, cell in enumerate(row[1:], start=1):
                if expected := _expected(cell):
                    name = repr(grid.header[column]) if grid.header else str(column)
                    problems.add(grid.where(at), f"{expected} in column {name}, got {cell!r} for node {names[at]!r}")
        problems.tell("correct it, or remove the column; nothing was loaded")
    return names, torch.from_numpy(narrow)


def _narrow(values: NDArray) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def _expected(value: str | float) -> str:
    """What should have stood there; empty if a number does that float32 holds."""
    if not _is_number(value) or not math.isfinite(float(value)):
        return "expected a finite number"
    fits = np.isfinite(_narrow(np.array(float(value))))
    return "" if fits else f"expected a number up to {np.finfo(np.float32).max:.4g}, the largest of float32,"


def _is_feature_header(row: list[str]) -> bool:
    """A first row without a single number among its features."""
    return len(row) > 1 and not any(_is_number(cell) for cell in row[1:])


def read_labels(
    file: SourceFile | Grid, label_column: str | int | None, header: bool | None, allow_unlabelled: bool
) -> dict[str, tuple[str, str]]:
    r"""Each node's label, empty if it has none, and where it stands.

    Example:
        >>> read_labels(SourceFile("a.csv", "a.csv", b"node,label\nann,red\nbob,blue\n"), None, None, False)
        {'ann': ('red', 'a.csv, line 2'), 'bob': ('blue', 'a.csv, line 3')}
    """
    if isinstance(file, SourceFile) and ending_of(file) == ".npz":
        arrays = read_arrays(file, labels=True, nodes=False)
        values = arrays["labels"]
        if values.ndim != 1:
            raise ValueError(f"{file.source}: expected labels of shape (n,), got {values.shape}; give one a node")
        names = _array_names(file, arrays, len(values))
        return {
            name: (str(label), row_place(file)(at))
            for at, (name, label) in enumerate(zip(names, values.tolist(), strict=True))
        }
    by_name = isinstance(label_column, str)
    grid = read_grid(file, row_is="label", is_header=_is_label_header, header=True if by_name else header)
    if label_column is not None:
        place = place_of(label_column, grid.header or [""] * grid.width, file.source, otherwise="choose one of these")
    elif grid.width == 2:
        place = 1
    else:
        listed = ", ".join(grid.header or grid.rows[0])
        raise ValueError(
            f"{grid.where(0)}: expected 2 columns (node, label), got {grid.width}: {listed[:80]}; choose the "
            "label's with label_column= (--label-column), by name or position, or remove the others"
        )
    names = _unique_nodes(grid)
    problems = Problems(file.source, "labels")
    if not allow_unlabelled:
        for at, row in enumerate(grid.rows):
            if not row[place]:
                problems.add(grid.where(at), f"expected a label for node {names[at]!r}, got an empty one")
    problems.tell("fill it in, or allow it with allow_unlabelled=True (--allow-unlabelled); nothing was loaded")
    return {name: (row[place], grid.where(at)) for at, (name, row) in enumerate(zip(names, grid.rows, strict=True))}


def _is_label_header(row: list[str]) -> bool:
    return row[0].casefold() in _NODE_WORDS or any(cell.casefold() in _LABEL_WORDS for cell in row[1:])


def _unique_nodes(grid: Grid) -> list[str]:
    problems = Problems(grid.source, "nodes")
    first: dict[str, int] = {}
    for at, row in enumerate(grid.rows):
        name = row[0]
        if not name:
            problems.add(grid.where(at), "expected a node's name in the first column, got an empty one")
        elif first.setdefault(name, at) != at:
            problems.add(
                grid.where(at), f"expected one row a node, got {name!r} again after {_place(grid, first[name])}"
            )
    problems.tell("keep one row a node; nothing was loaded")
    return [row[0] for row in grid.rows]


def _place(grid: Grid, row: int) -> str:
    return grid.where(row).removeprefix(f"{grid.source}, ")


def _array_names(file: SourceFile, arrays: dict[str, NDArray], count: int) -> list[str]:
    names = arrays["nodes"].astype(str).tolist() if "nodes" in arrays else [str(number) for number in range(count)]
    if len(names) != count or len(set(names)) != count:
        raise ValueError(
            f"{file.source}: expected {count} different names in the array nodes, got {len(names)}, {len(set(names))} "
            "of them different; give one a row"
        )
    return names


def _is_number(cell: str | float) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
