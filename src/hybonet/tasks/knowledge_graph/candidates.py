"""Settings that may suit a knowledge graph: what its size and relations say, and what a race is to decide."""

from __future__ import annotations

import torch
from torch import Tensor

from hybonet.metrics.relations import relation_categories, symmetric_share
from hybonet.tasks.auto import PLAIN, Candidate
from hybonet.tasks.knowledge_graph.data import TrainingGraph
from hybonet.tasks.knowledge_graph.settings import KnowledgeGraphSettings
from hybonet.tasks.knowledge_graph.task import KnowledgeGraphTask
from hybonet.training.ranges import Value

#: Scores of an epoch against all entities, above which shared negatives must do.
_MANY_SCORES = 2_000_000_000
#: So few triples per entity, and what is learned of one must reach others; so few triples in all, and steps are few.
_SPARSE, _FEW = 5.0, 4000
#: So large a share of the triples has symmetric relations that one map for both directions pays in a dense graph, too.
_OFTEN = 0.3

#: Half of the plain batch, which is twice the steps.
_SMALL: dict[str, Value] = {"batch_size": 128}
_SHARED: dict[str, Value] = {
    "negative_sampling": "shared", "negatives": 2000, "batch_size": 500, "schedule.kind": "linear", "patience": None,
}  # fmt: skip
_DENSE_SHARED: dict[str, Value] = {**_SHARED, "lr": 0.01, "label_smoothing": 0.0, "filter_negatives": True}
_SPARSE_SHARED: dict[str, Value] = {
    **_SHARED, "lr": 0.03, "scale": 3.5, "logit_scale": 0.7, "symmetric_logit_scale": 1.5, "init_std": 0.004,
    "epochs": 100, "validate_every": 10,
}  # fmt: skip
#: What is fitted to the validation triples when training is done.
AFTERWARDS: dict[str, Value] = {"fit_inverse": True}


def candidates(settings: KnowledgeGraphSettings, data: TrainingGraph) -> list[Candidate]:
    """What may suit a graph, the likeliest first, with the Euclidean twin of that one."""
    graph = data.graph
    share = symmetric_share(graph.train, graph.num_entities, graph.num_relations)
    alike = share > 0.5
    density = len(graph.train) / max(1, graph.num_entities)
    # A dense graph tells both directions of a few symmetric relations by itself.
    often = float(alike[graph.train[:, 1]].float().mean())
    tied: dict[str, Value] = (
        {"tie_symmetric": True} if bool(alike.any()) and (density <= _SPARSE or often > _OFTEN) else {}
    )
    about = [
        f"{graph.num_entities:,} entities, {density:.1f} triples each",
        _about_relations(graph.train, alike, often),
    ]
    if 2 * len(graph.train) * graph.num_entities > _MANY_SCORES:
        about.append("too many to score all of them")
        dense, sparse = (
            Candidate(name, {**changes, **tied})
            for name, changes in (("shared negatives, dense", _DENSE_SHARED), ("shared negatives", _SPARSE_SHARED))
        )
        found = [dense, sparse] if density > _SPARSE else [sparse, dense]
    else:
        found = [Candidate("symmetric relations tied", tied) if tied else Candidate(PLAIN)]
        if len(graph.train) < _FEW:
            about.append("few triples: small batches")
            found.insert(0, Candidate("small batches", {**_SMALL, **tied}))
    why = "; ".join(about)
    found = [Candidate(each.name, each.changes, why) for each in found]
    flat = {**found[0].changes, **twin(settings)}
    return [*found, Candidate("Euclidean twin", flat, "the same in flat space", twin=True)]


def twin(settings: KnowledgeGraphSettings) -> dict[str, Value]:
    """What makes a model of triples Euclidean: MuRE's distances after a map and a translation for each relation.

    It is the flat model that hyperbolic ones are measured against in the field; it has as many numbers per entity, and
    fewer per relation.
    """
    return {"model": "MuRE"}


def edges_of(task: KnowledgeGraphTask) -> tuple[Tensor, int]:
    """The training triples without their relations, and how many entities there are."""
    edges = task.data.train[:, [0, 2]]
    return edges[edges[:, 0] != edges[:, 1]], task.data.num_entities


def guess(task: KnowledgeGraphTask) -> tuple[float, str]:
    """The MRR of candidates in any order."""
    count = task.data.num_entities
    return float(torch.arange(1, count + 1).double().reciprocal().mean()), "entities in any order"


def _about_relations(triples: Tensor, alike: Tensor, often: float) -> str:
    kinds = relation_categories(triples, len(alike))
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds)))
    return f"of {len(alike)} relations {int(alike.sum())} are symmetric, with {often:.0%} of the triples; {counts}"
