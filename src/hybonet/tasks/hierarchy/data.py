"""A hierarchy inside a run: ``edges.tsv`` (child, parent) and ``labels.tsv`` (the name of every row of the model)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from hybonet.data import Hierarchy, load_hierarchy
from hybonet.tasks.hierarchy.task import HierarchySettings
from hybonet.tasks.options import Options

EDGES, LABELS = "edges.tsv", "labels.tsv"


def load(source: Any, settings: HierarchySettings, options: Options) -> Hierarchy:
    """A hierarchy by name, by path, or as pairs of child and parent."""
    return load_hierarchy(source)


def write(folder: Path, hierarchy: Hierarchy) -> dict[str, Any]:
    """Write edges and names, and return what the configuration says about them."""
    names = hierarchy.names
    edges = ((names[child], names[parent]) for child, parent in hierarchy.edges.tolist())
    _write_lines(folder / LABELS, names)
    _write_lines(folder / EDGES, ("\t".join(edge) for edge in [("child", "parent"), *edges]))
    return {"source": hierarchy.source, "sha256": hierarchy.sha256}


def read(folder: Path, about: dict[str, Any]) -> Hierarchy:
    """What :func:`write` wrote; a ``ValueError`` says which file is missing or does not fit."""
    for name in (EDGES, LABELS):
        if not (folder / name).is_file():
            raise ValueError(f"{folder}: expected {name} in the run, but it is missing; restore it or train again")
    hierarchy = load_hierarchy(folder / EDGES)
    labels = tuple((folder / LABELS).read_text(encoding="utf-8").removesuffix("\n").split("\n"))
    if labels != hierarchy.names:
        raise ValueError(
            f"{folder}: expected the {len(hierarchy)} names of {EDGES} in {LABELS}, got {len(labels)} labels; the "
            "files come from different runs, so train again"
        )
    return replace(hierarchy, source=about["source"], sha256=about["sha256"])


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
