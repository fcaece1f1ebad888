"""A trained knowledge-graph model in the formats of other tools."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from hybonet.data.parquet_file import pyarrow_modules
from hybonet.data.triples import SPLITS
from hybonet.models.tail_search import all_points
from hybonet.tasks.kg_answers import KGModel
from hybonet.tasks.new_folder import new_folder
from hybonet.training.checkpoint import write_atomically

Chart = Literal["lorentz", "poincare", "klein", "tangent"]
#: What PyKEEN's own results call the parts of a graph.
_PYKEEN_PARTS = {"train": "training_triples", "valid": "validation_triples", "test": "testing_triples"}
_ROWS = 1 << 14


@torch.no_grad()
def entity_vectors(model: KGModel, chart: Chart = "lorentz") -> Tensor:
    """Coordinates of all entities: ambient ones with time first, ``(entities, dim)``, or ``dim - 1`` of a chart.

    ``tangent`` is the logarithm at the origin: Euclidean vectors as long as the point is far.

    Example:
        >>> from hybonet.data.triples import TripleData
        >>> from hybonet.models import TripleScorer
        >>> model = KGModel(TripleScorer(2, 1, 8), TripleData.from_labels([("dog", "is a", "canine")]))
        >>> entity_vectors(model, "poincare").shape
        torch.Size([2, 7])
    """
    scorer = model.hyperbolic_scorer("vectors")
    manifold = scorer.manifold
    charts: dict[Chart, Callable[[Tensor], Tensor]] = {
        "lorentz": lambda x: x,
        "poincare": manifold.to_poincare,
        "klein": manifold.to_klein,
        "tangent": lambda x: manifold.logmap0(x)[:, 1:],
    }
    return charts[chart](all_points(scorer))


def write_vectors(model: KGModel, path: Path, chart: Chart = "lorentz") -> tuple[int, int]:
    """Label, name and coordinates of every entity as TSV, CSV, Parquet or npz, by the path's ending.

    Columns are ``label``, ``name`` and ``x0`` (time), ``x1`` …; a chart has no ``x0``. Returns the number of entities
    and of coordinates. A file that exists is refused.
    """
    writers = {".tsv": _write_text, ".csv": _write_text, ".parquet": _write_parquet, ".npz": _write_npz}
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise ValueError(f"expected a file ending in {', '.join(writers)}, got {str(path)!r}; choose one of these")
    if path.exists():
        raise ValueError(f"expected a new file, but {str(path)!r} exists; remove it or choose another --output")
    vectors = entity_vectors(model, chart).cpu().numpy()
    path.parent.mkdir(parents=True, exist_ok=True)
    writer(model, path, vectors, chart)
    return vectors.shape


def write_pykeen(model: KGModel, folder: Path, chart: Chart = "lorentz") -> None:
    """A new folder for PyKEEN (extra ``pykeen``): the graph's parts as ``TriplesFactory.from_path_binary`` reads them.

    They are in ``training_triples``, ``validation_triples`` and ``testing_triples``; ``entity_embeddings.npy`` has the
    coordinates of the entities in the order of their ids.
    """
    try:
        from hybonet.interop.pykeen import triples_factory
    except ImportError as error:
        raise ValueError(f"the export to PyKEEN needs it installed ({error}); pip install hybonet[pykeen]") from None
    with new_folder(folder) as staging:
        for split in SPLITS:
            if len(model.graph.triples(split)):
                triples_factory(model.graph, split).to_path_binary(staging / _PYKEEN_PARTS[split])
        np.save(staging / "entity_embeddings.npy", entity_vectors(model, chart).cpu().numpy())


def _names(model: KGModel) -> tuple[list[str], list[str]]:
    entities = model.graph.entities
    return list(entities), [entities.name(number) for number in range(len(entities))]


def _columns(vectors: np.ndarray, chart: Chart) -> list[str]:
    first = 0 if chart == "lorentz" else 1
    return [f"x{number}" for number in range(first, first + vectors.shape[1])]


def _write_text(model: KGModel, path: Path, vectors: np.ndarray, chart: Chart) -> None:
    digits = ".9g" if vectors.dtype == np.float32 else ".17g"  # enough to read the same numbers back

    def rows() -> Iterator[list[str]]:
        labels, names = _names(model)
        yield ["label", "name", *_columns(vectors, chart)]
        for start in range(0, len(labels), _ROWS):
            for number, row in enumerate(vectors[start : start + _ROWS].tolist(), start):
                yield [labels[number], names[number], *(format(value, digits) for value in row)]

    def write(target: Path) -> None:
        with open(target, "w", encoding="utf-8", newline="") as file:
            separator = "\t" if path.suffix.lower() == ".tsv" else ","
            csv.writer(file, delimiter=separator, lineterminator="\n").writerows(rows())

    write_atomically(path, write)


def _write_parquet(model: KGModel, path: Path, vectors: np.ndarray, chart: Chart) -> None:
    arrow, parquet = pyarrow_modules(str(path))
    labels, names = _names(model)
    columns = {"label": labels, "name": names}
    columns |= dict(zip(_columns(vectors, chart), np.ascontiguousarray(vectors.T), strict=True))
    about = {"chart": chart, "K": repr(model.hyperbolic_scorer("vectors").manifold.curvature)}
    table = arrow.table(columns).replace_schema_metadata(about)
    write_atomically(path, lambda target: parquet.write_table(table, target))


def _write_npz(model: KGModel, path: Path, vectors: np.ndarray, chart: Chart) -> None:
    labels, names = _names(model)

    def write(target: Path) -> None:
        with open(target, "wb") as file:
            np.savez(
                file,
                labels=np.array(labels),
                names=np.array(names),
                vectors=vectors,
                chart=np.array(chart),
                K=np.array(model.hyperbolic_scorer("vectors").manifold.curvature),
            )

    write_atomically(path, write)
