"""A plain drawing of a tree on the hyperbolic plane, used as the starting point of an embedding."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from hybonet.data import Hierarchy
from hybonet.geometry import Lorentz


def radial_layout(hierarchy: Hierarchy, dim: int, manifold: Lorentz, *, radius: float) -> Tensor:
    r"""Points of a radial tree drawing in the plane of the first two space coordinates, in float64.

    Every subtree gets a sector whose angle is proportional to its number of leaves. A node stands in the middle of its
    sector at the radius :math:`R\,(1 - \ln \ell / \ln L)` for :math:`\ell` of all :math:`L` leaves below it: a lone
    root at the centre, the leaves on the circle of radius R (measured in units of :math:`1/\sqrt{-K}`). A node with
    several parents is drawn under the first. Shape: ``-> (nodes, dim)``.

    Example:
        >>> family = Hierarchy.from_edges([("dog", "canine"), ("wolf", "canine")])
        >>> points = radial_layout(family, 3, Lorentz(), radius=2.0)
        >>> Lorentz().dist0(points)
        tensor([0., 2., 2.], dtype=torch.float64)
    """
    children: list[list[int]] = [[] for _ in hierarchy.names]
    for node, parents in enumerate(hierarchy.parents):
        if parents:
            children[parents[0]].append(node)
    leaves = [0] * len(hierarchy)
    for node in reversed(hierarchy.topological_order):
        leaves[node] = sum(leaves[child] for child in children[node]) or 1
    all_leaves = sum(leaves[root] for root in hierarchy.roots.tolist())

    middle, distance = [0.0] * len(hierarchy), [0.0] * len(hierarchy)
    sectors = [(hierarchy.roots.tolist(), 0.0)]
    while sectors:
        siblings, begin = sectors.pop()
        for node in siblings:
            width = 2 * math.pi * leaves[node] / all_leaves
            middle[node] = begin + width / 2
            # A single leaf makes the whole hierarchy a chain, which has no radii to tell apart.
            distance[node] = radius * (1 - math.log(leaves[node]) / math.log(all_leaves)) if all_leaves > 1 else 0.0
            sectors.append((children[node], begin))
            begin += width

    angle = torch.tensor(middle, dtype=torch.float64)
    length = torch.tensor(distance, dtype=torch.float64) * float(manifold.k) ** 0.5
    tangent = torch.zeros(len(hierarchy), dim, dtype=torch.float64)
    tangent[:, 1], tangent[:, 2] = length * angle.cos(), length * angle.sin()
    return manifold.expmap0(tangent).detach()
