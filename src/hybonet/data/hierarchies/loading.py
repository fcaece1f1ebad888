"""Loading a hierarchy by name or from a file: edges, paths ``A > B > C``, OBO terms, or a table of ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from hybonet.data.hierarchies.hierarchy import Hierarchy
from hybonet.data.io.cell_grid import read_grid
from hybonet.data.io.column_choice import first_row
from hybonet.data.io.in_memory import MemoryTable, is_path, library_of, memory_table
from hybonet.data.io.json_file import is_json, json_table
from hybonet.data.io.parquet_file import pyarrow_modules, read_parquet
from hybonet.data.io.source_file import SourceFile, read_source
from hybonet.data.io.text_table import SEPARATOR_NAMES, decode, parse_table, separator_for
from hybonet.data.registry import DataSet, locate

#: Column separator by file ending.
SEPARATORS = {".tsv": "\t", ".csv": ","}
#: What the columns of edges are called.
COLUMNS = ("child", "parent")


def parse_edges(content: bytes, source: str, *, name: str = "") -> list[tuple[str, str]]:
    """Edges of a TSV or CSV file, in file order; a header is skipped."""
    table = parse_table(content, source, separator=separator_for(name or source, SEPARATORS), row_is="edge")
    numbers = [at for at, row in enumerate(table) if row]  # a blank line is an empty row
    edges = [checked_edge(table.rows[at], at, table.where, table.separator) for at in numbers]
    if edges and (is_header(edges[0]) or first_row(list(zip(*edges, strict=True))) == "header"):
        edges = edges[1:]
    if not edges:
        raise ValueError(
            f"{source}: expected at least one edge, got an empty file; write one edge per line, child then parent, "
            f"separated by {SEPARATOR_NAMES[table.separator]}"
        )
    return edges


def checked_edge(row: Sequence[str], number: int, where: Callable[[int], str], separator: str = ",") -> tuple[str, str]:
    """Child and parent of a row, or a ``ValueError`` that names its place."""
    shown = separator.join(row)
    if len(row) != len(COLUMNS):
        raise ValueError(
            f"{where(number)}: expected 2 columns (child, parent) separated by {SEPARATOR_NAMES[separator]}, got "
            f"{len(row)}: {shown!r}; write one edge per line"
        )
    child, parent = (cell.strip() for cell in row)
    for column, name in zip(COLUMNS, (child, parent), strict=True):
        if not name:
            raise ValueError(
                f"{where(number)}: expected a name in the column {column}, got an empty one in {shown!r}; "
                "fill it in, or remove the line (a root needs no line of its own)"
            )
        if not name.isprintable():
            raise ValueError(
                f"{where(number)}: expected a printable name on one line in the column {column}, got {name!r}; remove "
                "its tabs, line breaks and control characters"
            )
    return child, parent


def is_header(row: Sequence[str]) -> bool:
    """Whether a row is called child and parent."""
    return tuple(cell.strip().casefold() for cell in row) == COLUMNS


Edges = list[tuple[str, str]]
#: Columns of a table of taxa, from the widest rank; an epithet is read with the name before it.
RANKS = ("kingdom", "phylum", "class", "order", "family", "genus", "specificEpithet", "infraspecificEpithet")


def load_hierarchy(data: Any) -> Hierarchy:
    """A hierarchy by its name, or a user's own from a file, which may be packed with gzip or xz.

    Files are ``.tsv`` or ``.csv`` with child and parent, ``.txt`` with a path ``Animals > Dogs > Pugs`` per line,
    ``.obo`` ontologies (their ``is_a`` lines), or ``.parquet`` tables with a column for each rank of a taxonomy. Data
    in memory are frames or rows of child and parent, or a directed graph of networkx with edges from child to parent.

    Example:
        >>> mammals = load_hierarchy("wordnet_mammals")
        >>> len(mammals), len(mammals.edges), len(mammals.closure)
        (1180, 1180, 6540)
    """
    if isinstance(data, Hierarchy):
        return data
    if not is_path(data):
        is_graph = library_of(data) == "networkx"
        if is_graph and not data.is_directed():
            raise ValueError(
                f"expected a directed graph, with edges from child to parent, got {type(data).__name__}; give a DiGraph"
            )
        table = memory_table(list(data.edges()) if is_graph else data)
        edges = _table_edges(table)
        return Hierarchy.from_edges(edges, source=type(data).__name__, sha256=table.sha256)
    found = locate(data, "hierarchy")
    if isinstance(found, DataSet):
        files = found.read()
        edges = _named_edges(files, **found.options)
        return Hierarchy.from_edges(edges, source=found.name, sha256=files["edges"].sha256)
    file = read_source(found)
    return Hierarchy.from_edges(read_edges(file), source=str(data), sha256=file.sha256)


def _table_edges(table: MemoryTable) -> Edges:
    grid = read_grid(table.grid("edge"), row_is="edge", is_header=is_header)
    return [checked_edge(row, at, grid.where) for at, row in enumerate(grid.rows)]


def read_edges(file: SourceFile) -> Edges:
    r"""The edges (child, parent) of a file, in the form that its ending promises.

    Example:
        >>> read_edges(SourceFile("pets.txt", "pets.txt", b"Pets > Dogs > Food\nPets > Cats > Food\n"))[0]
        ('Food (Dogs)', 'Dogs')
    """
    ending = PurePath(file.bare_name).suffix.lower()
    if is_json(file):
        return _table_edges(json_table(file))
    if ending == ".obo":
        return _obo_edges(file)
    if ending == ".parquet":
        return _rank_edges(file)
    if ending == ".txt":
        lines = (line.strip() for line in decode(file.content, file.source).split("\n"))
        paths = [tuple(part.strip() for part in line.split(">")) for line in lines if line and line[0] != "#"]
        if not any(len(path) > 1 for path in paths):
            raise ValueError(
                f"{file.source}: expected paths such as 'Animals > Dogs', one per line, got none; for a table of child "
                "and parent, give the file the ending .tsv or .csv"
            )
        return edges_of_paths(paths)
    return parse_edges(file.content, file.source, name=file.bare_name)


def edges_of_paths(paths: Iterable[tuple[str, ...]]) -> Edges:
    """The edges of a forest given as paths from its roots; a name that stands in several places is told by its parent.

    Example:
        >>> edges_of_paths([("b", "a"), ("b", "c", "a")])
        [('a (b)', 'b'), ('a (c)', 'c'), ('c', 'b')]
    """
    nodes: dict[tuple[str, ...], None] = {}
    for path in paths:
        while path and path not in nodes:
            nodes[path] = None
            path = path[:-1]
    short = Counter(path[-1] for path in nodes)
    longer = Counter(path[-2:] for path in nodes)

    def name(path: tuple[str, ...]) -> str:
        if short[path[-1]] == 1:
            return path[-1]
        if len(path) > 1 and longer[path[-2:]] == 1:
            return f"{path[-1]} ({path[-2]})"
        return " > ".join(path)

    return [(name(path), name(path[:-1])) for path in nodes if len(path) > 1]


def _named_edges(files: Mapping[str, SourceFile], relation: str | None = None, columns: int | None = None) -> Edges:
    """Edges of published files: of the first columns, or of one relation of three, with names in a second file."""
    file = files["edges"]
    if relation is None and columns is None:
        return read_edges(file)
    rows = parse_table(file.content, file.source, separator="\t", row_is="edge").rows
    if columns is not None:
        return [(row[0], row[1]) for row in rows if len(row) > 1]
    edges = [(row[0], row[2]) for row in rows if len(row) == 3 and row[1] == relation]
    terms = parse_table(files["names"].content, files["names"].source, separator="\t", row_is="name").rows
    return _renamed(edges, {row[0]: row[1] for row in terms if len(row) > 1})


def _renamed(edges: Edges, names: Mapping[str, str]) -> Edges:
    """Edges of identifiers as edges of names; two of one name keep their identifiers in brackets."""
    often = Counter(names.values())
    shown = {label: name if often[name] == 1 else f"{name} ({label})" for label, name in names.items()}
    return [(shown.get(child, child), shown.get(parent, parent)) for child, parent in edges]


def _obo_edges(file: SourceFile) -> Edges:
    names: dict[str, str] = {}
    edges: Edges = []
    term = ""
    in_term = False
    for line in decode(file.content, file.source).split("\n"):
        if line.startswith("["):
            in_term = line.strip() == "[Term]"
        key, _, value = line.partition(": ")
        if in_term and key == "id":
            term = value.strip()
        elif in_term and key == "name":
            names[term] = value.strip()
        elif in_term and key == "is_a":
            edges.append((term, value.split(" ! ")[0].split(" {")[0].strip()))
    if not edges:
        raise ValueError(f"{file.source}: expected terms with is_a lines, got none; give an ontology in OBO format")
    return _renamed(edges, names)


def _rank_edges(file: SourceFile) -> Edges:
    table = read_parquet(file)
    ranks = [rank for rank in RANKS if rank in table.column_names]
    if len(ranks) < 2:
        raise ValueError(
            f"{file.source}: expected at least two columns of {', '.join(RANKS)}, got "
            f"{', '.join(table.column_names)}; write child and parent to a .csv instead"
        )
    arrow, _ = pyarrow_modules(file.source)
    columns = [table.column(rank).cast(arrow.string()).to_pylist() for rank in ranks]
    epithets = [rank.endswith("Epithet") for rank in ranks]
    paths = []
    for cells in zip(*columns, strict=True):
        path: list[str] = []
        for cell, epithet in zip(cells, epithets, strict=True):
            if cell:
                path.append(f"{path[-1]} {cell}" if epithet and path else cell)
        paths.append(tuple(path))
    return edges_of_paths(paths)
