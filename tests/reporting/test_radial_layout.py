"""The starting drawing: sectors do not overlap, radii grow from the root outward."""

import math

import pytest
import torch

from hybonet import Lorentz
from hybonet.data import Hierarchy, load_hierarchy
from hybonet.reporting.geodesics import radial_layout


@pytest.mark.parametrize("K", [-1.0, -0.25])
def test_leaves_share_the_circle_evenly(K: float) -> None:
    hierarchy = Hierarchy.from_edges([("a", "r"), ("b", "r"), ("c", "a"), ("d", "a"), ("e", "a")])
    manifold = Lorentz(K)
    points = radial_layout(hierarchy, 4, manifold, radius=3.0)
    assert manifold.check_point(points)
    leaves = [hierarchy.names.index(name) for name in "bcde"]
    radii = manifold.dist0(points) * math.sqrt(-K)
    assert torch.allclose(radii[leaves], torch.tensor(3.0, dtype=torch.float64))
    assert radii[hierarchy.names.index("r")] == 0
    assert 0 < radii[hierarchy.names.index("a")] < 3
    angles = torch.atan2(points[leaves, 2], points[leaves, 1]).sort().values
    assert torch.allclose(angles.diff(), torch.tensor(math.pi / 2, dtype=torch.float64))


def test_children_are_farther_out_than_their_parents() -> None:
    mammals = load_hierarchy("wordnet_mammals")
    radii = Lorentz().dist0(radial_layout(mammals, 3, Lorentz(), radius=8.0))
    child, parent = mammals.edges.unbind(-1)
    # One mammal has two parents and is drawn under the first of them only.
    assert int((radii[child] < radii[parent] + 0.1).sum()) <= 1


def test_only_children_do_not_lie_on_their_parents() -> None:
    forest = Hierarchy.from_edges([("a", "r"), ("b", "s")])
    root = 2 - 2 * math.log(1.25) / math.log(2.5)
    radii = Lorentz().dist0(radial_layout(forest, 3, Lorentz(), radius=2.0))
    assert radii.tolist() == pytest.approx([2.0, 2.0, root, root])
    chain = Hierarchy.from_edges([("a", "b"), ("b", "c")])
    points = radial_layout(chain, 3, Lorentz(), radius=2.0)
    assert Lorentz().dist0(points).tolist() == pytest.approx([2.0, 1.0, 0.0])  # evenly from the root
