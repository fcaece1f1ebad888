"""Data that ships with the package, and readers for a user's own."""

from hybonet.data.catalog import catalog_entry, fetch_dataset, find_dataset, load_dataset, load_graph
from hybonet.data.download import DownloadError
from hybonet.data.hierarchy import Hierarchy, display_name, load_hierarchy, shipped_hierarchies
from hybonet.data.redundant_relations import RedundantRelations, find_redundant_relations
from hybonet.data.shipped_graph import load_shipped, shipped_graphs
from hybonet.data.split import Split, split_triples
from hybonet.data.triple_loading import load_triples
from hybonet.data.triples import TripleData
from hybonet.data.vocabulary import Vocabulary

__all__ = [
    "DownloadError",
    "Hierarchy",
    "RedundantRelations",
    "Split",
    "TripleData",
    "Vocabulary",
    "catalog_entry",
    "display_name",
    "fetch_dataset",
    "find_dataset",
    "find_redundant_relations",
    "load_dataset",
    "load_graph",
    "load_hierarchy",
    "load_shipped",
    "load_triples",
    "shipped_graphs",
    "shipped_hierarchies",
    "split_triples",
]
