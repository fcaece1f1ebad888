"""Exponential and logarithmic maps, transport, random points: oracles and laws.

Ambient coordinates of a point or tangent vector at radius r are rounded to eps·cosh(r) in geodesic length. That is the
yardstick for every bound here: no function that returns coordinates can do better.
"""

from __future__ import annotations

import math

import pytest
import torch

from hybonet import geometry as G
from hybonet.testing import assert_exp_log_inverse, assert_on_sheet

from . import exact
from .cases import KINDS, geoopt_peer, over_curvatures, over_dtypes, pairs, seeded

RADII = {torch.float32: (1e-4, 1.0, 3.0, 6.0, 8.0), torch.float64: (1e-4, 1.0, 6.0, 15.0)}
CASES = {
    dtype: [(r, s, kind) for r in radii for s in (0.001, 0.1, 1.0, 3.0) for kind in KINDS]
    for dtype, radii in RADII.items()
}


@over_dtypes
@over_curvatures
def test_expmap_against_the_oracle(dtype, K):
    for radius, separation, kind in CASES[dtype]:
        xs, _, us = pairs(dtype, K, radius, separation, kind, n=4)
        x = G.lift(xs, K=K)
        y = G.expmap(x, G.tangent_at(x, us), K=K)
        # Rounding u turns it by eps·cosh(r), and a step of length s magnifies the turn to at most e^s.
        allowed = 4 * torch.finfo(dtype).eps * math.cosh(radius) * math.exp(separation)
        for i in range(4):
            start = exact.point(xs[i], K)
            truth = exact.expmap(start, exact.tangent(start, us[i]), K)
            assert exact.dist(exact.point(y[i, 1:], K), truth, K) * math.sqrt(-K) <= allowed


@over_dtypes
@over_curvatures
def test_logmap_against_the_oracle(dtype, K):
    for radius, separation, kind in CASES[dtype]:
        xs, ys, _ = pairs(dtype, K, radius, separation, kind, n=4)
        u = G.logmap(G.lift(xs, K=K), G.lift(ys, K=K), K=K)
        for i in range(4):
            start = exact.point(xs[i], K)
            truth = exact.logmap(start, exact.point(ys[i], K), K)
            error = exact.norm(exact.tangent(start, exact.minus(exact.vector(u[i, 1:]), truth[1:])))
            assert error / exact.norm(truth) <= 4 * torch.finfo(dtype).eps * math.cosh(radius)


@over_dtypes
@over_curvatures
def test_transp_against_the_oracle(dtype, K):
    for radius, separation, kind in CASES[dtype]:
        xs, ys, _ = pairs(dtype, K, radius, separation, kind, n=4)
        x, y = G.lift(xs, K=K), G.lift(ys, K=K)
        v = G.proju(x, torch.randn(4, 5, dtype=dtype, generator=seeded(3)), K=K)
        moved = G.transp(x, y, v, K=K)
        for i in range(4):
            start, end = exact.point(xs[i], K), exact.point(ys[i], K)
            given = exact.tangent(start, v[i, 1:])
            truth = exact.transp(start, end, given, K)
            error = exact.norm(exact.tangent(end, exact.minus(exact.vector(moved[i, 1:]), truth[1:])))
            allowed = 8 * torch.finfo(dtype).eps * math.cosh(radius) * math.exp(separation)
            assert error / exact.norm(given) <= allowed


@over_dtypes
@over_curvatures
def test_maps_at_the_origin_against_the_oracle(dtype, K):
    origin = exact.point(torch.zeros(4), K)
    for radius in RADII[dtype]:
        xs, _, _ = pairs(dtype, K, radius, 1.0, "random")
        u = G.logmap0(G.lift(xs, K=K), K=K)
        assert (u[:, 0] == 0).all()
        x = G.expmap0(u, K=K)
        for i in range(6):
            allowed = 4 * torch.finfo(dtype).eps
            truth = exact.logmap(origin, exact.point(xs[i], K), K)
            assert exact.norm(exact.minus([0, *exact.vector(u[i, 1:])], truth)) <= allowed * exact.norm(truth)
            truth = exact.expmap(origin, exact.vector(u[i]), K)
            error = exact.dist(exact.point(x[i, 1:], K), truth, K) * math.sqrt(-K)
            assert error <= 2 * allowed * max(radius, 1) * math.cosh(radius)


@over_dtypes
@over_curvatures
def test_maps_agree_with_geoopt_at_moderate_radius(dtype, K):
    peer = geoopt_peer(K)
    xs, ys, us = pairs(dtype, K, 1.5, 1.0, "random", n=50)
    x, y = G.lift(xs, K=K), G.lift(ys, K=K)
    u = G.tangent_at(x, us)
    tolerance = {"rtol": 3e-4, "atol": 3e-4} if dtype == torch.float32 else {"rtol": 1e-9, "atol": 1e-9}
    torch.testing.assert_close(G.expmap(x, u, K=K), peer.expmap(x, u).to(dtype), **tolerance)
    torch.testing.assert_close(G.logmap(x, y, K=K), peer.logmap(x, y).to(dtype), **tolerance)
    torch.testing.assert_close(G.transp(x, y, u, K=K), peer.transp(x, y, u).to(dtype), **tolerance)
    torch.testing.assert_close(G.logmap0(x, K=K), peer.logmap0(x).to(dtype), **tolerance)
    at_origin = G.logmap0(x, K=K)
    torch.testing.assert_close(G.expmap0(at_origin, K=K), peer.expmap0(at_origin).to(dtype), **tolerance)
    torch.testing.assert_close(G.transp0(y, at_origin, K=K), peer.transp0(y, at_origin).to(dtype), **tolerance)


