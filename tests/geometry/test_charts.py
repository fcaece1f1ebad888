"""The Poincaré ball and the Klein model: round trips, and the distance formulas of those models as oracles."""

from __future__ import annotations

import pytest
import torch

from hybonet import geometry as G
from hybonet.testing import assert_on_sheet

from .cases import over_curvatures, over_dtypes, seeded

over_models = pytest.mark.parametrize(
    ("there", "back"), [(G.to_poincare, G.from_poincare), (G.to_klein, G.from_klein)], ids=["poincare", "klein"]
)


@over_dtypes
@over_curvatures
@over_models
def test_round_trips(dtype, K, there, back):
    x = G.random_normal(50, 4, K=K, std=0.5, dtype=dtype, generator=seeded())
    tolerance = 1e3 * torch.finfo(dtype).eps
    torch.testing.assert_close(back(there(x, K=K), K=K), x, rtol=tolerance, atol=tolerance)
    radius = (-1 / K) ** 0.5
    p = there(x, K=K)
    assert p.shape == (50, 3)
    assert (p.norm(dim=-1) < radius).all()
    torch.testing.assert_close(there(back(p, K=K), K=K), p, rtol=tolerance, atol=tolerance)


@over_dtypes
@over_curvatures
@over_models
def test_the_origin_is_the_centre(dtype, K, there, back):
    origin = G.origin(2, 4, K=K, dtype=dtype)
    assert (there(origin, K=K) == 0).all()
    torch.testing.assert_close(back(torch.zeros(2, 3, dtype=dtype), K=K), origin)


@over_curvatures
def test_poincare_distance(K):
    """d = √k acosh(1 + 2 k|p-q|² / ((k-|p|²)(k-|q|²))), the ball's own formula."""
    x, y = G.random_normal(2, 50, 4, K=K, dtype=torch.float64, generator=seeded())
    p, q = G.to_poincare(x, K=K), G.to_poincare(y, K=K)
    k = -1 / K
    gap = 2 * k * (p - q).square().sum(-1)
    ratio = gap / ((k - p.square().sum(-1)) * (k - q.square().sum(-1)))
    torch.testing.assert_close(G.dist(x, y, K=K), k**0.5 * torch.acosh(1 + ratio), rtol=1e-9, atol=1e-9)


@over_curvatures
def test_klein_geodesics_are_straight(K):
    """The Klein image of a geodesic's midpoint lies on the chord between the images of its ends."""
    x, y = G.random_normal(2, 50, 4, K=K, dtype=torch.float64, generator=seeded())
    middle = G.expmap(x, 0.5 * G.logmap(x, y, K=K), K=K)
    a, b, m = (G.to_klein(point, K=K) for point in (x, y, middle))
    share = (m - a).norm(dim=-1, keepdim=True) / (b - a).norm(dim=-1, keepdim=True)
    torch.testing.assert_close(m, a + share * (b - a), rtol=1e-9, atol=1e-9)


def test_klein_and_poincare_are_related_by_the_known_formula():
    x = G.random_normal(50, 4, K=-1.0, dtype=torch.float64, generator=seeded())
    p = G.to_poincare(x, K=-1.0)
    torch.testing.assert_close(G.to_klein(x, K=-1.0), 2 * p / (1 + p.square().sum(-1, keepdim=True)))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@over_curvatures
@pytest.mark.parametrize("back", [G.from_poincare, G.from_klein])
def test_vectors_outside_the_ball_are_drawn_inside(dtype, K, back):
    radius = (-1 / K) ** 0.5
    p = torch.tensor([[1.0, 0.0], [0.6, 0.8], [30.0, 40.0], [1e4, 0.0]], dtype=dtype) * radius
    x = back(p, K=K)
    assert x.isfinite().all()
    assert_on_sheet(x, manifold=G.Lorentz(K))
    assert (x[:, 1:].norm(dim=-1) > 3 * radius).all()
    torch.testing.assert_close(x[2, 2] / x[2, 1], torch.tensor(4 / 3, dtype=dtype), rtol=0.05, atol=0)
