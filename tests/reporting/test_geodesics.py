"""Views are isometries, arcs are geodesics."""

import pytest
import torch

from hybonet import Lorentz
from hybonet.reporting.geodesics import disk_view, geodesic_arcs, midpoint


def distances(flat: torch.Tensor) -> torch.Tensor:
    points = Lorentz().from_poincare(flat)
    return Lorentz().dist(points[:, None], points)


@pytest.mark.parametrize("K", [-1.0, -0.3])
def test_a_view_of_the_plane_keeps_all_distances(K: float) -> None:
    torch.manual_seed(0)
    manifold = Lorentz(K)
    points = manifold.random_normal(20, 3, std=2.0, dtype=torch.float64)
    flat = disk_view(points, points[3], manifold)
    assert flat[3].norm() < 1e-9
    expected = manifold.dist(points[:, None], points) * (-K) ** 0.5
    assert torch.allclose(distances(flat), expected, atol=1e-5)


def test_a_projection_keeps_the_distance_of_points_in_a_plane_through_the_centre() -> None:
    torch.manual_seed(0)
    manifold = Lorentz()
    points = manifold.random_normal(20, 3, dtype=torch.float64)
    points[0] = manifold.origin(3, dtype=torch.float64)
    inside = torch.nn.functional.pad(points, (0, 2))
    assert torch.allclose(
        distances(disk_view(inside, inside[0], manifold)), manifold.dist(points[:, None], points), atol=1e-6
    )


def test_arcs_are_shortest_ways() -> None:
    torch.manual_seed(1)
    ends = torch.rand(2, 200, 2, dtype=torch.float64) * 1.3 - 0.65
    ends[1, :20] = -0.5 * ends[0, :20]  # through the centre
    ends[1, 20:40] = 1.2 * ends[0, 20:40]  # along a radius
    arcs = geodesic_arcs(*ends, steps=9)
    manifold = Lorentz()
    points = manifold.from_poincare(arcs)
    assert torch.allclose(arcs[:, 0], ends[0], atol=1e-6)
    assert torch.allclose(arcs[:, -1], ends[1], atol=1e-6)
    pieces = manifold.dist(points[:, 1:], points[:, :-1]).sum(-1)
    assert torch.allclose(pieces, manifold.dist(points[:, 0], points[:, -1]), atol=1e-5)


def test_arcs_near_the_rim_stay_in_the_disk() -> None:
    angle = torch.tensor([0.1, 0.1001], dtype=torch.float64)
    rim = torch.stack((angle.cos(), angle.sin()), dim=-1) * (1 - 1e-8)
    arc = geodesic_arcs(rim[:1], rim[1:])
    assert arc.isfinite().all()
    assert (arc.norm(dim=-1) <= 1).all()


def test_midpoint_halves_the_distance() -> None:
    torch.manual_seed(2)
    manifold = Lorentz(-0.5)
    x, y = manifold.random_normal(2, 4, std=2.0, dtype=torch.float64)
    half = midpoint(x, y, manifold)
    assert torch.allclose(manifold.dist(x, half), manifold.dist(x, y) / 2)
    assert torch.allclose(manifold.dist(half, y), manifold.dist(x, y) / 2)


def test_points_of_a_line_are_drawn_on_a_line() -> None:
    manifold = Lorentz()
    points = manifold.lift(torch.tensor([[0.75], [0.0]]))
    expected = torch.tensor([[1 / 3, 0.0], [0.0, 0.0]], dtype=torch.float64)
    torch.testing.assert_close(disk_view(points, points[1], manifold), expected)
