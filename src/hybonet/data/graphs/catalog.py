"""Networks by name, to predict links and labels on: found on the search path, checked, or generated."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hybonet.data.graphs.benchmarks import NETWORKS, Network
from hybonet.data.graphs.graph_data import GraphData
from hybonet.data.graphs.own_files import read_network
from hybonet.data.io import search_path
from hybonet.data.io.download import Progress, download
from hybonet.data.io.source_file import SourceFile, find_packed, read_checked, read_source


def network_entry(name: str) -> Network:
    """The network of that name, capitals or not.

    Example:
        >>> network_entry("Cora").statistics["classes"]
        7
        >>> network_entry("coro")
        Traceback (most recent call last):
        ValueError: expected a network of the catalog, got 'coro'; did you mean 'cora'?
    """
    folded = name.casefold()
    if folded in NETWORKS:
        return NETWORKS[folded]
    near = difflib.get_close_matches(folded, NETWORKS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"it knows {', '.join(NETWORKS)}"
    raise ValueError(f"expected a network of the catalog, got {name!r}; {hint}")


def find_network(name: str) -> Path | None:
    """The first folder that holds a network's necessary files, or None; a generated network needs none.

    Looked for are ``hgcn/cora/`` and ``cora/`` in each directory of ``HYBONET_DATA`` and in the cache; files may be
    packed with gzip or xz.

    Example:
        >>> find_network("disease-small") is None
        True
    """
    entry = network_entry(name)
    needed = [file for file in entry.files.values() if not file.optional]
    return next(
        (folder for folder in _folders(entry) if needed and all(find_packed(folder, f.name) for f in needed)), None
    )


def missing_files(name: str) -> list[str] | None:
    """Names of the files that the folder found lacks, or None if the network is nowhere.

    Example:
        >>> missing_files("disease-small")
        []
    """
    entry = network_entry(name)
    if entry.generated:
        return []
    folder = find_network(name)
    if folder is None:
        return None
    return [file.name for file in entry.files.values() if not find_packed(folder, file.name)]


def load_network(source: str | Path, **options: Any) -> GraphData:
    """A network by name (``cora``, ``airport``, ``disease-small``), or else from a file of edges.

    Args:
        source: a name or a path; write ``./name`` for a path that is also a name.
        options: of :func:`read_network`, for a path only: features, labels and so on.

    Example:
        >>> load_network("disease-small")
        GraphData('disease-small': 600 nodes, 599 edges, 11 features, 2 classes)
    """
    if str(source).casefold() in NETWORKS:
        entry = network_entry(str(source))
        if options:
            raise ValueError(
                f"expected no options with the network {entry.name!r}, got {', '.join(options)}; leave them out, or "
                "give a path"
            )
        return entry.read(_files(entry))
    if not Path(source).exists():
        near = difflib.get_close_matches(str(source).casefold(), NETWORKS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"check the path; names are {', '.join(NETWORKS)}"
        raise ValueError(f"expected a network, got {str(source)!r}, which is neither a path nor a name; {hint}")
    return read_network(source, **options)


def fetch_network(name: str, *, progress: Progress | None = None) -> Path:
    """Download what the search path lacks of a network into the cache, and return the folder that holds it.

    Files that are known are checked against their checksums; the others only by their reader.

    Example:
        >>> fetch_network("disease-small")
        Traceback (most recent call last):
        ValueError: expected a network with files, got 'disease-small', which is generated: nothing to fetch
    """
    entry = network_entry(name)
    if entry.generated:
        raise ValueError(f"expected a network with files, got {entry.name!r}, which is generated: nothing to fetch")
    found, folder = find_network(name), search_path.directories()[-1] / entry.name
    if found is not None and all(find_packed(found, file.name) for file in entry.files.values()):
        return found
    for file in entry.files.values():
        if find_packed(folder, file.name) is None:
            download(file.url, folder / file.name, sha256=file.sha256, progress=progress)
    return folder


def _files(entry: Network) -> dict[str, SourceFile]:
    if entry.generated:
        return {}
    folder = find_network(entry.name)
    if folder is None:
        raise ValueError(
            f"expected the files of {entry.name} on {search_path.described()}, "
            f"found them nowhere; download them with "
            f"hybonet data fetch {entry.name} (licence {entry.licence}), or put "
            f"{', '.join(file.name for file in entry.files.values())} into a folder {entry.name} there"
        )
    read = {}
    for part, file in entry.files.items():
        path = find_packed(folder, file.name)
        if path is None:
            continue  # optional: the reader notes what is missing
        read[part] = read_source(path) if file.sha256 is None else read_checked(path, file.sha256, "get it again")
    return read


def _folders(entry: Network) -> Iterable[Path]:
    for directory in search_path.directories():
        yield directory / "hgcn" / entry.name
        yield directory / entry.name
