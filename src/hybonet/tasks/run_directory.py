"""A run on disk: written whole or not at all, and read back complete enough to measure and draw it again.

Files of a run:

- ``model.safetensors``: the embedding table, ``weight (nodes, dim)``;
- ``config.json``: the settings of the training;
- ``labels.tsv``: the name of every row of the table; ``edges.tsv``: the hierarchy's direct edges;
- ``metrics.json``: the measures with everything that they depend on;
- ``disk.png``: the picture, if one was asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save

from hybonet.data import Hierarchy, load_hierarchy
from hybonet.geometry import Lorentz
from hybonet.metrics.reconstruction import PROTOCOL
from hybonet.nn import LorentzEmbedding
from hybonet.tasks.hierarchy_embedding import HierarchyEmbeddingConfig, TrainedHierarchy
from hybonet.tasks.new_folder import new_folder
from hybonet.tasks.provenance import provenance

PICTURE = "disk.png"
_MODEL, _CONFIG, _LABELS, _EDGES, _METRICS = (
    "model.safetensors",
    "config.json",
    "labels.tsv",
    "edges.tsv",
    "metrics.json",
)
_FILES = {_MODEL, _CONFIG, _LABELS, _EDGES, _METRICS, PICTURE}


@dataclass(frozen=True)
class Run:
    """A run as read from disk."""

    config: HierarchyEmbeddingConfig
    hierarchy: Hierarchy
    table: LorentzEmbedding
    record: dict[str, Any]


def check_target(out: Path, *, overwrite: bool) -> None:
    """Raise a ``ValueError`` unless a run may be written to ``out``; nothing but an earlier run is ever replaced.

    Example:
        >>> check_target(Path(__file__), overwrite=True)
        Traceback (most recent call last):
        ValueError: expected a folder for the run, got the file ...
    """
    if not out.exists():
        return
    if not out.is_dir():
        raise ValueError(f"expected a folder for the run, got the file {str(out)!r}; choose another --out")
    present = {entry.name for entry in out.iterdir()}
    if not present:
        return
    foreign = sorted(present - _FILES)
    if foreign:
        raise ValueError(
            f"expected an empty folder or an earlier run, but {str(out)!r} holds {foreign[0]!r}; choose another --out"
        )
    if not overwrite:
        raise ValueError(
            f"expected an empty folder, but {str(out)!r} holds an earlier run; add --overwrite to replace it, or "
            "choose another --out"
        )


@contextmanager
def new_run(out: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """A folder to write a run into; it becomes ``out`` when the block ends, and vanishes if the block fails.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with new_run(Path(folder) / "runs" / "first") as staging:
        ...         written = (staging / "config.json").write_text("{}")
        ...     [path.name for path in (Path(folder) / "runs" / "first").iterdir()]
        ['config.json']
    """
    with new_folder(out.resolve(), lambda place: check_target(place, overwrite=overwrite)) as staging:
        yield staging


def write_run(
    folder: Path, config: HierarchyEmbeddingConfig, hierarchy: Hierarchy, trained: TrainedHierarchy
) -> dict[str, Any]:
    """Write everything but the picture, and return the record that ``metrics.json`` holds.

    Example:
        >>> import tempfile
        >>> from hybonet.tasks.hierarchy_embedding import train
        >>> config, family = HierarchyEmbeddingConfig(epochs=1), Hierarchy.from_edges([("dog", "pet"), ("cat", "pet")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     record = write_run(Path(folder), config, family, train(config, family))
        ...     sorted(path.name for path in Path(folder).iterdir())
        ['config.json', 'edges.tsv', 'labels.tsv', 'metrics.json', 'model.safetensors']
    """
    record = run_record(config, hierarchy, trained)
    names = hierarchy.names
    # Bytes of our own making: the library's save_file gives files that only their owner may read.
    (folder / _MODEL).write_bytes(save({"weight": trained.table.weight.detach().contiguous()}))
    _write_json(folder / _CONFIG, config.model_dump())
    _write_lines(folder / _LABELS, names)
    edges = [(names[child], names[parent]) for child, parent in hierarchy.edges.tolist()]
    _write_lines(folder / _EDGES, ("\t".join(edge) for edge in [("child", "parent"), *edges]))
    _write_json(folder / _METRICS, record)
    return record


def run_record(config: HierarchyEmbeddingConfig, hierarchy: Hierarchy, trained: TrainedHierarchy) -> dict[str, Any]:
    """The measures of a run with everything that they depend on, ready for JSON.

    Example:
        >>> from hybonet.tasks.hierarchy_embedding import train
        >>> config, family = HierarchyEmbeddingConfig(epochs=1), Hierarchy.from_edges([("dog", "pet"), ("cat", "pet")])
        >>> run_record(config, family, train(config, family))["metrics"]
        {'mean_rank': 1.0, 'mean_average_precision': 1.0}
    """
    return {
        "task": "hierarchy_embedding",
        "protocol": PROTOCOL,
        "metrics": asdict(trained.final),
        "metrics_at_start": asdict(trained.start),
        "loss": trained.loss,
        "seconds": round(trained.seconds, 3),
        "seed": config.seed,
        "dtype": str(trained.table.weight.dtype).removeprefix("torch."),
        "config": config.model_dump(),
        "data": {
            "source": hierarchy.source,
            "sha256": hierarchy.sha256,
            "nodes": len(hierarchy),
            "edges": len(hierarchy.edges),
            "pairs": len(hierarchy.closure),
        },
        **provenance(),
    }


def read_run(folder: Path) -> Run:
    """Read a run back; a ``ValueError`` says which file is missing, or that table and labels do not fit.

    Example:
        >>> import tempfile
        >>> from hybonet.tasks.hierarchy_embedding import train
        >>> config, family = HierarchyEmbeddingConfig(epochs=1), Hierarchy.from_edges([("dog", "pet"), ("cat", "pet")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     record = write_run(Path(folder), config, family, train(config, family))
        ...     run = read_run(Path(folder))
        >>> run.hierarchy.names, run.table.weight.shape
        (('cat', 'dog', 'pet'), torch.Size([3, 3]))
    """
    missing = sorted(name for name in _FILES - {PICTURE} if not (folder / name).is_file())
    if missing:
        raise ValueError(
            f"expected a run in {str(folder)!r}, but {missing[0]!r} is missing; give a folder written by hybonet demo"
        )
    config = HierarchyEmbeddingConfig(**json.loads((folder / _CONFIG).read_text(encoding="utf-8")))
    hierarchy = load_hierarchy(folder / _EDGES)
    labels = tuple((folder / _LABELS).read_text(encoding="utf-8").removesuffix("\n").split("\n"))
    weight = load_file(folder / _MODEL)["weight"]
    if labels != hierarchy.names or weight.shape != (len(labels), config.dim):
        raise ValueError(
            f"{folder}: expected a table of shape ({len(hierarchy)}, {config.dim}) with the names of {_EDGES}, got "
            f"{tuple(weight.shape)} and {len(labels)} labels; the files come from different runs, so train again"
        )
    table = LorentzEmbedding.from_pretrained(weight, manifold=Lorentz(config.K))
    return Run(config, hierarchy, table, json.loads((folder / _METRICS).read_text(encoding="utf-8")))


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
