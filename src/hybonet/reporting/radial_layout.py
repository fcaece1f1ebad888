"""A plain drawing of a tree on the hyperbolic plane, used as the starting point of an embedding."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from hybonet.data import Hierarchy
from hybonet.geometry import Lorentz

#: By how much a node weighs more than each of its children: an only child would otherwise lie on its parent.
_LEAST_GROWTH = 1.25


def radial_layout(hierarchy: Hierarchy, dim: int, manifold: Lorentz, *, radius: float) -> Tensor:
    r"""Points of a radial tree drawing in the plane of the first two space coordinates, in float64.

    Every subtree gets a sector whose angle is proportional to its number of leaves. A node stands in the middle of its
    sector at the radius :math:`R\,(1 - \ln w / \ln W)`: a lone root at the centre, the leaves on the circle of radius R
    (measured in units of :math:`1/\sqrt{-K}`). Its weight w is the sum of its children's, 1 for a leaf, but at least a
    quarter more than any child's, so that parent and only child do not coincide; W is the sum of the roots' weights. A
    node with several parents is drawn under the first. Shape: ``-> (nodes, dim)``.
    """
    children: list[list[int]] = [[] for _ in hierarchy.names]
    for node, parents in enumerate(hierarchy.parents):
        if parents:
            children[parents[0]].append(node)
    leaves, weight = [1] * len(hierarchy), [1.0] * len(hierarchy)
    for node in reversed(hierarchy.topological_order):
        if below := children[node]:
            leaves[node] = sum(leaves[child] for child in below)
            weights = [weight[child] for child in below]
            weight[node] = max(sum(weights), _LEAST_GROWTH * max(weights))
    roots = hierarchy.roots.tolist()
    all_leaves, all_weight = sum(leaves[root] for root in roots), sum(weight[root] for root in roots)

    middle, distance = [0.0] * len(hierarchy), [0.0] * len(hierarchy)
    sectors = [(roots, 0.0)]
    while sectors:
        siblings, begin = sectors.pop()
        for node in siblings:
            width = 2 * math.pi * leaves[node] / all_leaves
            middle[node] = begin + width / 2
            distance[node] = radius * (1 - math.log(weight[node]) / math.log(all_weight))
            sectors.append((children[node], begin))
            begin += width

    angle = torch.tensor(middle, dtype=torch.float64)
    length = torch.tensor(distance, dtype=torch.float64) * float(manifold.k) ** 0.5
    tangent = torch.zeros(len(hierarchy), dim, dtype=torch.float64)
    tangent[:, 1], tangent[:, 2] = length * angle.cos(), length * angle.sin()
    return manifold.expmap0(tangent).detach()
