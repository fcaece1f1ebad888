"""A graph by name, or of one's own: a file of edges, and perhaps tables of features and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from hybonet.data.graphs.disease_tree import disease_tree
from hybonet.data.graphs.graph_data import UNLABELLED, GraphData
from hybonet.data.graphs.hgcn_files import read_airport, read_disease
from hybonet.data.graphs.node_tables import read_features, read_labels
from hybonet.data.graphs.planetoid import read_planetoid
from hybonet.data.io.cell_grid import Grid, Problems, ending_of, read_arrays, read_grid, row_place
from hybonet.data.io.column_choice import first_row, header_note, place_of
from hybonet.data.io.in_memory import MemoryTable, is_path, library_of, memory_table
from hybonet.data.io.json_file import is_json, json_table
from hybonet.data.io.source_file import SourceFile, read_source
from hybonet.data.registry import DataSet, given_options, locate
from hybonet.data.vocabulary import Vocabulary

#: No single letters among them: nodes are called a and b.
_EDGE_WORDS = (
    frozenset(("source", "from", "src", "node1", "head", "child", "source_id")),
    frozenset(("target", "to", "dst", "node2", "tail", "parent", "target_id", "destination")),
)


def load_graph(
    data: Any,
    *,
    features: Any = None,
    labels: Any = None,
    columns: Sequence[str | int] | None = None,
    label_column: str | int | None = None,
    header: bool | None = None,
    allow_unlabelled: bool = False,
    normalise_rows: bool = False,
    add_degrees: bool = False,
) -> GraphData:
    r"""A graph by name (``cora``, ``disease-small``), or from files: CSV, TSV (.tsv, .txt), JSON, Parquet or npz.

    The nodes are those of the feature table in its order; without one, those of the label table, after which come, with
    ``allow_unlabelled``, those that only the edges name; without either, those of the edges in alphabetical order. A
    node that no edge has is kept and counted. Nothing is dropped but repeated edges, self loops and further columns of
    the edges, which the graph's notes tell.

    Args:
        data: a name; a file of edges (two columns of node names, or an npz with ``edges`` (n, 2)); a frame or rows of
            pairs; a graph of networkx, whose nodes' ``label`` are labels; or PyTorch Geometric's ``Data``.
        features: the node's name in the first column, then numbers; or an npz with ``features`` (n, f) and perhaps
            ``nodes`` (n,), which are 0, 1, 2, … by default; a file, a frame or rows.
        labels: the node's name and its class; or an npz with ``labels`` (n,) and perhaps ``nodes``; a file, a frame,
            rows or a mapping.
        columns: names or positions (from 0) of the two columns of the edges, where there are more.
        label_column: the column of the label, where there are more.
        header: whether the first rows of text files are column names; None looks whether they are.
        allow_unlabelled: whether nodes without a label are accepted.
        normalise_rows, add_degrees: what :meth:`GraphData.inputs` should do to the features.

    Example:
        >>> load_graph("disease-small")
        GraphData('disease-small': 600 nodes, 599 edges, 11 features, 2 classes)
        >>> import tempfile
        >>> from pathlib import Path
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "edges.csv").write_text("source,target\nann,bob\nbob,cat\n")
        >>> _ = (folder / "ages.csv").write_text("node,age\nann,31\nbob,47\ncat,12\n")
        >>> load_graph(folder / "edges.csv", features=folder / "ages.csv").features.tolist()
        [[31.0], [47.0], [12.0]]
        >>> _ = (folder / "ages.csv").write_text("node,age\nann,31\nbob,47\n")
        >>> load_graph(folder / "edges.csv", features=folder / "ages.csv")
        Traceback (most recent call last):
        ValueError: ...edges.csv, line 3: expected a node of ...ages.csv, got 'cat'; ...
    """
    if isinstance(data, GraphData):
        return data
    if library_of(data) == "torch_geometric":
        # By name: the adapter stands above data, and is there only with PyTorch Geometric.
        from_pyg = import_module("hybonet.interop.pyg").from_pyg
        return replace(from_pyg(data), normalise_rows=normalise_rows, add_degrees=add_degrees)
    notes: list[str] = []
    names: list[str] | None = None
    if library_of(data) == "networkx":
        names = [str(node) for node in data.nodes]
        if labels is None:
            key = str(label_column) if label_column is not None else "label"
            labels = {node: label for node, label in data.nodes(data=key) if label is not None} or None
            if labels is None and label_column is not None:
                there = ", ".join(sorted({str(name) for _, about in data.nodes(data=True) for name in about})) or "none"
                raise ValueError(
                    f"{type(data).__name__}: expected nodes with the attribute {key!r}, got {there[:80]}; name another "
                    "with label_column=, or set it"
                )
            label_column, allow_unlabelled = None, allow_unlabelled or len(labels or names) < len(names)
        notes += _left_out(data)
        data = MemoryTable(type(data).__name__, (), [list(side) for side in zip(*data.edges(), strict=True)])
    if is_path(data):
        located = locate(data, "graph", given_options(load_graph, locals()))
        if isinstance(located, DataSet):
            return _load_named(located)
        data = located
    files = {"edges": open_table(data, "edge")}
    parts: dict[str, Any] = {}
    if features is not None:
        files["features"] = open_table(features, "node")
        names, parts["features"] = read_features(files["features"], header, notes)
    if labels is not None:
        files["labels"] = open_table(labels, "label")
        found = read_labels(files["labels"], label_column, header, allow_unlabelled)
        if names is None:
            names = list(found)
        else:
            _match(files["labels"].source, found, names, files.get("features", files["edges"]).source, allow_unlabelled)
    known_from = files.get("features", files.get("labels", files["edges"])).source if names is not None else ""
    may_add = None if labels is None or features is not None else allow_unlabelled
    pairs, nodes = _read_edges(files["edges"], columns, header, names, known_from, may_add, notes)
    if labels is not None:
        classes = sorted({label for label, _ in found.values() if label}, key=_natural)
        number = {label: at for at, label in enumerate(classes)}
        given = (number.get(found[name][0], UNLABELLED) if name in found else UNLABELLED for name in nodes)
        parts |= {"labels": torch.tensor(list(given)), "classes": tuple(classes)}
        unlabelled = int((parts["labels"] == UNLABELLED).sum())
        notes += [f"{unlabelled:,} of {len(nodes):,} nodes have no label"] * bool(unlabelled)
    graph = GraphData.build(
        Vocabulary(tuple(nodes), kind="node"),
        torch.from_numpy(pairs),
        source=str(data) if is_path(data) else files["edges"].source,
        sha256={file.bare_name: file.sha256 for file in files.values()},
        normalise_rows=normalise_rows,
        add_degrees=add_degrees,
        **parts,
    )
    isolated = len(nodes) - len(graph.edges.unique())
    counts = (
        (graph.repeated_edges, "edges were given again, in either direction, and are kept once"),
        (len(graph.self_loops), "nodes had an edge to themselves, which is left out"),
        (isolated, "nodes have no edge"),
    )
    notes += [f"{count:,} {text}" for count, text in counts if count]
    return replace(graph, notes=tuple(notes))


def open_table(data: Any, row_is: str) -> SourceFile | Grid:
    """A file that was read, or a table of another library as text."""
    if is_path(data):
        file = read_source(data)
        return replace(json_table(file).grid(row_is), sha256=file.sha256) if is_json(file) else file
    # A pandas Series is a mapping by its index.
    if isinstance(data, Mapping) or (library_of(data) == "pandas" and not hasattr(data, "columns")):
        data = list(data.items())
    table = data if isinstance(data, MemoryTable) else memory_table(data)
    return table.grid(row_is)


def _load_named(entry: DataSet) -> GraphData:
    options = dict(entry.options)
    form = options.pop("format")
    if form == "generated":
        return disease_tree(seed=0, name=entry.name, **options)
    read = {"planetoid": read_planetoid, "disease": read_disease, "airport": read_airport}[form]
    return read(entry.name, entry.read())


def _read_edges(
    file: SourceFile | Grid,
    columns: Sequence[str | int] | None,
    header: bool | None,
    names: list[str] | None,
    known_from: str,
    may_add: bool | None,
    notes: list[str],
) -> tuple[NDArray[np.int64], list[str]]:
    """Pairs of node numbers, and the nodes' names."""
    if isinstance(file, SourceFile) and ending_of(file) == ".npz":
        array = read_arrays(file, edges=True)["edges"]
        if array.ndim != 2 or array.shape[1] != 2 or not len(array):
            raise ValueError(
                f"{file.source}: expected edges of shape (n, 2), got {array.shape}; give two nodes an edge"
            )
        file, columns = Grid(file.source, ("source", "target"), array.astype(str).tolist(), row_place(file)), None
    by_name = columns is not None and any(isinstance(column, str) for column in columns)
    grid = read_grid(file, row_is="edge", is_header=is_edge_header, header=True if by_name else header)
    places, header_names, where = _edge_columns(grid, columns), grid.header, grid.where
    first, second = ([row[place] for row in grid.rows] for place in places)
    if others := [at for at in range(grid.width) if at not in places]:
        listed = ", ".join(grid.header[at] if grid.header else str(at) for at in others)
        notes.append(f"of the edges two columns are read; left out, weights included: {listed[:80]}")
    if not header_names and header is None:
        nodes_of = set() if names is None or may_add else set(names)
        below = {*first[1:], *second[1:]}
        alone = bool(nodes_of and below) and below <= nodes_of and not {first[0], second[0]} & nodes_of
        kind = first_row((first, second))
        if alone or (kind == "header" and not nodes_of):
            notes.append(header_note(file.source, (first[0], second[0]), "an edge", is_header=True))
            header_names, first, second, place = (first[0], second[0]), first[1:], second[1:], where
            where = lambda row: place(row + 1)  # noqa: E731
        elif kind == "unsure":
            notes.append(header_note(file.source, (first[0], second[0]), "an edge", is_header=False))
    problems = Problems(file.source, "edges")
    known = set(names) if names is not None and not may_add else None
    for row, ends in enumerate(zip(first, second, strict=True)):
        for name in ends:
            if not name:
                problems.add(where(row), "expected two names, got an empty one")
            elif known is not None and name not in known:
                problems.add(where(row), f"expected a node of {known_from}, got {name!r}")
    hint = (
        " (if the first row holds column names, say header=True (--header))"
        if not header_names and header is None
        else ""
    )
    leave = ", or allow it with allow_unlabelled=True (--allow-unlabelled)" if may_add is False else ""
    problems.tell(
        "correct it, nothing was loaded"
        if known is None
        else f"add a row for it there, or correct the name{hint}{leave}; nothing was loaded"
    )
    nodes = (names or []) + sorted(set(first).union(second) - set(names or []), key=_natural)
    number = {name: at for at, name in enumerate(nodes)}
    return np.array([[number[a], number[b]] for a, b in zip(first, second, strict=True)], dtype=np.int64), nodes


