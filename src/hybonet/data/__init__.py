"""Data that ships with the package, and readers for a user's own."""

from hybonet.data.graphs.catalog import fetch_network, find_network, load_network, network_entry
from hybonet.data.graphs.disease_tree import disease_tree
from hybonet.data.graphs.graph_data import GraphData, NodeSplit
from hybonet.data.graphs.node_features import degree_features, row_normalised
from hybonet.data.graphs.own_files import read_network
from hybonet.data.graphs.splits import LinkSplit, split_links, split_nodes
from hybonet.data.hierarchies.hierarchy import Hierarchy, display_name, load_hierarchy, shipped_hierarchies
from hybonet.data.io.download import DownloadError
from hybonet.data.trees.conllu import read_conllu, write_conllu
from hybonet.data.trees.dependency_tree import DependencyTree
from hybonet.data.trees.treebanks import Treebank, load_treebank
from hybonet.data.triples.catalog import catalog_entry, fetch_dataset, find_dataset, load_dataset, load_graph
from hybonet.data.triples.loading import load_triples
from hybonet.data.triples.redundant_relations import RedundantRelations, find_redundant_relations
from hybonet.data.triples.shipped import load_shipped, shipped_graphs
from hybonet.data.triples.split import Split, split_triples
from hybonet.data.triples.triple_data import TripleData
from hybonet.data.vocabulary import Vocabulary

__all__ = [
    "DependencyTree",
    "DownloadError",
    "GraphData",
    "Hierarchy",
    "LinkSplit",
    "NodeSplit",
    "RedundantRelations",
    "Split",
    "Treebank",
    "TripleData",
    "Vocabulary",
    "catalog_entry",
    "degree_features",
    "disease_tree",
    "display_name",
    "fetch_dataset",
    "fetch_network",
    "find_dataset",
    "find_network",
    "find_redundant_relations",
    "load_dataset",
    "load_graph",
    "load_hierarchy",
    "load_network",
    "load_shipped",
    "load_treebank",
    "load_triples",
    "network_entry",
    "read_conllu",
    "read_network",
    "row_normalised",
    "shipped_graphs",
    "shipped_hierarchies",
    "split_links",
    "split_nodes",
    "split_triples",
    "write_conllu",
]
