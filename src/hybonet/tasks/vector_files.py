"""Labelled coordinates as TSV, CSV, Parquet or npz files."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from hybonet.data.io.parquet_file import pyarrow_modules
from hybonet.files import without_formula, write_atomically
from hybonet.geometry import Lorentz
from hybonet.reporting.answers import Answers, data_frame

Chart = Literal["lorentz", "poincare", "klein", "tangent"]
_ROWS = 1 << 14
_SHOWN = 8  # rows and columns in a notebook


@dataclass(frozen=True, repr=False)
class Vectors:
    """Rows of coordinates with what they are of; chart and K are None for Euclidean ones.

    Example:
        >>> Vectors(["Q90"], ["Paris"], np.array([[0.5, 0.25]]), "poincare", -1.0)
        Vectors(1 x 2, poincare coordinates)
    """

    labels: list[str]
    names: list[str]
    values: np.ndarray
    chart: Chart | None
    K: float | None

    @property
    def columns(self) -> list[str]:
        """``x0`` (time), ``x1`` …; a chart other than the ambient one has no ``x0``."""
        first = 0 if self.chart == "lorentz" else 1
        return [f"x{number}" for number in range(first, first + self.values.shape[1])]

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"Vectors({len(self):,} x {self.values.shape[1]:,}, {self.chart or 'Euclidean'} coordinates)"

    def to_pandas(self) -> Any:
        """A pandas data frame: label, name, and a column for each coordinate."""
        frame = data_frame(self.values, self.columns)
        frame.insert(0, "label", self.labels)
        frame.insert(1, "name", self.names)
        return frame

    def _repr_html_(self) -> str:
        rows = zip(self.labels, self.names, self.values[:_SHOWN].tolist(), strict=False)
        shown = ({"label": a, "name": b, **dict(zip(self.columns[:_SHOWN], c, strict=False))} for a, b, c in rows)
        return Answers(shown)._repr_html_() + escape(repr(self))


@torch.no_grad()
def in_chart(points: Tensor, chart: Chart, manifold: Lorentz) -> Tensor:
    """Points in the coordinates of a chart; ``tangent`` is the logarithm at the origin.

    Example:
        >>> in_chart(Lorentz().origin(3)[None], "poincare", Lorentz())
        tensor([[0., 0.]])
    """
    charts: dict[Chart, Callable[[Tensor], Tensor]] = {
        "lorentz": lambda x: x,
        "poincare": manifold.to_poincare,
        "klein": manifold.to_klein,
        "tangent": lambda x: manifold.logmap0(x)[:, 1:],
    }
    return charts[chart](points)


def write_vectors(table: Vectors, path: Path, *, safe_csv: bool = False) -> tuple[int, int]:
    """Write label, name and coordinates in the format of the path's ending; a file that exists is refused.

    Returns the number of rows and of coordinates.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "vectors.tsv"
        >>> write_vectors(Vectors(["Q90"], ["Paris"], np.array([[0.5, 0.25]]), "poincare", -1.0), path)
        (1, 2)
        >>> path.read_text().splitlines()
        ['label\\tname\\tx1\\tx2', 'Q90\\tParis\\t0.5\\t0.25']
    """
    writers = {".tsv": _write_text, ".csv": _write_text, ".parquet": _write_parquet, ".npz": _write_npz}
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise ValueError(f"expected a file ending in {', '.join(writers)}, got {str(path)!r}; choose one of these")
    if path.exists():
        raise ValueError(f"expected a new file, but {str(path)!r} exists; remove it or choose another --output")
    path.parent.mkdir(parents=True, exist_ok=True)
    if safe_csv and writer is _write_text:
        labels, names = (list(map(without_formula, each)) for each in (table.labels, table.names))
        table = replace(table, labels=labels, names=names)
    writer(table, path)
    return table.values.shape[0], table.values.shape[1]


def _write_text(table: Vectors, path: Path) -> None:
    digits = ".9g" if table.values.dtype == np.float32 else ".17g"  # enough to read the same numbers back

    def rows() -> Iterator[list[str]]:
        yield ["label", "name", *table.columns]
        for start in range(0, len(table.labels), _ROWS):
            for number, row in enumerate(table.values[start : start + _ROWS].tolist(), start):
                yield [table.labels[number], table.names[number], *(format(value, digits) for value in row)]

    def write(target: Path) -> None:
        with open(target, "w", encoding="utf-8", newline="") as file:
            separator = "\t" if path.suffix.lower() == ".tsv" else ","
            csv.writer(file, delimiter=separator, lineterminator="\n").writerows(rows())

    write_atomically(path, write)


def _write_parquet(table: Vectors, path: Path) -> None:
    arrow, parquet = pyarrow_modules(str(path))
    columns = {"label": table.labels, "name": table.names}
    columns |= dict(zip(table.columns, np.ascontiguousarray(table.values.T), strict=True))
    about = {} if table.chart is None else {"chart": table.chart, "K": repr(table.K)}
    content = arrow.table(columns).replace_schema_metadata(about)
    write_atomically(path, lambda target: parquet.write_table(content, target))


def _write_npz(table: Vectors, path: Path) -> None:
    arrays = {"labels": np.array(table.labels), "names": np.array(table.names), "vectors": table.values}
    if table.chart is not None:
        arrays |= {"chart": np.array(table.chart), "K": np.array(table.K)}

    def write(target: Path) -> None:
        with open(target, "wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]

    write_atomically(path, write)