def _edge_columns(grid: Grid, columns: Sequence[str | int] | None) -> tuple[int, int]:
    if columns is not None:
        if isinstance(columns, str) or len(columns) != 2:
            raise ValueError(f"expected two columns by name or position, got {columns!r}; give e.g. ('from', 'to')")
        names = grid.header or [""] * grid.width
        first, second = (place_of(column, names, grid.source, otherwise="name two of these") for column in columns)
        if first == second:
            raise ValueError(f"{grid.source}: expected two different columns, got {columns[0]!r} twice; name another")
        return first, second
    words = [cell.casefold() for cell in grid.header]
    found = [[at for at, word in enumerate(words) if word in known] for known in _EDGE_WORDS]
    if all(len(places) == 1 for places in found):
        return found[0][0], found[1][0]
    if grid.width != 2:
        listed = ", ".join(grid.header) or ", ".join(grid.rows[0])
        raise ValueError(
            f"{grid.where(0)}: expected 2 columns, got {grid.width}: {listed[:80]}; choose two with columns= "
            "(--columns), by name or position, or remove the others"
        )
    return 0, 1


def is_edge_header(row: list[str]) -> bool:
    """Whether a row names the two ends of edges in usual words."""
    words = [cell.casefold() for cell in row]
    return all(any(word in known for word in words) for known in _EDGE_WORDS)


