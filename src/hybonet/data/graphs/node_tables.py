"""Tables of a network's nodes: features and labels, from CSV, TSV, Parquet or npz."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from hybonet.data.io.cell_grid import Grid, Problems, ending_of, read_arrays, read_grid, row_place
from hybonet.data.io.column_choice import is_number, place_of
from hybonet.data.io.source_file import SourceFile

#: What stands for a number that is missing.
_MISSING = frozenset(("", "nan", "na", "n/a", "null", "none", "?"))
#: A column of so many words or fewer has a number for each, one of more is hashed into some.
_ONE_HOT, _HASHED = 32, 32
NODE_WORDS = frozenset(("node", "id", "name", "node_id"))
LABEL_WORDS = frozenset(("label", "class", "category", "y"))


def read_features(
    file: SourceFile | Grid, header: bool | None, notes: list[str] | None = None
) -> tuple[list[str], torch.Tensor]:
    r"""Nodes and their numbers, float32 of shape (nodes, features).

    A missing number becomes the mean of its column. A column of words becomes a number for each of its words, or a few
    numbers that the words are hashed into; ``notes`` are told of both.

    Example:
        >>> notes = []
        >>> file = SourceFile("a.csv", "a.csv", b"node,age,eyes\nann,3,blue\nbob,,brown\ncat,5,blue\n")
        >>> read_features(file, None, notes)[1].tolist()
        [[3.0, 1.0, 0.0], [4.0, 0.0, 1.0], [5.0, 1.0, 0.0]]
        >>> notes[1]
        "a.csv: column 'eyes' has words: a number each for its 2 words"
    """
    notes = [] if notes is None else notes
    if isinstance(file, SourceFile) and ending_of(file) == ".npz":
        arrays = read_arrays(file, features=True, nodes=False)
        values = arrays["features"]
        if values.ndim != 2 or values.dtype.kind not in "biuf":
            raise ValueError(
                f"{file.source}: expected features as numbers of shape (n, f), got {values.shape} of {values.dtype}; "
                "give one row per node"
            )
        names = _array_names(file, arrays, len(values))
        narrow = _narrow(values)
        problems = Problems(file.source, "features")
        for at, column in np.argwhere(~np.isfinite(narrow) & ~np.isnan(values.astype(np.float64))).tolist():
            value = values[at, column]
            problems.add(
                row_place(file)(at), f"{_expected(value)} in column {column}, got {value} for node {names[at]!r}"
            )
        problems.tell("correct it, or remove the column; nothing was loaded")
        return names, torch.from_numpy(_filled(narrow, file.source, notes))
    grid = read_grid(file, row_is="node", is_header=_is_feature_header, header=header)
    if grid.width < 2:
        raise ValueError(f"{file.source}: expected a node and at least one number per row, got 1 column; add features")
    if header is None and _repeats(grid):  # words like those below it
        grid = read_grid(file, row_is="node", is_header=_is_feature_header, header=False)
    names = _unique_nodes(grid)
    called = [repr(grid.header[at]) if grid.header else str(at) for at in range(grid.width)]
    problems = Problems(file.source, "features")
    parts: list[NDArray[np.float32]] = []
    for at in range(1, grid.width):
        cells = [row[at] for row in grid.rows]
        there = [cell for cell in cells if cell.casefold() not in _MISSING]
        if 2 * sum(map(is_number, there)) < len(there):
            parts.append(_of_words(cells, f"{file.source}: column {called[at]}", notes))
            continue
        numbers = np.full(len(cells), np.nan)
        for row, cell in enumerate(cells):
            if cell.casefold() in _MISSING:
                continue
            if expected := _expected(cell):
                problems.add(
                    grid.where(row), f"{expected} in column {called[at]}, got {cell!r} for node {names[row]!r}"
                )
            else:
                numbers[row] = float(cell)
        parts.append(_filled(_narrow(numbers)[:, None], f"{file.source}: column {called[at]}", notes))
    problems.tell("correct it, or remove the column; nothing was loaded")
    return names, torch.from_numpy(np.concatenate(parts, axis=1))


def _repeats(grid: Grid) -> bool:
    """Whether a first row that was taken for a header has a word that its column has again."""
    return any(name and any(row[at] == name for row in grid.rows) for at, name in enumerate(grid.header) if at)


def _filled(values: NDArray[np.float32], where: str, notes: list[str]) -> NDArray[np.float32]:
    """Numbers in the places of missing ones: the mean of their column; 0 where all are missing."""
    missing = np.isnan(values)
    if not missing.any():
        return values
    there = np.maximum((~missing).sum(0), 1)
    mean = np.where(missing, 0, values).sum(0, dtype=np.float64) / there
    count = f"{missing.sum():,} missing number{'s' if missing.sum() > 1 else ''}"
    notes.append(f"{where}: {count} filled with the mean of the column")
    return np.where(missing, mean.astype(np.float32), values)


def _of_words(cells: Sequence[str], where: str, notes: list[str]) -> NDArray[np.float32]:
    """Numbers for a column of words, ``(rows, words)``; missing ones have zeros."""
    words = sorted({cell for cell in cells if cell.casefold() not in _MISSING})
    if len(words) <= _ONE_HOT:
        place, width = {word: at for at, word in enumerate(words)}, len(words)
        notes.append(f"{where} has words: a number each for its {width} words")
        sign = dict.fromkeys(words, 1.0)
    else:
        digest = {
            word: hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest() for word in words
        }
        width = _HASHED
        place = {word: int.from_bytes(each[:4], "big") % width for word, each in digest.items()}
        sign = {word: 1.0 if each[4] & 1 else -1.0 for word, each in digest.items()}
        notes.append(f"{where} has {len(words):,} words: they are hashed into {width} numbers")
    found = np.zeros((len(cells), width), dtype=np.float32)
    for row, cell in enumerate(cells):
        if cell in place:
            found[row, place[cell]] = sign[cell]
    return found


def _narrow(values: NDArray) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def _expected(value: str | float) -> str:
    """What should have stood there; empty if a number does that float32 holds."""
    if not is_number(value) or not math.isfinite(float(value)):
        return "expected a finite number"
    fits = np.isfinite(_narrow(np.array(float(value))))
    return "" if fits else f"expected a number up to {np.finfo(np.float32).max:.4g}, the largest of float32,"


def _is_feature_header(row: list[str]) -> bool:
    """A first row without a single number among its features."""
    return len(row) > 1 and not any(is_number(cell) for cell in row[1:])


def read_labels(
    file: SourceFile | Grid, label_column: str | int | None, header: bool | None, allow_unlabelled: bool
) -> dict[str, tuple[str, str]]:
    """Each node's label, empty if it has none, and where it stands."""
    if isinstance(file, SourceFile) and ending_of(file) == ".npz":
        arrays = read_arrays(file, labels=True, nodes=False)
        values = arrays["labels"]
        if values.ndim != 1:
            raise ValueError(f"{file.source}: expected labels of shape (n,), got {values.shape}; give one per node")
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
    return row[0].casefold() in NODE_WORDS or any(cell.casefold() in LABEL_WORDS for cell in row[1:])


def _unique_nodes(grid: Grid) -> list[str]:
    problems = Problems(grid.source, "nodes")
    first: dict[str, int] = {}
    for at, row in enumerate(grid.rows):
        name = row[0]
        if not name:
            problems.add(grid.where(at), "expected a node's name in the first column, got an empty one")
        elif first.setdefault(name, at) != at:
            problems.add(
                grid.where(at), f"expected one row per node, got {name!r} again after {_place(grid, first[name])}"
            )
    problems.tell("keep one row per node; nothing was loaded")
    return [row[0] for row in grid.rows]


def _place(grid: Grid, row: int) -> str:
    return grid.where(row).removeprefix(f"{grid.source}, ")


def _array_names(file: SourceFile, arrays: dict[str, NDArray], count: int) -> list[str]:
    names = arrays["nodes"].astype(str).tolist() if "nodes" in arrays else [str(number) for number in range(count)]
    if len(names) != count or len(set(names)) != count:
        raise ValueError(
            f"{file.source}: expected {count} different names in the array nodes, got {len(names)}, {len(set(names))} "
            "of them different; give one per row"
        )
    return names
