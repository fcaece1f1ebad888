"""A graph to learn on: undirected edges, and perhaps features, labels and a published split of its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import torch
from torch import Tensor

from hybonet.data.graphs.node_features import degree_features, row_normalised
from hybonet.data.vocabulary import Vocabulary

#: What the graph is used for: to predict missing edges, or the nodes' labels.
GraphTask = Literal["link_prediction", "node_classification"]
#: The label of a node whose label is unknown.
UNLABELLED = -1


@dataclass(frozen=True)
class NodeSplit:
    """Nodes to train on, to choose by and to report on, as node numbers.

    Example:
        >>> NodeSplit(torch.tensor([0, 1]), torch.tensor([2]), torch.tensor([3])).sizes
        (2, 1, 1)
    """

    train: Tensor
    valid: Tensor
    test: Tensor

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Nodes of train, valid and test."""
        return len(self.train), len(self.valid), len(self.test)

    def repeated_in_train(self) -> float:
        """The share of test nodes that are training nodes as well: 0 in an honest split.

        Example:
            >>> NodeSplit(torch.tensor([0, 1]), torch.tensor([2]), torch.tensor([1, 3])).repeated_in_train()
            0.5
        """
        return float(torch.isin(self.test, self.train).double().mean())


@dataclass(frozen=True, eq=False, repr=False)
class GraphData:
    """An undirected graph; :func:`hybonet.data.load_graph` gets one by name, :func:`load_graph` from files.

    Example:
        >>> graph = GraphData.from_edges([("ann", "bob"), ("bob", "cat"), ("cat", "bob"), ("cat", "cat")])
        >>> graph
        GraphData('edges': 3 nodes, 2 edges, no features, no labels)
        >>> graph.edges.tolist(), graph.repeated_edges, graph.self_loops.tolist()
        ([[0, 1], [1, 2]], 1, [2])
        >>> graph.edge_index().tolist()
        [[0, 1, 1, 2], [1, 2, 0, 1]]
    """

    nodes: Vocabulary
    #: Each edge once, the smaller node first, sorted, without self loops; shape (edges, 2).
    edges: Tensor
    #: Shape (nodes, features), dense or CSR; made float32.
    features: Tensor | None = None
    #: Class of each node, :data:`UNLABELLED` where unknown; shape (nodes,).
    labels: Tensor | None = None
    classes: tuple[str, ...] = ()
    #: The split that was published with the graph.
    split: NodeSplit | None = None
    #: Shares of valid and test in node classification, where they were published but not the nodes.
    published_shares: tuple[float, float] | None = None
    #: Where the graph came from: a name, or a path.
    source: str = "edges"
    #: Checksums of the files, by file name.
    sha256: Mapping[str, str] = field(default_factory=dict)
    #: Nodes whose self loops were left out; shape (loops,).
    self_loops: Tensor = field(default_factory=lambda: torch.empty(0, dtype=torch.long))
    #: Edges that the source gave again, in either direction.
    repeated_edges: int = 0
    #: Feature columns that the labels were made of: :meth:`inputs` leaves them out of node classification.
    label_columns: tuple[int, ...] = ()
    #: Whether :meth:`inputs` divides rows of features by their sums.
    normalise_rows: bool = False
    #: Whether :meth:`inputs` adds one-hot degrees and a constant.
    add_degrees: bool = False
    #: What was done to the data, and what it lacks.
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.edges.dtype != torch.long or self.edges.dim() != 2 or self.edges.shape[1] != 2:
            raise ValueError(
                f"expected edges as a LongTensor (n, 2), got shape {tuple(self.edges.shape)} of {self.edges.dtype}; "
                "give two node numbers per edge"
            )
        if len(self.edges) and not (
            0 <= int(self.edges.min()) <= int(self.edges.max()) < self.num_nodes
            and bool((self.edges[:, 0] < self.edges[:, 1]).all())
            and bool((_keys(self.edges, self.num_nodes).diff() > 0).all())
        ):
            raise ValueError(
                f"expected sorted unique pairs of {self.num_nodes} nodes, smaller first, got others; build the graph "
                "with GraphData.build, which sorts them"
            )
        if self.features is not None and (self.features.dim() != 2 or len(self.features) != self.num_nodes):
            raise ValueError(
                f"expected features of shape ({self.num_nodes}, n), got {tuple(self.features.shape)}; give one row a "
                "node, in the nodes' order"
            )
        if self.features is not None:
            object.__setattr__(self, "features", self._in_float32(self.features))
        if self.labels is not None and not (
            self.labels.shape == (self.num_nodes,)
            and self.labels.dtype == torch.long
            and UNLABELLED <= int(self.labels.min()) <= int(self.labels.max()) < len(self.classes)
        ):
            raise ValueError(
                f"expected a LongTensor of {self.num_nodes} labels from {UNLABELLED} to {len(self.classes) - 1}, got "
                f"shape {tuple(self.labels.shape)} of {self.labels.dtype}; number them by their place in classes"
            )

    def _in_float32(self, features: Tensor) -> Tensor:
        narrow = features.float()
        values = narrow.values() if narrow.layout == torch.sparse_csr else narrow
        if not bool(values.isfinite().all()):
            node, column = (~narrow.to_dense().isfinite()).nonzero()[0].tolist()
            raise ValueError(
                f"{self.source}: expected features that float32 holds as finite numbers, got "
                f"{features.to_dense()[node, column].item():g} for node {self.nodes[node]!r} in column {column}; "
                "correct it, or remove the column"
            )
        return narrow

    @classmethod
    def build(cls, nodes: Vocabulary, pairs: Tensor, **parts: object) -> GraphData:
        """From any pairs of node numbers: each edge is kept once, self loops are set aside, both are counted.

        Args:
            nodes: the nodes' names.
            pairs: shape (n, 2), in any order and direction.
            parts: further fields.
        """
        loops = pairs[:, 0] == pairs[:, 1]
        pairs = pairs.long()
        keys = _keys(pairs[~loops].sort(dim=1).values, len(nodes))
        unique = keys.unique()
        edges = torch.stack((unique // max(1, len(nodes)), unique % max(1, len(nodes))), dim=1)
        self_loops = pairs[loops, 0].unique()
        return cls(
            nodes,
            edges,
            self_loops=self_loops,
            repeated_edges=len(pairs) - len(edges) - len(self_loops),
            **parts,  # type: ignore[arg-type]
        )

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[str, str]], **parts: object) -> GraphData:
        """From pairs of names, numbered in alphabetical order; ``parts`` are further fields."""
        edges = list(edges)
        nodes = Vocabulary(tuple(sorted({name for edge in edges for name in edge})), kind="node")
        number = {name: at for at, name in enumerate(nodes)}
        pairs = torch.tensor([(number[a], number[b]) for a, b in edges], dtype=torch.long).reshape(-1, 2)
        return cls.build(nodes, pairs, **parts)

    def __repr__(self) -> str:
        features = "no features" if self.features is None else f"{self.num_features:,} features"
        labels = "no labels" if self.labels is None else f"{len(self.classes)} classes"
        return f"GraphData({self.source!r}: {self.num_nodes:,} nodes, {len(self.edges):,} edges, {features}, {labels})"

    @property
    def num_nodes(self) -> int:
        """Nodes, isolated ones included."""
        return len(self.nodes)

    @property
    def num_features(self) -> int:
        """Columns of the features; 0 if there are none."""
        return 0 if self.features is None else self.features.shape[1]

    def edge_index(self, edges: Tensor | None = None) -> Tensor:
        """Both directions of every edge, or of those given; shape (2, 2n), as message passing takes them."""
        edges = self.edges if edges is None else edges
        return torch.cat((edges, edges.flip(1))).T.contiguous()

    def inputs(self, task: GraphTask, *, edges: Tensor | None = None) -> Tensor:
        """Features as a model takes them: columns the labels were made of left out, rows normalised, degrees added.

        Each of these is done only where the graph asks for it (its fields say so).

        Args:
            task: labels must not be among the inputs of node classification.
            edges: what the model may know of the graph, for degrees; in link prediction the training edges. All by
                default, which link prediction refuses where degrees are added.

        Example:
            >>> graph = GraphData.from_edges([("ann", "bob")], features=torch.tensor([[1.0, 3.0], [2.0, 2.0]]),
            ...     normalise_rows=True, label_columns=(1,))
            >>> graph.inputs("link_prediction").tolist(), graph.inputs("node_classification").tolist()
            ([[0.25, 0.75], [0.5, 0.5]], [[1.0], [1.0]])
        """
        if task not in get_args(GraphTask):
            raise ValueError(f"expected one of {', '.join(get_args(GraphTask))}, got {task!r}; choose one of these")
        if self.features is None:
            raise ValueError(
                f"{self.source}: expected features, got none ({'; '.join(self.notes) or 'none were given'}); give "
                "some, or use those of the structure, hybonet.data.degree_features(edges, num_nodes)"
            )
        features = self.features
        if task == "node_classification" and self.label_columns:
            kept = [column for column in range(self.num_features) if column not in self.label_columns]
            features = features.to_dense()[:, kept]
        if self.normalise_rows:
            features = row_normalised(features)
        if self.add_degrees:
            if edges is None and task == "link_prediction":
                raise ValueError(
                    f"{self.source}: expected the training edges, got none; degrees are among the inputs, and those of "
                    "the whole graph tell of held-out edges: give edges="
                )
            known = degree_features(self.edges if edges is None else edges, self.num_nodes)
            features = torch.cat((features.to_dense(), known), dim=1)
        return features

    def statistics(self) -> dict[str, int]:
        """Counts for reports and checks.

        Example:
            >>> GraphData.from_edges([("ann", "bob")]).statistics()
            {'nodes': 2, 'edges': 1, 'features': 0, 'classes': 0}
        """
        return {
            "nodes": self.num_nodes,
            "edges": len(self.edges),
            "features": self.num_features,
            "classes": len(self.classes),
        }

    def class_counts(self) -> dict[str, int]:
        """Nodes of each class, in the classes' order; unlabelled nodes are not among them.

        Example:
            >>> GraphData.from_edges([("ann", "bob")], labels=torch.tensor([1, -1]), classes=("x", "y")).class_counts()
            {'x': 0, 'y': 1}
        """
        if self.labels is None:
            return {}
        counts = torch.bincount(self.labels[self.labels >= 0], minlength=len(self.classes)).tolist()
        return dict(zip(self.classes, counts, strict=True))


def _keys(edges: Tensor, num_nodes: int) -> Tensor:
    """One number per pair, in the order of the pairs."""
    return edges[:, 0] * num_nodes + edges[:, 1]


def numbered_nodes(count: int) -> Vocabulary:
    """Nodes that have no names but their numbers."""
    return Vocabulary(tuple(str(number) for number in range(count)), kind="node")
