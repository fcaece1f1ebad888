"""Questions to a model trained on a graph, asked and answered by the nodes' names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from hybonet.data.graphs.graph_data import UNLABELLED, GraphData
from hybonet.metrics.calibration import Judged, link_probability
from hybonet.reporting.answers import Answers, Measures
from hybonet.tasks.graph.data import write
from hybonet.tasks.graph.models.node_model import NodeModel
from hybonet.tasks.graph.options import Evaluate, Predict
from hybonet.tasks.graph.report import classes_tables, evaluation, links_tables
from hybonet.tasks.graph.task import GraphLearningTask
from hybonet.tasks.predictor import Embedding, Predictor
from hybonet.tasks.run_folder import source_name

_BLOCK = 1 << 24  # distances that are held at a time


@dataclass(frozen=True)
class Link(Judged):
    """A pair of nodes, the probability of a link between them, and whether the graph has it.

    The probability is that of a draw in which links and other pairs are equally many, as in the evaluation. The verdict
    is ``known`` where the graph has the link, else ``new`` from one half on, or ``unlikely``.
    """

    node: str
    other: str
    probability: float
    squared_distance: float
    known: bool


@dataclass(frozen=True)
class NodeClass:
    """A node's most probable class, the probabilities of all, and the class that the graph says, if it says one."""

    node: str
    predicted: str
    probability: float
    truth: str | None
    probabilities: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        """For JSON and CSV."""
        return {**asdict(self), "probabilities": dict(self.probabilities)}


