"""Data by name, from files and from other libraries: one function for each kind, and the registry of names."""

import warnings
from typing import Any

from hybonet.data.graphs.disease_tree import disease_tree
from hybonet.data.graphs.graph_data import GraphData, NodeSplit
from hybonet.data.graphs.loading import load_graph
from hybonet.data.graphs.node_features import degree_features, row_normalised
from hybonet.data.graphs.splits import LinkSplit, split_links, split_nodes
from hybonet.data.hierarchies.hierarchy import Hierarchy, display_name
from hybonet.data.hierarchies.loading import load_hierarchy
from hybonet.data.io.download import DownloadError
from hybonet.data.mentions.loading import load_mentions
from hybonet.data.mentions.mention_data import Mention, MentionData
from hybonet.data.registry import DataSet, data_sets, named
from hybonet.data.text.loading import load_corpus
from hybonet.data.text.parallel_text import Pairs, ParallelText
from hybonet.data.trees.conllu import read_conllu, write_conllu
from hybonet.data.trees.dependency_tree import DependencyTree
from hybonet.data.trees.loading import Treebank, load_treebank
from hybonet.data.triples.loading import load_knowledge_graph
from hybonet.data.triples.redundant_relations import RedundantRelations, find_redundant_relations
from hybonet.data.triples.split import Split, split_triples
from hybonet.data.triples.triple_data import TripleData
from hybonet.data.vocabulary import Vocabulary

__all__ = [
    "DataSet",
    "DependencyTree",
    "DownloadError",
    "GraphData",
    "Hierarchy",
    "LinkSplit",
    "Mention",
    "MentionData",
    "NodeSplit",
    "Pairs",
    "ParallelText",
    "RedundantRelations",
    "Split",
    "Treebank",
    "TripleData",
    "Vocabulary",
    "data_sets",
    "degree_features",
    "disease_tree",
    "display_name",
    "find_redundant_relations",
    "load_corpus",
    "load_graph",
    "load_hierarchy",
    "load_knowledge_graph",
    "load_mentions",
    "load_treebank",
    "named",
    "read_conllu",
    "row_normalised",
    "split_links",
    "split_nodes",
    "split_triples",
    "write_conllu",
]
#: Names up to version 0.1, and what they are now.
_OLD = {
    "load_network": "load_graph",
    "read_network": "load_graph",
    "load_triples": "load_knowledge_graph",
    "load_dataset": "load_knowledge_graph",
    "load_shipped": "load_knowledge_graph",
    "catalog_entry": "named",
    "network_entry": "named",
}


def __getattr__(name: str) -> Any:
    """Names of version 0.1, with a warning."""
    if name not in _OLD:
        raise AttributeError(f"module 'hybonet.data' has no attribute {name!r}")
    warnings.warn(f"hybonet.data.{name} is now {_OLD[name]}; the old name goes with 0.3", DeprecationWarning, 2)
    return globals()[_OLD[name]]
