"""Link prediction and node classification as a task of the training loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.data.graphs.graph_data import GraphData, NodeSplit
from hybonet.data.graphs.neighbour_sampling import NeighbourSampler
from hybonet.data.graphs.node_features import degree_features, scaled_columns, stretched
from hybonet.data.graphs.splits import LinkSplit, split_links, split_nodes
from hybonet.optim import RiemannianAdam
from hybonet.tasks.graph.evaluation import (
    SplitName,
    class_details,
    class_measures,
    held_out_nodes,
    held_out_pairs,
    is_binary,
    link_details,
    link_measures,
)
from hybonet.tasks.graph.losses import class_margin, link_cross_entropy, link_margin
from hybonet.tasks.graph.models.by_name import build_graph_model
from hybonet.tasks.graph.models.node_model import NodeModel
from hybonet.tasks.graph.settings import ClassPointSettings, GraphSettings, HyperbolicSettings
from hybonet.training import generator_for

__all__ = ["Batch", "GraphLearningTask", "GraphSettings"]


@dataclass(frozen=True)
class Batch:
    """What a step is made of: links, then as many pairs without one; or nodes with their classes."""

    x: Tensor
    edges: Tensor
    pairs: Tensor | None = None
    nodes: Tensor | None = None
    classes: Tensor | None = None

    def to(self, device: str) -> Batch:
        """The same on a device."""
        parts = (self.x, self.edges, self.pairs, self.nodes, self.classes)
        return Batch(*(None if part is None else part.to(device) for part in parts))  # type: ignore[arg-type]


class GraphLearningTask:
    """Fills in :class:`~hybonet.training.Task` for a graph."""

    name = "graph"
    higher_is_better = True

    def __init__(self, settings: GraphSettings, graph: GraphData) -> None:
        self.settings, self.graph = settings, graph
        #: The mean of ROC AUC and average precision for links, F1 for classes.
        self.monitor = "auc_ap" if settings.task == "lp" else "f1"
        self.monitor_label = "validation (ROC AUC + AP)/2" if settings.task == "lp" else "validation F1"
        self.unit = "steps/s" if settings.batch_size is None else "examples/s"
        self.links: LinkSplit | None = None
        self.node_split: NodeSplit | None = None
        edges = graph.edges
        if settings.task == "lp":
            self.links = split_links(graph, protocol=settings.protocol, seed=settings.split_seed)
            edges, parts = self.links.train, (self.links.train, self.links.valid, self.links.test)
        else:
            if graph.labels is None:
                raise ValueError(
                    f"{graph.source}: expected labels to learn classes from, got none; give a table of node and label "
                    "(--labels FILE; of networkx, label_column= may name an attribute of the nodes), or predict links "
                    "(--task lp)"
                )
            if len(found := graph.labels[graph.labels >= 0].unique()) == 1:
                raise ValueError(
                    f"{graph.source}: expected labels of at least two classes, got {graph.classes[int(found)]!r} "
                    "alone; there is nothing to tell apart: give other labels, or predict links (--task lp)"
                )
            self.node_split = split_nodes(graph, protocol=settings.protocol, seed=settings.split_seed)
            parts = (self.node_split.train, self.node_split.valid, self.node_split.test)
        sizes = [len(part) for part in parts]
        if min(sizes) == 0:
            what = "edges" if settings.task == "lp" else "labelled nodes"
            raise ValueError(
                f"{graph.source}: expected {what} to train on, to choose by and to report on, got {sizes[0]:,}, "
                f"{sizes[1]:,} and {sizes[2]:,}; the graph is too small for the split, give a larger one"
            )
        self.train_size = sizes[0]
        #: What the model may know of the graph.
        self.known_edges = edges
        self.x = self._inputs(edges).to(settings.device)
        self.edge_index = graph.edge_index(edges).to(settings.device)
        self.sampler = NeighbourSampler(edges, graph.num_nodes) if settings.batch_size is not None else None

    @property
    def inputs(self) -> str:
        """What the model knows of a node: features, degrees or learned."""
        return self.settings.inputs or ("learned" if self.graph.features is None else "features")

    def _inputs(self, known: Tensor) -> Tensor:
        if self.inputs == "learned":
            return torch.arange(self.graph.num_nodes)
        if self.inputs == "degrees":
            return degree_features(known, self.graph.num_nodes)
        if self.graph.features is None:
            raise ValueError(
                f"{self.graph.source}: expected features with inputs=features, got none; give a table of node and "
                "numbers (--features FILE), or use inputs=degrees or inputs=learned"
            )
        purpose = "link_prediction" if self.settings.task == "lp" else "node_classification"
        features = self.graph.inputs(purpose, edges=known)  # type: ignore[arg-type]
        s = self.settings
        if s.scale_columns:
            features = scaled_columns(features)
        if s.input_radius is not None:
            features = stretched(features, s.input_radius)
        learns_curvature = isinstance(s, HyperbolicSettings) and s.learn_curvature
        stays = not learns_curvature and s.batch_size is None and s.device == "cpu"
        return features if stays and features.layout == torch.sparse_csr else features.to_dense()

    def build_model(self) -> NodeModel:
        learned = self.inputs == "learned"
        return build_graph_model(
            self.settings,
            num_features=0 if learned else self.x.shape[1],
            num_classes=len(self.graph.classes) if self.settings.task == "nc" else 0,
            num_nodes=self.graph.num_nodes if learned else 0,
            cached=self.sampler is None,
        )

    def build_optimizer(self, model: nn.Module) -> RiemannianAdam:
        s = self.settings
        return RiemannianAdam(
            model,
            lr=s.lr,
            weight_decay=s.weight_decay,
            decoupled_weight_decay=s.decoupled_weight_decay,
            update="exact" if isinstance(s, ClassPointSettings) and s.optimizer == "riemannian" else "chart",
            precondition=False,
        )

    def batches_per_epoch(self) -> int:
        size = self.settings.batch_size
        return 1 if size is None else -(-self.train_size // size)

    def batches(self, epoch: int, start: int, rank: int = 0, world: int = 1) -> Iterator[Batch]:
        s = self.settings
        size = self.train_size if s.batch_size is None else s.batch_size
        # A whole graph at once needs no order, which would change the sums' last digits.
        shuffled = self.sampler is not None
        order = torch.randperm(self.train_size, generator=generator_for(s.seed, epoch, 0)) if shuffled else None
        for number in range(start, self.batches_per_epoch()):
            chosen = torch.arange(size) if order is None else order[number * size : (number + 1) * size]
            yield self._batch(chosen[rank::world], generator_for(s.seed, epoch, number + 1, rank))

    def _batch(self, chosen: Tensor, generator: torch.Generator) -> Batch:
        pairs = nodes = classes = None
        if self.links is not None:
            negatives = self.links.training_negatives(len(chosen), generator)
            pairs = torch.cat((self.links.train[chosen], negatives))
        else:
            assert self.node_split is not None
            assert self.graph.labels is not None
            nodes = self.node_split.train[chosen]
            classes = self.graph.labels[nodes]
        if self.sampler is None:
            return Batch(self.x, self.edge_index, pairs, nodes, classes)
        asked, places = (nodes if pairs is None else pairs).unique(return_inverse=True)  # type: ignore[union-attr]
        part = self.sampler.sample(asked, self.settings.layers, self.settings.fan_out, generator)
        x = self.x[part.nodes.to(self.x.device)]
        if pairs is not None:
            return Batch(x, part.edge_index, pairs=places)
        return Batch(x, part.edge_index, nodes=places, classes=classes)

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        s, batch = self.settings, batch.to(self.settings.device)
        scores = model(batch.x, batch.edges, pairs=batch.pairs, nodes=batch.nodes)
        if batch.pairs is not None:
            positive, negative = scores.chunk(2)
            if s.loss == "margin":
                return link_margin(positive, negative, s.margin)
            return link_cross_entropy(positive, negative)
        assert batch.classes is not None
        if s.loss == "margin":
            return class_margin(scores, batch.classes, s.margin)
        return F.cross_entropy(scores, batch.classes)

    @torch.no_grad()
    def points(self, model: NodeModel) -> Tensor:
        """Where the model puts every node, the training edges being known."""
        return model.encode(self.x, self.edge_index)

    @torch.no_grad()
    def measure(self, model: NodeModel, *splits: SplitName) -> dict[str, dict[str, float]]:
        """Measures on held-out parts, from one pass over the graph."""
        z = self.points(model)
        measured: dict[str, dict[str, float]] = {}
        for name in splits:
            if self.links is not None:
                scores = (model.link_logits(z, pairs.to(z.device)) for pairs in held_out_pairs(self.links, name))
                measured[name] = link_measures(*scores)
            else:
                assert self.node_split is not None
                assert self.graph.labels is not None
                nodes = held_out_nodes(self.node_split, name)
                logits = model.class_logits(z[nodes.to(z.device)])
                measured[name] = class_measures(logits, self.graph.labels[nodes], binary=is_binary(self.graph))
        return measured

    @torch.no_grad()
    def measure_in_full(
        self, model: NodeModel, calibration: Mapping[str, float], *splits: SplitName
    ) -> dict[str, dict[str, Any]]:
        """Measures with the number of cases, intervals, and the calibration error."""
        z, measured = self.points(model), self.measure(model, *splits)
        for name in splits:
            if self.links is not None:
                near, far = (
                    model.squared_distance(z, pairs.to(z.device)) for pairs in held_out_pairs(self.links, name)
                )
                details = link_details(near, far, **calibration)
            else:
                assert self.node_split is not None
                assert self.graph.labels is not None
                nodes = held_out_nodes(self.node_split, name)
                logits = model.class_logits(z[nodes.to(z.device)])
                details = class_details(logits, self.graph.labels[nodes], binary=is_binary(self.graph), **calibration)
            measured[name] = {**measured[name], **details}
        return measured

    @property
    def validation_cases(self) -> int:
        """Links and pairs without one, or nodes, that a validation looks at."""
        return 2 * len(self.links.valid) if self.links is not None else len(self.node_split.valid)  # type: ignore[union-attr]

    def validate(self, model: nn.Module) -> dict[str, float]:
        assert isinstance(model, NodeModel)
        return self.measure(model, "valid")["valid"]

    def describe(self) -> dict[str, Any]:
        graph, s = self.graph, self.settings
        if self.links is not None:
            sizes = (len(self.links.train), len(self.links.valid), len(self.links.test))
            about: dict[str, Any] = {"measure": "ROC AUC of edges against as many pairs without"}
        else:
            assert self.node_split is not None
            sizes = self.node_split.sizes
            about = {
                "measure": f"F1 of class {graph.classes[1]}" if is_binary(graph) else "micro F1",
                "test_nodes_repeated_in_train": round(self.node_split.repeated_in_train(), 4),
            }
        return {
            "task": self.name,
            "protocol": s.protocol,
            **about,
            "inputs": self.inputs,
            "split": dict(zip(("train", "valid", "test"), sizes, strict=True)),
            "data": {"source": graph.source, "sha256": dict(graph.sha256), **graph.statistics()},
        }
