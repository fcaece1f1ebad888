"""Data that ships with the package, and readers for a user's own."""

from hybonet.data.catalog import catalog_entry, fetch_dataset, find_dataset, load_dataset, load_graph
from hybonet.data.conllu import read_conllu, write_conllu
from hybonet.data.disease_tree import disease_tree
from hybonet.data.download import DownloadError
from hybonet.data.graph_splits import LinkSplit, split_links, split_nodes
from hybonet.data.graphs import GraphData, NodeSplit
from hybonet.data.hierarchy import Hierarchy, display_name, load_hierarchy, shipped_hierarchies
from hybonet.data.networks import fetch_network, find_network, load_network, network_entry
from hybonet.data.node_features import degree_features, row_normalised
from hybonet.data.own_network import read_network
from hybonet.data.redundant_relations import RedundantRelations, find_redundant_relations
from hybonet.data.shipped_graph import load_shipped, shipped_graphs
from hybonet.data.split import Split, split_triples
from hybonet.data.treebanks import Treebank, load_treebank
from hybonet.data.trees import DependencyTree
from hybonet.data.triple_loading import load_triples
from hybonet.data.triples import TripleData
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
