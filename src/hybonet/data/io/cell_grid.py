"""A table as rows of cells, from CSV, TSV, Parquet or npz, with the place of each row for messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from statistics import mode

from numpy.typing import NDArray

from hybonet.data.io.numpy_file import read_npz
from hybonet.data.io.parquet_file import read_parquet
from hybonet.data.io.source_file import SourceFile
from hybonet.data.io.text_table import SEPARATOR_NAMES, parse_table, separator_for

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
#: Endings of the files that can be read.
ENDINGS = (*_SEPARATORS, ".parquet", ".npz")
#: Mistakes that an error names.
SHOWN = 5


@dataclass
class Problems:
    """What is wrong with the rows of a file, to be told all at once.

    Example:
        >>> problems = Problems("ages.csv", "ages")
        >>> problems.add("ages.csv, line 2", "expected a number, got 'old'")
        >>> problems.tell()
        Traceback (most recent call last):
        ValueError: ages.csv, line 2: expected a number, got 'old'; correct it, nothing was loaded
    """

    source: str
    what: str
    found: list[tuple[str, str]] = field(default_factory=list)

    def add(self, where: str, text: str) -> None:
        self.found.append((where, text))

    def tell(self, remedy: str = "correct it, nothing was loaded") -> None:
        """Raise a ``ValueError`` with the first of them and their number, if there are any."""
        if len(self.found) == 1:
            where, text = self.found[0]
            raise ValueError(f"{where}: {text}; {remedy}")
        if self.found:
            what = f"{len(self.found):,} mistakes in the {self.what}; {remedy}"
            raise several_mistakes(self.source, what, self.found[:SHOWN], len(self.found))


def several_mistakes(source: str, what: str, shown: Sequence[tuple[str, str]], total: int) -> ValueError:
    """One error for many places of a file: the first of them with what is wrong there, and how many more there are."""
    lines = [f"{source}: {what}", *(f"  {where.removeprefix(source + ', ')}: {text}" for where, text in shown)]
    return ValueError("\n".join([*lines, *([f"  and {total - len(shown):,} more"] if total > len(shown) else [])]))


@dataclass(frozen=True)
class Grid:
    """Rows of cells, all of the same width, stripped of spaces around them."""

    source: str
    #: Column names; empty if there are none.
    header: tuple[str, ...]
    rows: list[list[str]]
    #: The file and the line or row, by row number.
    where: Callable[[int], str]
    sha256: str = ""

    @property
    def bare_name(self) -> str:
        """What the table is called among checksums."""
        return self.source

    @property
    def width(self) -> int:
        return len(self.header) or len(self.rows[0])


def row_place(file: SourceFile) -> Callable[[int], str]:
    """Where a row of a file without lines is, for messages."""
    return lambda row: f"{file.source}, row {row + 1}"


def ending_of(file: SourceFile) -> str:
    """The ending that says how a file is read; others are refused."""
    ending = PurePath(file.bare_name).suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(
            f"{file.source}: expected a file name ending in {', '.join(ENDINGS)} (also .gz or .xz), got "
            f"{ending or 'no ending'!r}; rename the file so that its ending says what it is"
        )
    return ending


def read_grid(
    file: SourceFile | Grid, *, row_is: str, is_header: Callable[[list[str]], bool], header: bool | None = None
) -> Grid:
    r"""A table of text or Parquet.

    Args:
        file: the file's content, or a table that was read.
        row_is: what a row holds, for messages.
        is_header: whether a first row looks like column names.
        header: whether it is, where the user says so.

    Example:
        >>> file = SourceFile("a.csv", "a.csv", b"node,age\nann,3\n\nbob,4\n")
        >>> grid = read_grid(file, row_is="node", is_header=lambda row: "age" in row)
        >>> grid.header, grid.rows, grid.where(1)
        (('node', 'age'), [['ann', '3'], ['bob', '4']], 'a.csv, line 4')
    """
    if isinstance(file, Grid):  # a table of another library, read already; only its header may stand among the rows
        if file.header or header is False or not (header or is_header(file.rows[0])):
            return file
        grid = replace(file, header=tuple(file.rows[0]), rows=file.rows[1:], where=lambda row: file.where(row + 1))
    elif ending_of(file) == ".parquet":
        grid = _read_parquet(file)
    else:
        grid = _read_text(file, row_is, is_header, header)
    if not grid.rows:
        raise ValueError(f"{file.source}: expected at least one {row_is}, got none; add rows")
    return grid


def _read_text(file: SourceFile, row_is: str, is_header: Callable[[list[str]], bool], header: bool | None) -> Grid:
    separator = separator_for(file.bare_name, _SEPARATORS)
    table = parse_table(file.content, file.source, separator=separator, row_is=row_is)
    numbers = [at for at, row in enumerate(table.rows) if any(cell.strip() for cell in row)]
    rows = [[cell.strip() for cell in table.rows[at]] for at in numbers]
    names: tuple[str, ...] = ()
    if rows and (header or (header is None and is_header(rows[0]))):
        names, rows, numbers = tuple(rows[0]), rows[1:], numbers[1:]
    width = len(names) or (mode(map(len, rows)) if rows else 0)
    problems = Problems(file.source, f"{row_is}s")
    for at, row in zip(numbers, rows, strict=True):
        if len(row) != width:
            problems.add(
                table.where(at),
                f"expected {width} columns separated by {SEPARATOR_NAMES[separator]}, got {len(row)}: "
                f"{separator.join(row)[:80]!r}",
            )
    problems.tell()
    return Grid(file.source, names, rows, lambda row: table.where(numbers[row]))


def _read_parquet(file: SourceFile) -> Grid:
    table = read_parquet(file)
    columns = [
        [("" if cell is None else str(cell)).strip() for cell in table.column(name).to_pylist()]
        for name in table.column_names
    ]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return Grid(file.source, tuple(table.column_names), rows, row_place(file))


def read_arrays(file: SourceFile, **wanted: bool) -> dict[str, NDArray]:
    """Arrays of an npz by name; ``wanted`` says of each whether it must be there."""
    arrays, names = read_npz(file, wanted)
    held = ", ".join(names) or "none"
    for name, needed in wanted.items():
        if needed and name not in arrays:
            raise ValueError(f"{file.source}: expected an array called {name!r}, got {held}; name it so")
    return arrays