@over_dtypes
@over_curvatures
@pytest.mark.parametrize("radius", [1e-4, 1.0, 6.0])
def test_exp_and_log_are_inverse(dtype, K, radius):
    manifold = G.Lorentz(K)
    for separation in (0.001, 1.0, 3.0):
        for kind in KINDS:
            xs, ys, _ = pairs(dtype, K, radius, separation, kind)
            x, y = manifold.lift(xs), manifold.lift(ys)
            assert_exp_log_inverse(manifold, x, y)
            assert_on_sheet(manifold.expmap(x, manifold.logmap(x, y)), manifold=manifold)


@over_dtypes
@over_curvatures
def test_log_of_the_point_itself_is_zero_and_exp_of_zero_is_the_point(dtype, K):
    for radius in RADII[dtype]:
        xs, _, _ = pairs(dtype, K, radius, 1.0, "random")
        x = G.lift(xs, K=K)
        assert (G.logmap(x, x, K=K) == 0).all()
        assert torch.equal(G.expmap(x, torch.zeros_like(x), K=K), x)


@over_dtypes
@over_curvatures
def test_transport_is_an_isometry_and_can_be_undone(dtype, K):
    xs, ys, _ = pairs(dtype, K, 2.0, 1.0, "random", n=20)
    x, y = G.lift(xs, K=K), G.lift(ys, K=K)
    v, w = (G.proju(x, torch.randn(20, 5, dtype=dtype, generator=seeded(s)), K=K) for s in (1, 2))
    tolerance = 2e3 * torch.finfo(dtype).eps
    moved_v, moved_w = G.transp(x, y, v, K=K), G.transp(x, y, w, K=K)
    torch.testing.assert_close(G.inner(moved_v, moved_w), G.inner(v, w), rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(G.transp(y, x, moved_v, K=K), v, rtol=tolerance, atol=tolerance)
    # The geodesic's own direction is carried along: it points back from y as it pointed forth from x.
    there, back = G.logmap(x, y, K=K), G.logmap(y, x, K=K)
    torch.testing.assert_close(G.transp(x, y, there, K=K), -back, rtol=tolerance, atol=tolerance)


def test_shapes_broadcast():
    K = -0.3
    x, y = G.random_normal(3, 1, 5, K=K), G.random_normal(4, 5, K=K)
    u = G.logmap(x, y, K=K)
    assert u.shape == (3, 4, 5)
    assert G.expmap(x, u, K=K).shape == (3, 4, 5)
    assert G.expmap(x[0, 0], u, K=K).shape == (3, 4, 5)
    assert G.transp(x, y, u, K=K).shape == (3, 4, 5)
    assert G.transp0(y, u, K=K).shape == (3, 4, 5)
    assert G.geodesic_norm(x, u, K=K).shape == (3, 4)
    torch.testing.assert_close(u[1, 2], G.logmap(x[1, 0], y[2], K=K))
    torch.testing.assert_close(G.transp(x, y, u, K=K)[1, 2], G.transp(x[1, 0], y[2], u[1, 2], K=K))


def test_steps_past_the_largest_coordinate_are_cut():
    u = torch.tensor([0.0, 3.0, 4.0]) * 1e4
    x = G.expmap0(u, K=-1.0)
    assert x.isfinite().all()
    torch.testing.assert_close(x[2] / x[1], torch.tensor(4 / 3))
    assert x[0] > 1e11
    y = G.expmap(G.lift(torch.tensor([1.0, 0.0]), K=-1.0), u, K=-1.0)
    assert y.isfinite().all()
    assert y[0] > 1e11


@over_dtypes
@over_curvatures
@pytest.mark.parametrize("std", [0.01, 0.5])
def test_random_normal_has_the_std_it_was_asked_for(dtype, K, std):
    x = G.random_normal(4000, 5, K=K, std=std, dtype=dtype, generator=seeded())
    assert x.dtype == dtype
    assert_on_sheet(x, manifold=G.Lorentz(K))
    tangent = G.logmap0(x, K=K)[:, 1:]
    # 16,000 normal numbers: their std is known to 0.6 %, their mean to 0.8 % of it.
    assert abs(tangent.std().item() / std - 1) < 0.025
    assert abs(tangent.mean().item()) / std < 0.03
    torch.testing.assert_close(x, G.random_normal(4000, 5, K=K, std=std, dtype=dtype, generator=seeded()))