class GraphModel(Predictor):
    """A trained model with the graph that it knows.

    Example:
        >>> from hybonet.data import load_graph
        >>> from hybonet.tasks.graph.task import GraphSettings
        >>> task = GraphLearningTask(GraphSettings(), load_graph("disease-small"))
        >>> model = GraphModel(task.build_model(), task)
        >>> links = model.links("7", top=3, known=False)
        >>> len(links), links[0].known, links[0].probability >= links[1].probability
        (3, False, True)
    """

    task_name = "graph"
    model: NodeModel
    task: GraphLearningTask

    def __init__(
        self,
        model: NodeModel,
        task: GraphLearningTask,
        *,
        config: Mapping[str, Any] | None = None,
        record: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(model, task, config=config, record=record)
        #: Where the nodes are, ``(nodes, dim)``.
        self.points = task.points(self.model)

    @property
    def calibration(self) -> Mapping[str, float]:
        """What turns distances or scores into probabilities: fitted to the validation data, or else the settings."""
        settings = self.task.settings
        try:
            fitted = (self.record or {}).get("calibration")
        except ValueError:  # a damaged record hinders no answer
            fitted = None
        plain = {"radius": settings.radius, "temperature": settings.temperature}
        return fitted or (plain if settings.task == "lp" else {"temperature": 1.0})

    @property
    def graph(self) -> GraphData:
        """What the model was trained on, held-out parts included."""
        return self.task.graph

    def saved(self, folder: Path) -> dict[str, Any]:
        return {"settings": self.task.settings.model_dump(), "graph": write(folder, self.graph)}

    def __repr__(self) -> str:
        return f"GraphModel({type(self.model).__name__}, {self.graph!r})"

    @torch.no_grad()
    def links(self, node: str, top: int = 10, *, known: bool = True) -> list[Link]:
        """The most probable links of a node; without ``known``, only those that the graph does not have."""
        self._require("lp", "links")
        number = self.graph.nodes.find(node)
        squares = self.model.squared_distances(self.points[number : number + 1], self.points)[0].cpu()
        hidden = torch.zeros(len(squares), dtype=torch.bool)
        hidden[number] = True
        if not known:
            hidden[self._neighbours(number)] = True
        squares = squares.masked_fill(hidden, torch.inf)
        best = squares.topk(min(top, int((~hidden).sum())), largest=False).indices
        return self._as_links([(number, other) for other in best.tolist()])

    @torch.no_grad()
    def missing_links(self, top: int = 10) -> list[Link]:
        """The most probable links of the whole graph that it does not have.

        All pairs are looked at, some nodes at a time, and only those nearer than the best so far are kept.
        """
        self._require("lp", "links")
        count, edges = self.graph.num_nodes, self.graph.edges
        kept, pairs = torch.empty(0), torch.empty(0, 2, dtype=torch.long)
        start = 0
        while start < count - 1:
            # Nodes against those behind them: each pair once.
            nodes, behind = self.points[start : start + max(1, _BLOCK // (count - start))], self.points[start + 1 :]
            squares = self.model.squared_distances(nodes, behind).cpu()
            rows = torch.arange(len(nodes))[:, None]
            squares[:, : len(nodes)].masked_fill_(torch.arange(squares.shape[1])[: len(nodes)] < rows, torch.inf)
            first, last = torch.searchsorted(edges[:, 0].contiguous(), torch.tensor([start, start + len(nodes)]))
            squares[edges[first:last, 0] - start, edges[first:last, 1] - start - 1] = torch.inf
            nearest = kept if len(kept) == top else squares.view(-1).topk(min(top, squares.numel()), largest=False)[0]
            near = ((squares <= nearest.max()) & (squares < torch.inf)).nonzero()
            kept = torch.cat((kept, squares[near[:, 0], near[:, 1]]))
            pairs = torch.cat((pairs, near + torch.tensor([start, start + 1])))
            kept, order = kept.topk(min(top, len(kept)), largest=False)
            pairs = pairs[order]
            start += len(nodes)
        return self._as_links([(first, second) for first, second in pairs.tolist()])

    @torch.no_grad()
    def classify(self, nodes: Iterable[str] | None = None) -> list[NodeClass]:
        """The class of each of some nodes, of all by default."""
        self._require("nc", "classes")
        graph = self.graph
        every = range(graph.num_nodes) if nodes is None else [graph.nodes.find(node) for node in nodes]
        numbers = torch.tensor(list(every), dtype=torch.long)
        logits = self.model.class_logits(self.points[numbers.to(self.points.device)])
        shares = (logits.double() / self.calibration["temperature"]).softmax(1).cpu()
        assert graph.labels is not None
        answers = []
        for number, row in zip(numbers.tolist(), shares.tolist(), strict=True):
            label = int(graph.labels[number])
            best = max(range(len(row)), key=row.__getitem__)
            answers.append(
                NodeClass(
                    graph.nodes[number],
                    graph.classes[best],
                    row[best],
                    None if label == UNLABELLED else graph.classes[label],
                    dict(zip(graph.classes, row, strict=True)),
                )
            )
        return answers

    def predict(self, node: str | Sequence[str] | None = None, **options: Any) -> Answers:
        """Links, or classes, of some nodes, or of the whole graph; the options are those of ``hybonet predict``.

        Links of the whole graph are those that it does not have.
        """
        asked = Predict.checked({"node": [node] if isinstance(node, str) else node, **options})
        if self.task.settings.task == "nc":
            if asked.new:
                raise ValueError("expected --new with links only, but the run predicts classes; leave it out")
            return self._classes(asked.node)
        found = {name: self.links(name, asked.top, known=not asked.new) for name in asked.node or ()}
        if not asked.node:
            found = {"": self.missing_links(asked.top)}
        rows = ({"rank": rank, **link.as_dict()} for links in found.values() for rank, link in enumerate(links, 1))
        columns = ["rank", "node", "other", "probability", "squared_distance", "known", "verdict"]
        return Answers(rows, columns=columns, tables=lambda: links_tables(found))

    def _classes(self, nodes: Sequence[str] | None) -> Answers:
        found = self.classify(nodes or None)
        rows = []
        for each in found:
            row = each.as_dict()
            shares = {f"p({name})": share for name, share in row.pop("probabilities").items()}
            rows.append({**row, **shares})
        return Answers(rows, nested=[each.as_dict() for each in found], tables=lambda: classes_tables(found))

    def evaluate(self, **options: Any) -> Measures:
        """ROC AUC and average precision of links, or F1 and accuracy of classes, on held-out parts."""
        split = Evaluate.checked(options).split
        measured = self.task.measure_in_full(
            self.model, self.calibration, *(("valid", "test") if split is None else (split,))
        )
        figures = {"protocol": self.task.settings.protocol, **measured}
        about = {**self.task.describe(), "test": next(iter(measured.values()))}
        return Measures(figures, tables=lambda: evaluation(measured, about))

    def embedding(self) -> Embedding:
        nodes = self.graph.nodes
        names = [nodes.name(number) for number in range(len(nodes))]
        return Embedding(list(nodes), names, self.points, getattr(self.model, "manifold", None))

    def card_text(self) -> str:
        settings, sizes = self.task.settings, self.graph.statistics()
        manifold = getattr(self.model, "manifold", None)
        learned = ", learned" if manifold is not None and manifold.learnable else ""
        space = "" if manifold is None else f", in hyperbolic space (K = {manifold.curvature:.6g}{learned})"
        what = "links" if settings.task == "lp" else "classes of nodes"
        return (
            f"{settings.model} for {what} of a graph of {sizes['nodes']:,} nodes and {sizes['edges']:,} edges, "
            f"`{source_name(self.graph.source)}`, which is in this folder: {settings.dim} dimensions per node, "
            f"{settings.layers} graph layers{space}."
        )

    def card_example(self) -> str:
        top = ", top=5, new=True" if self.task.settings.task == "lp" else ""
        return f'print(model.predict("{self.graph.nodes[0]}"{top}))'

    def _require(self, task: str, what: str) -> None:
        settings = self.task.settings
        if settings.task != task:
            raise ValueError(
                f"expected a model of {what}, got one trained with --task {settings.task}; train another with --task "
                f"{task}"
            )

    def _neighbours(self, number: int) -> Tensor:
        edges = self.graph.edges
        return torch.cat((edges[edges[:, 0] == number, 1], edges[edges[:, 1] == number, 0]))

    def _as_links(self, pairs: Sequence[tuple[int, int]]) -> list[Link]:
        if not pairs:
            return []
        nodes = self.graph.nodes
        squares = self.model.squared_distance(self.points, torch.tensor(pairs).to(self.points.device)).double().cpu()
        probabilities = link_probability(squares, **self.calibration).tolist()
        of = {number: set(self._neighbours(number).tolist()) for number in {first for first, _ in pairs}}
        return [
            Link(nodes[first], nodes[second], probability, square, second in of[first])
            for (first, second), probability, square in zip(pairs, probabilities, squares.tolist(), strict=True)
        ]
