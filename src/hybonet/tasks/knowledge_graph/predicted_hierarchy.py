"""The hierarchy that a knowledge-graph model sees: every entity under its most probable parent.

The points of a triple scorer do not show a hierarchy by themselves: it lies in the relations' maps, which carry a child
to where its parent is expected. Asking the model for every entity's parent brings it to light.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import torch
from torch import Tensor

from hybonet.data import Hierarchy
from hybonet.tasks.knowledge_graph.predictor import KnowledgeGraphModel

#: Parents tried in turn for an entity whose better ones would close a circle.
_CANDIDATES = 10
#: A parent that is not in the training data needs this probability, and this share of the scores of all parents.
_LIKELY, _SURE = 0.5, 0.1
#: Trees with a smaller share of all nodes are left out: a picture of hundreds of stumps shows nothing.
_SMALLEST_TREE = 0.05


@dataclass(frozen=True)
class PredictedHierarchy:
    """A forest over some of a graph's entities; its trees of a few entities are left out."""

    #: With the entities' labels as names.
    hierarchy: Hierarchy
    #: The graph's number of every node of the hierarchy; shape (nodes,).
    entities: Tensor
    #: Whether an edge of the hierarchy is the model's own: not in the training triples; shape (edges,).
    new: Tensor
    #: How many of the new edges are among the held-out triples.
    new_and_true: int
    #: How many entities the model would have put under a new parent that it is not sure enough of.
    unsure: int = 0


@torch.no_grad()
def predicted_hierarchy(model: KnowledgeGraphModel, relations: list[str]) -> PredictedHierarchy:
    """Join every entity that takes part in the relations with the parent that the model finds most probable.

    A parent that the training data does not have must be likelier than not; without a sure one, an entity stays under
    its known parent, or has none. The most certain edges come first, and an edge that would close a circle gives way to
    the entity's next best parent.

    Raises:
        ValueError: if the relations join no entities.
    """
    graph = model.graph
    numbers = [graph.relations.find(name) for name in relations]
    links = graph.train[torch.isin(graph.train[:, 1], torch.tensor(numbers))]
    if not len(links):
        raise ValueError(f"expected relations with training triples to draw a hierarchy by, got {', '.join(relations)}")
    members = torch.cat((links[:, 0], links[:, 2])).unique()
    share, parent = _best_parents(model, members, numbers)
    supported = _supported(model, members, share, parent, numbers)
    share, parent, supported = _with_known(members, links, share, parent, supported)
    chosen = _without_circles(members, share, parent, supported)
    known, true = (
        {(head, tail) for head, relation, tail in graph.triples(split).tolist() if relation in numbers}
        for split in ("train", "all")
    )
    labels = graph.entities
    edges = [(labels[child], labels[above]) for child, above in _large_trees(chosen).items()]
    hierarchy = Hierarchy.from_edges(edges, source=graph.source)
    entities = torch.tensor([labels.find(name) for name in hierarchy.names])
    joined = list(map(tuple, entities[hierarchy.edges].tolist()))
    new = torch.tensor([edge not in known for edge in joined])
    unsure = int((~supported[:, 0]).sum())
    return PredictedHierarchy(
        hierarchy, entities, new, sum(edge in true and edge not in known for edge in joined), unsure
    )


def _best_parents(model: KnowledgeGraphModel, members: Tensor, relations: list[int]) -> tuple[Tensor, Tensor]:
    """Probabilities and numbers of the most probable parents among the members, ``(n, candidates)`` each."""
    count = len(members)
    wanted = min(_CANDIDATES, count - 1)
    values, indices = [], []
    for rows in torch.arange(count).split(1024):
        best = torch.full((len(rows), count), -torch.inf)
        for relation in relations:
            scores = model.scorer(members[rows], torch.full((len(rows),), relation), pool=members)
            scores[torch.arange(len(rows)), rows] = -torch.inf  # nobody is its own parent
            best = torch.maximum(best, torch.softmax(scores, dim=1))
        top = best.topk(wanted)
        values.append(top.values)
        indices.append(members[top.indices])
    return torch.cat(values), torch.cat(indices)


def _supported(
    model: KnowledgeGraphModel, members: Tensor, share: Tensor, parent: Tensor, relations: list[int]
) -> Tensor:
    """Which of the parents are known, or likely by the model; ``(n, candidates)``."""
    child, above = members[:, None].expand_as(parent).flatten(), parent.flatten()
    found = torch.zeros(len(child), dtype=torch.bool)
    likely = None
    for relation in relations:
        triples = torch.stack((child, torch.full_like(child, relation), above), dim=1)
        found |= model.knows(triples)
        if (probability := model.plausible(triples)) is not None:
            likely = probability if likely is None else torch.maximum(likely, probability)
    sure = share >= _SURE
    if likely is not None:
        sure &= (likely >= _LIKELY).view_as(share)
    return found.view_as(share) | sure


def _with_known(
    members: Tensor, links: Tensor, share: Tensor, parent: Tensor, supported: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """A column more: a parent that the training data has, as the last resort of the entities that have one."""
    known = torch.full((int(members.max()) + 1,), -1)
    known[links[:, 0]] = links[:, 2]
    last = known[members][:, None]
    columns = ((share, torch.zeros_like(share[:, :1])), (parent, last.clamp_min(0)), (supported, last >= 0))
    return tuple(torch.cat(pair, dim=1) for pair in columns)  # type: ignore[return-value]


def _without_circles(members: Tensor, share: Tensor, parent: Tensor, supported: Tensor) -> dict[int, int]:
    chosen: dict[int, int] = {}

    def is_below(node: int, above: int) -> bool:
        while node != above and node in chosen:
            node = chosen[node]
        return node == above

    for row in share[:, 0].argsort(descending=True, stable=True).tolist():
        child = int(members[row])
        for above, holds in zip(parent[row].tolist(), supported[row].tolist(), strict=True):
            if holds and not is_below(above, child):
                chosen[child] = above
                break
    return chosen


def _large_trees(parents: dict[int, int]) -> dict[int, int]:
    """The edges of trees with a fair share of all nodes, or of the largest tree if there are none."""
    roots = {}
    for node in {*parents, *parents.values()}:
        root = node
        while root in parents:
            root = parents[root]
        roots[node] = root
    sizes = Counter(roots.values())
    least = min(_SMALLEST_TREE * len(roots), max(sizes.values()))
    return {child: above for child, above in parents.items() if sizes[roots[child]] >= least}
