"""The Poincaré disk: which point stands in the middle, arcs that join points, and a plain drawing of a tree."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from hybonet.data import Hierarchy
from hybonet.geometry import Lorentz, boost, transform

#: Below this, p and q are on one line with the centre as far as a drawing can tell, and the arc is that line.
_STRAIGHT = 1e-9


def disk_view(points: Tensor, centre: Tensor, manifold: Lorentz) -> Tensor:
    """Coordinates in the unit disk with the point ``centre`` in the middle; ``(n, d), (d,) -> (n, 2)`` in float64.

    The whole space is moved by an isometry (a boost), so no distance changes. Three ambient coordinates are the
    hyperbolic plane and are drawn as they are; two are a line, whose second coordinate is 0. More are projected: the
    tangent vectors at the centre are replaced by their two principal components, which keeps neither distances nor
    angles.
    """
    points, centre = points.double(), centre.double()
    moved = manifold.projx(transform(boost(centre[1:] / centre[0]), points))
    if moved.shape[-1] > 3:
        tangent = manifold.logmap0(moved)[:, 1:]
        _, _, axes = torch.linalg.svd(tangent, full_matrices=False)
        flat = tangent @ axes[:2].T
        moved = manifold.expmap0(torch.cat((torch.zeros_like(flat[:, :1]), flat), dim=-1))
    return two_columns(manifold.to_poincare(moved) / float(manifold.k) ** 0.5)


def two_columns(flat: Tensor) -> Tensor:
    """Principal components with zeros for those that one point alone does not have; ``(n, 1 or 2) -> (n, 2)``."""
    return torch.nn.functional.pad(flat, (0, 2 - flat.shape[-1]))


def view_note(coordinates: int) -> str:
    """What a picture made by :func:`disk_view` of points with so many ambient coordinates should say of itself.

    Example:
        >>> view_note(3)
        'The hyperbolic plane, nothing projected; the centroid is in the middle.'
    """
    if coordinates <= 3:
        space = "plane" if coordinates == 3 else "line"
        return f"The hyperbolic {space}, nothing projected; the centroid is in the middle."
    return "Projected to two: principal components of the tangent vectors at the centroid. Distances are not kept."


def geodesic_arcs(p: Tensor, q: Tensor, steps: int = 32) -> Tensor:
    r"""Points along the geodesics from p to q in the unit disk: ``(n, 2), (n, 2) -> (n, steps, 2)``.

    A geodesic is the arc of the circle through p and q that meets the unit circle at right angles; its middle c solves
    :math:`c \cdot p = (1 + |p|^2)/2` and :math:`c \cdot q = (1 + |q|^2)/2`. Points on one line with the centre are
    joined by that line.
    """
    t = torch.linspace(0.0, 1.0, steps, dtype=p.dtype)[:, None]
    cross = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
    straight = cross.abs() < _STRAIGHT
    divisor = torch.where(straight, 1.0, cross)
    a, b = (1 + p.square().sum(-1)) / 2, (1 + q.square().sum(-1)) / 2
    middle = torch.stack((a * q[:, 1] - b * p[:, 1], b * p[:, 0] - a * q[:, 0]), dim=-1) / divisor[:, None]
    from_p, from_q = p - middle, q - middle
    begin = torch.atan2(from_p[:, 1], from_p[:, 0])
    turn = torch.atan2(from_q[:, 1], from_q[:, 0]) - begin
    turn = torch.remainder(turn + torch.pi, 2 * torch.pi) - torch.pi  # the part inside the disk is the shorter one
    angle = begin[:, None] + turn[:, None] * t.T
    arc = middle[:, None] + from_p.norm(dim=-1)[:, None, None] * torch.stack((angle.cos(), angle.sin()), dim=-1)
    line = p[:, None] + (q - p)[:, None] * t
    return torch.where(straight[:, None, None], line, arc)


def midpoint(x: Tensor, y: Tensor, manifold: Lorentz) -> Tensor:
    """The point halfway along the geodesic from x to y, which is their centroid; ``(d,), (d,) -> (d,)``."""
    return manifold.centroid(torch.stack((x, y)))


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