def _match(
    source: str, found: dict[str, tuple[str, str]], names: list[str], features: str, allow_unlabelled: bool
) -> None:
    """Labels must be of nodes that have features, and every such node have one."""
    known = set(names)
    problems = Problems(source, "labels")
    for name, (_, where) in found.items():
        if name not in known:
            problems.add(where, f"expected a node of {features}, got {name!r}")
    problems.tell("add a row of features for it, or correct the name; nothing was loaded")
    missing = [name for name in names if name not in found]
    if missing and not allow_unlabelled:
        shown = ", ".join(repr(name) for name in missing[:5]) + (", …" if len(missing) > 5 else "")
        raise ValueError(
            f"{source}: expected a label for every node of {features}, got none for {len(missing):,}: {shown}; add "
            "them, or allow it with allow_unlabelled=True (--allow-unlabelled)"
        )


def _left_out(graph: Any) -> list[str]:
    """What a graph of networkx says of its edges, and a network has no place for."""
    attributes = sorted({str(name) for *_, about in graph.edges(data=True) for name in about})
    notes = [f"attributes of edges are left out, weights included: {', '.join(attributes)[:80]}"] * bool(attributes)
    return notes + ["edges have no direction here: that of the graph is left out"] * graph.is_directed()


def _natural(name: str) -> tuple[int, int, str]:
    """Numbers by size, before names by letter; 07 is another name than 7, and has a place of its own."""
    return (0, int(name), name) if name.isascii() and name.isdigit() else (1, 0, name)
