"""Triples that other libraries hold: frames, rows, PyKEEN's factories, graphs of networkx."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hybonet.data.io.column_choice import ROLES, choose_columns, recognise_header
from hybonet.data.io.in_memory import MemoryTable, library_of, memory_splits, memory_table
from hybonet.data.triples.triple_data import SPLITS, SplitName
from hybonet.data.triples.triple_file import TripleFile, checked_columns

#: Where an edge of networkx may have its relation.
_RELATION = ("relation", "predicate", "rel", "label", "type")


def memory_triples(data: Any, columns: Sequence[str | int] | None = None) -> dict[SplitName, TripleFile]:
    """Triples by part; what has no parts is all ``train``.

    Args:
        data: a frame, rows, a PyKEEN ``TriplesFactory`` or ``Dataset``, a directed graph of networkx, or a mapping of
            parts. A tuple of two factories is train and test, of three train, valid and test.
        columns: names or positions of head, relation and tail.
    """
    if isinstance(data, Sequence) and data and all(library_of(part) == "pykeen" for part in data):
        names = {1: ("train",), 2: ("train", "test"), 3: ("train", "valid", "test")}.get(len(data))
        if names is None:
            raise ValueError(f"expected one to three factories, got {len(data)}; give train, valid and test")
        data = dict(zip(names, data, strict=True))
    parts = memory_splits(data)
    return {
        split: triples_of(
            parts[split], columns, f"{split} of {_kind(parts[split])}" if len(parts) > 1 else _kind(parts[split])
        )
        for split in SPLITS
        if split in parts
    }


def _kind(part: Any) -> str:
    return type(part).__name__


def triples_of(part: Any, columns: Sequence[str | int] | None, source: str) -> TripleFile:
    """The triples of a table, a factory or a graph; ``source`` is its name in messages."""
    if isinstance(part, MemoryTable):
        table = part
    elif library_of(part) == "pykeen":
        table = _factory(part)
    elif library_of(part) == "networkx":
        table = _edges_with_relations(part)
    else:
        table = memory_table(part)
    names = table.names
    cells = table.texts
    header = () if names else tuple(column[0] for column in cells if column)
    recognised = recognise_header(names or header)
    if not names and recognised and columns is None:
        names, cells = header, [column[1:] for column in cells]
    if columns is not None:
        places = choose_columns(names or [""] * len(cells), columns, source)
    elif names and recognised:
        places = recognised
    elif len(cells) == len(ROLES):
        places = (0, 1, 2)
    else:
        raise ValueError(
            f"{source}: expected 3 columns (head, relation, tail), got {len(cells)}"
            f"{': ' + ', '.join(names) if names else ''}; choose three with columns=, by name or position"
        )
    first = len(table) - len(cells[0])
    chosen = [cells[place] for place in places]
    heads, relations, tails = checked_columns(chosen, lambda row: f"{source}, row {row + 1 + first}", source)
    return TripleFile(
        source, table.sha256, heads, relations, tails, tuple(names[place] for place in places) if names else ()
    )


def _factory(factory: Any) -> MemoryTable:
    """Labels where the factory has them, else numbers."""
    triples = factory.mapped_triples.tolist()
    entities, relations = (
        {number: label for label, number in getattr(factory, name, {}).items()}
        for name in ("entity_to_id", "relation_to_id")
    )
    heads = [entities.get(head, head) for head, _, _ in triples]
    kinds = [relations.get(relation, relation) for _, relation, _ in triples]
    return MemoryTable(_kind(factory), (), [heads, kinds, [entities.get(tail, tail) for _, _, tail in triples]])


def _edges_with_relations(graph: Any) -> MemoryTable:
    if not graph.is_directed():
        raise ValueError(
            f"expected a directed graph, got {_kind(graph)}; triples have a direction, so give a MultiDiGraph"
        )
    several = graph.is_multigraph()
    edges = list(graph.edges(keys=True, data=True) if several else graph.edges(data=True))
    found = next((name for name in _RELATION if edges and all(name in edge[-1] for edge in edges)), None)
    if found is None and not (several and edges and all(isinstance(edge[2], str) for edge in edges)):
        raise ValueError(
            f"{_kind(graph)}: expected a relation on every edge, as the attribute {' or '.join(_RELATION)} or as the "
            "key of a MultiDiGraph, got none; set one: graph.add_edge(head, tail, relation=…)"
        )
    kinds = [edge[-1][found] if found else edge[2] for edge in edges]
    return MemoryTable(_kind(graph), (), [[edge[0] for edge in edges], kinds, [edge[1] for edge in edges]])
