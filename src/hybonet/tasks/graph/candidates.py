"""Settings that may suit a graph: what its size, features and labels say, and what a race is to decide.

Features in hundreds of columns are learned by heart, so that half of them and more are dropped, and scores are trained
by cross-entropy. A few columns, or none, leave the neighbourhood to tell nodes apart: nothing is dropped, links must be
apart by a wide margin, and classes are read from four steps away. Features in large units, which would all lie at the
edge of what points can be, are brought to one scale.
"""

from __future__ import annotations

import torch
from torch import Tensor

from hybonet.data.graphs.graph_data import GraphData
from hybonet.data.graphs.node_features import mean_length
from hybonet.data.graphs.splits import split_nodes
from hybonet.geometry.numerics import precision
from hybonet.tasks.auto import Candidate
from hybonet.tasks.graph.evaluation import class_measures, is_binary
from hybonet.tasks.graph.settings import GraphSettings
from hybonet.tasks.graph.task import GraphLearningTask
from hybonet.training.ranges import Value

#: So many columns of features tell nodes apart by themselves.
_WIDE = 50
#: A plane tells any two classes of so many points per column apart (Cover, 1965): fewer are learned by heart.
_BY_HEART = 2
#: A whole graph of more edges takes longer for a step than it is worth.
_LARGE = 1_000_000
#: How far settings with much dropout, a wide margin or four layers are behind early in a training, as a share.
_LINK_LEAD, _MARGIN_LEAD, _CLASS_LEAD, _DEEP_LEAD = 0.2, 0.3, 0.4, 0.1
#: So few edges per node, and a graph is nearly a tree.
_SPARSE = 1.5
#: Features are made this long where they are longer than points of float32 can be told apart.
_LENGTH, _TOO_LONG = 3.0, precision(torch.float32).usable_radius

_DROPPED_LINKS: dict[str, Value] = {
    "loss": "cross_entropy", "learn_decoder": True, "lr": 0.02, "dropout": 0.5, "max_grad_norm": 0.5, "patience": 30,
}  # fmt: skip
_CLIPPED: dict[str, Value] = {"weight_decay": 0.0002, "max_grad_norm": 0.5, "epochs": 1500, "patience": 25}
_WIDE_MARGIN: dict[str, Value] = {**_CLIPPED, "margin": 30.0}
_DROPPED_CLASSES: dict[str, Value] = {"loss": "cross_entropy", "weight_decay": 0.001, "dropout": 0.7}
_DEEP: dict[str, Value] = {"loss": "cross_entropy", "layers": 4, "epochs": 1200, "validate_every": 10}
_DEEP_MARGIN: dict[str, Value] = {
    "layers": 4, "lr": 0.02, "weight_decay": 0.0001, "epochs": 2000, "validate_every": 10,
}  # fmt: skip


def candidates(settings: GraphSettings, data: GraphData) -> list[Candidate]:
    """What may suit a graph, the likeliest first, with the Euclidean twin of that one."""
    columns = _columns(settings, data)
    own = _links(data, columns) if settings.task == "lp" else _classes(data, columns)
    if scaled := _scaled(settings, data) if columns else {}:
        why = f"features are {_length(settings, data):,.0f} long on average: columns are brought to one scale"
        own = [Candidate(each.name, {**each.changes, **scaled}, f"{each.why}; {why}", each.lead) for each in own]
    if len(data.edges) > _LARGE:
        sampled: dict[str, Value] = (
            {"batch_size": 4096, "fan_out": 8, "epochs": 5, "validate_every": 1, "patience": 2}
            if settings.task == "lp"
            else {"batch_size": 1024, "fan_out": 8, "epochs": 20, "validate_every": 1, "patience": 4}
        )
        why = f"{len(data.edges):,} edges: neighbours are sampled"
        own = [Candidate(each.name, {**each.changes, **sampled}, f"{each.why}; {why}", each.lead) for each in own]
    first = own[0]
    changes = {**first.changes, **twin(settings)}
    # Flat models learn faster at first, so that they have half the lead.
    flat = Candidate("Euclidean twin", changes, "the same in flat space", first.lead / 2, twin=True)
    return [first, *own[1:], flat]


def twin(settings: GraphSettings) -> dict[str, Value]:
    """What makes a model of graphs Euclidean: the same layers as graph convolutions, with Euclidean distances."""
    return {"model": "GCN"}


