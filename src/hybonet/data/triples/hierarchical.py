"""Which relation of a graph makes a hierarchy."""

from __future__ import annotations

from torch import Tensor

from hybonet.data.hierarchies.hierarchy import Hierarchy
from hybonet.data.triples.triple_data import TripleData

#: A relation makes a hierarchy if its parents have so many times more children than its children have parents.
_CHILDREN = 1.5


def hierarchical_relations(graph: TripleData) -> list[str]:
    """The relation that makes the largest hierarchy from child to parent, or none.

    It must have no circles, levels enough for a grandparent, and clearly more children to a parent than parents to a
    child. Of several, the one that joins most children wins, each counted by how few parents it has.

    Example:
        >>> family = [("dog", "is a", "canine"), ("wolf", "is a", "canine"), ("canine", "is a", "beast")]
        >>> hierarchical_relations(TripleData.from_labels([*family, ("dog", "fears", "wolf")]))
        ['is a']
    """
    best: tuple[float, list[str]] = (0.0, [])
    for relation, label in enumerate(graph.relations):
        edges = graph.train[graph.train[:, 1] == relation][:, [0, 2]].unique(dim=0)
        if not len(edges):
            continue
        children, parents = (len(edges[:, side].unique()) for side in (0, 1))
        parents_of_a_child, children_of_a_parent = len(edges) / children, len(edges) / parents
        value = children / parents_of_a_child
        if value > best[0] and children_of_a_parent >= _CHILDREN * parents_of_a_child and _has_levels(edges):
            best = (value, [label])
    return best[1]


def _has_levels(edges: Tensor) -> bool:
    try:
        hierarchy = Hierarchy.from_edges((str(child), str(parent)) for child, parent in edges.tolist())
    except ValueError:  # a circle
        return False
    return int(hierarchy.depths.max()) >= 2
