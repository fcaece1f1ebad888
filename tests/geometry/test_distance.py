"""Distances against 50-digit arithmetic and geoopt, and the error bounds the library publishes."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from hybonet import geometry as G

from . import exact
from .cases import KINDS, geoopt_peer, over_curvatures, over_dtypes, pairs

# 1e-4 is near zero, 8 and 15 are far: cosh² of them is 2e6 and 3e12, which acosh of the inner product cannot resolve.
RADII = {torch.float32: (1e-4, 1.0, 3.0, 6.0, 8.0), torch.float64: (1e-4, 1.0, 6.0, 15.0)}
SEPARATIONS = (0.001, 0.01, 0.1, 1.0, 4.0)


def worst_error(distance, truth, dtype: torch.dtype, K: float, *, radii, separations) -> float:
    """Largest relative error of a distance over radii, separations and kinds of pairs."""
    errors = []
    for radius in radii:
        for separation in separations:
            for kind in KINDS:
                xs, ys, _ = pairs(dtype, K, radius, separation, kind)
                values = distance(G.lift(xs, K=K), G.lift(ys, K=K), K=K)
                for value, x, y in zip(values, xs, ys, strict=True):
                    errors.append(exact.relative_error(value, truth(exact.point(x, K), exact.point(y, K), K)))
    return max(errors)


def acosh_form(x: Tensor, y: Tensor, *, K: float) -> Tensor:
    return torch.acosh((K * G.inner(x, y)).clamp_min(1.0)) / (-K) ** 0.5


@over_dtypes
@over_curvatures
def test_sqdist_and_dist_are_exact_to_a_few_roundings(dtype, K):
    eps = torch.finfo(dtype).eps
    assert worst_error(G.sqdist, exact.sqdist, dtype, K, radii=RADII[dtype], separations=SEPARATIONS) <= 6 * eps
    assert worst_error(G.dist, exact.dist, dtype, K, radii=RADII[dtype], separations=SEPARATIONS) <= 6 * eps


@over_curvatures
def test_published_float32_bound(K):
    grid = {"radii": (1.0, 3.0, 6.0, 8.0), "separations": (0.001, 0.01, 0.1, 1.0)}
    assert worst_error(G.dist, exact.dist, torch.float32, K, **grid) <= 1e-5
    # The bound means something: the usual form misses it by far.
    assert worst_error(acosh_form, exact.dist, torch.float32, K, **grid) > 0.5


@over_curvatures
def test_bound_holds_in_high_dimension_and_at_unequal_radii(K):
    for radius, separation in ((3.0, 9.0), (8.0, 3.0), (0.01, 8.0)):
        xs, ys, _ = pairs(torch.float32, K, radius, separation, "random", n=4, dims=300)
        values = G.dist(G.lift(xs, K=K), G.lift(ys, K=K), K=K)
        for value, x, y in zip(values, xs, ys, strict=True):
            assert exact.relative_error(value, exact.dist(exact.point(x, K), exact.point(y, K), K)) <= 1e-6


@over_dtypes
@over_curvatures
def test_dist0(dtype, K):
    for radius in RADII[dtype]:
        xs, _, _ = pairs(dtype, K, radius, 1.0, "random")
        x, origin = G.lift(xs, K=K), exact.point(torch.zeros(4), K)
        for value, again, s in zip(G.dist0(x, K=K), G.dist(x, G.origin(5, K=K, dtype=dtype), K=K), xs, strict=True):
            truth = exact.dist(exact.point(s, K), origin, K)
            assert exact.relative_error(value, truth) <= 6 * torch.finfo(dtype).eps
            assert exact.relative_error(again, truth) <= 6 * torch.finfo(dtype).eps


@over_dtypes
@over_curvatures
def test_gemm_forms_keep_their_stated_error(dtype, K):
    for radius in (0.5, 3.0, 6.0):
        xs, ys, _ = pairs(dtype, K, radius, 1.0, "random")
        x, y = G.lift(xs, K=K), G.lift(ys, K=K)
        precise = G.sqdist(x.unsqueeze(-2), y, K=K)
        allowed = 8 * torch.finfo(dtype).eps * (x[:, :1] * y[:, 0])
        assert ((G.csqdist(x, y, K=K) - precise).abs() <= allowed).all()
        assert torch.equal(G.cdist(x, y, K=K), G.geodesic_of(G.csqdist(x, y, K=K), K=K))
        assert ((G.cinner(x, y) - G.inner(x.unsqueeze(-2), y)).abs() <= allowed).all()


@over_dtypes
@over_curvatures
@pytest.mark.parametrize("scale", [0.0, 1e-30, 1e-4, 1.0, 1e3, 1e9])
def test_coincident_points_are_at_distance_exactly_zero(dtype, K, scale):
    x = G.lift(scale * torch.randn(20, 7, dtype=dtype), K=K)
    assert (G.sqdist(x, x, K=K) == 0).all()
    assert (G.dist(x, x.clone(), K=K) == 0).all()


@over_dtypes
@over_curvatures
def test_agrees_with_geoopt_at_moderate_radius(dtype, K):
    peer = geoopt_peer(K)
    xs, ys, _ = pairs(dtype, K, 1.5, 1.0, "random", n=50)
    x, y = G.lift(xs, K=K), G.lift(ys, K=K)
    rtol = 1e-4 if dtype == torch.float32 else 1e-11
    torch.testing.assert_close(G.dist(x, y, K=K), peer.dist(x, y).to(dtype), rtol=rtol, atol=0)
    torch.testing.assert_close(G.dist0(x, K=K), peer.dist0(x).to(dtype), rtol=rtol, atol=0)
    torch.testing.assert_close(G.inner(x, y), peer.inner(None, x, y), rtol=rtol, atol=0)


def test_geodesic_of_is_the_distance_of_a_squared_distance():
    xs, ys, _ = pairs(torch.float64, -2.5, 2.0, 1.0, "random")
    x, y = G.lift(xs, K=-2.5), G.lift(ys, K=-2.5)
    torch.testing.assert_close(G.geodesic_of(G.sqdist(x, y, K=-2.5), K=-2.5), G.dist(x, y, K=-2.5))
    assert (G.geodesic_of(torch.tensor([0.0, -1.0, -1e30]), K=-1.0) == 0).all()


def test_shapes_broadcast():
    K = -0.3
    x, y = G.random_normal(3, 1, 5, K=K), G.random_normal(4, 5, K=K)
    assert G.sqdist(x, y, K=K).shape == (3, 4)
    assert G.dist(x, y, K=K, keepdim=True).shape == (3, 4, 1)
    assert G.inner(x, y).shape == (3, 4)
    assert G.inner(x, y, keepdim=True).shape == (3, 4, 1)
    assert G.dist0(x, K=K).shape == (3, 1)
    assert G.dist0(x, K=K, keepdim=True).shape == (3, 1, 1)
    assert G.cdist(x.expand(3, 2, 5), y, K=K).shape == (3, 2, 4)
    assert G.dist(y, y[0], K=K).shape == (4,)
    assert G.dist(y[:0], y[0], K=K).shape == (0,)
    torch.testing.assert_close(G.sqdist(x, y, K=K)[1, 2], G.sqdist(x[1, 0], y[2], K=K))