def edges_of(task: GraphLearningTask) -> tuple[Tensor, int]:
    """The edges that a training knows, and how many nodes there are."""
    return task.known_edges, task.graph.num_nodes


def guess(task: GraphLearningTask) -> tuple[float, str]:
    """What the same answer for all reaches on the validation data: a class, or, for pairs, no order at all."""
    if task.node_split is None:
        return 0.5, "pairs in any order"
    labels, classes = task.graph.labels, task.graph.classes
    assert labels is not None
    truth = labels[task.node_split.valid]
    scores = torch.eye(len(classes))
    found = [class_measures(each.expand(len(truth), -1), truth, binary=is_binary(task.graph))["f1"] for each in scores]
    best = max(range(len(found)), key=found.__getitem__)
    return found[best], f"class {classes[best]!r} for every node"


def _columns(settings: GraphSettings, data: GraphData) -> int:
    """Columns of features that the model reads; 0 if it learns its own, or knows the degrees alone."""
    return data.num_features if settings.inputs in (None, "features") else 0


def _scaled(settings: GraphSettings, data: GraphData) -> dict[str, Value]:
    """What makes features short enough; a sparse matrix keeps its zeros."""
    if _length(settings, data) <= _TOO_LONG:
        return {}
    assert data.features is not None
    sparse = data.features.layout == torch.sparse_csr
    return {"input_radius": _LENGTH} if sparse else {"scale_columns": True, "input_radius": _LENGTH}


def _length(settings: GraphSettings, data: GraphData) -> float:
    purpose = "link_prediction" if settings.task == "lp" else "node_classification"
    return mean_length(data.inputs(purpose, edges=data.edges))  # type: ignore[arg-type]


def _links(data: GraphData, columns: int) -> list[Candidate]:
    about = _about_features(columns, wide=columns >= _WIDE)
    dropped = Candidate("dropout", _DROPPED_LINKS, about, _LINK_LEAD)
    if columns >= _WIDE:
        decayed = {**_DROPPED_LINKS, "dropout": 0.6, "weight_decay": 0.001}
        return [dropped, Candidate("dropout, decay", decayed, about, _LINK_LEAD)]
    sparse = len(data.edges) <= _SPARSE * data.num_nodes
    edges = f"{len(data.edges) / data.num_nodes:.1f} edges per node, {'few' if sparse else 'many'}"
    wide = Candidate("wide margin", _WIDE_MARGIN, f"{about}; {edges}", _MARGIN_LEAD if sparse else 0.0)
    clipped = Candidate("margin, clipped", _CLIPPED, f"{about}; {edges}")
    found = [wide, clipped] if sparse else [clipped, wide]
    return found if columns else [*found, dropped]


def _classes(data: GraphData, columns: int) -> list[Candidate]:
    learned = len(split_nodes(data).train)
    wide = columns >= _WIDE and _BY_HEART * columns >= learned
    about = (
        _about_features(columns, wide=wide) + f"; {learned:,} labelled nodes to learn from" + _about_neighbours(data)
    )
    if wide:
        return [Candidate("dropout", {**_DROPPED_CLASSES, "epochs": 300}, about, _CLASS_LEAD)]
    deep = Candidate("four layers", _DEEP, about, _DEEP_LEAD)
    by_margin = Candidate("four layers, margin", _DEEP_MARGIN, about, _DEEP_LEAD)
    dropped = Candidate("dropout", _DROPPED_CLASSES, about, _CLASS_LEAD)
    return [deep, by_margin] if columns else [deep, by_margin, dropped]


def _about_features(columns: int, *, wide: bool) -> str:
    if not columns:
        return "no features are read: nodes are told apart by their neighbours"
    if wide:
        return f"{columns:,} features per node, enough to learn nodes by heart"
    return f"{columns:,} features per node, too few to learn nodes by heart"


def _about_neighbours(data: GraphData) -> str:
    """How often neighbours are of one class, of those whose class is known."""
    assert data.labels is not None
    ends = data.labels[data.edges]
    known = (ends >= 0).all(1)
    if not bool(known.any()):
        return ""
    alike = (ends[known, 0] == ends[known, 1]).float().mean()
    shares = torch.bincount(data.labels[data.labels >= 0]).float()
    chance = float((shares / shares.sum()).square().sum())
    return f"; neighbours share a class {alike:.0%} of the time, {chance:.0%} by chance"
