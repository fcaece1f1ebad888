"""The centroid: oracle, laws, and the fast form by way of `to_sheet`."""

from __future__ import annotations

import math

import pytest
import torch

from hybonet import geometry as G
from hybonet.testing import assert_centroid_equivariant, assert_on_sheet

from . import exact
from .cases import KINDS, over_curvatures, over_dtypes, pairs, seeded

RADII = {torch.float32: (1e-4, 1.0, 3.0, 6.0, 8.0), torch.float64: (1e-4, 1.0, 6.0, 15.0)}


@over_dtypes
@over_curvatures
def test_centroid_against_the_oracle(dtype, K):
    for radius in RADII[dtype]:
        for separation in (0.001, 0.1, 1.0, 3.0):
            for kind in KINDS:
                xs, ys, _ = pairs(dtype, K, radius, separation, kind, n=5)
                space = torch.cat((xs, ys))
                weights = torch.rand(10, dtype=dtype, generator=seeded(2))
                mean = G.centroid(G.lift(space, K=K), weights, K=K)
                truth = exact.centroid([exact.point(s, K) for s in space], exact.vector(weights), K)
                # The farthest point of the set is at radius + separation; eps·cosh of that is one rounding.
                allowed = 2 * torch.finfo(dtype).eps * math.cosh(radius + separation)
                assert exact.dist(exact.point(mean[1:], K), truth, K) * math.sqrt(-K) <= allowed


@over_dtypes
@over_curvatures
def test_gemm_form_keeps_its_stated_error(dtype, K):
    for radius in (1e-4, 1.0, 3.0, 6.0):
        xs, _, _ = pairs(dtype, K, radius, 1.0, "random", n=1)
        x = G.lift(xs, K=K).expand(3, -1)
        mean = G.to_sheet(torch.full((1, 3), 1 / 3, dtype=dtype) @ x, K=K)[0]
        error = exact.dist(exact.point(mean[1:], K), exact.point(xs[0], K), K) * math.sqrt(-K)
        assert error <= 4 * torch.finfo(dtype).eps * math.cosh(radius) ** 2


@over_dtypes
@over_curvatures
def test_centroid_of_one_point_is_the_point(dtype, K):
    for radius in RADII[dtype]:
        xs, _, _ = pairs(dtype, K, radius, 1.0, "random")
        x = G.lift(xs, K=K)
        torch.testing.assert_close(G.centroid(x.unsqueeze(-2), K=K), x)
        one_hot = torch.eye(6, dtype=dtype)[2]
        torch.testing.assert_close(G.centroid(x, one_hot, K=K), x[2])


@over_dtypes
@over_curvatures
def test_centroid_has_the_least_weighted_squared_distance(dtype, K):
    x = G.random_normal(8, 4, K=K, dtype=dtype, generator=seeded())
    weights = torch.rand(8, dtype=dtype, generator=seeded(1))

    def cost(mean):
        return (weights * G.sqdist(x, mean, K=K)).sum()

    mean = G.centroid(x, weights, K=K)
    best = cost(mean)
    for seed in range(20):
        nudge = 0.1 * G.proju(mean, torch.randn(4, dtype=dtype, generator=seeded(seed)), K=K)
        assert cost(G.expmap(mean, nudge, K=K)) > best


@over_dtypes
@over_curvatures
@pytest.mark.parametrize("weighted", [False, True])
def test_centroid_is_equivariant(dtype, K, weighted):
    manifold = G.Lorentz(K)
    x = manifold.random_normal(3, 6, 5, dtype=dtype, generator=seeded())
    weights = torch.rand(3, 6, dtype=dtype, generator=seeded(1)) if weighted else None
    assert_centroid_equivariant(manifold, x, weights, generator=seeded(2))
    assert_on_sheet(manifold.centroid(x, weights), manifold=manifold)


@over_dtypes
@over_curvatures
def test_weights_are_relative(dtype, K):
    x = G.random_normal(6, 5, K=K, dtype=dtype, generator=seeded())
    weights = torch.rand(6, dtype=dtype, generator=seeded(1))
    torch.testing.assert_close(G.centroid(x, 1e-3 * weights, K=K), G.centroid(x, 1e3 * weights, K=K))
    torch.testing.assert_close(G.centroid(x, torch.ones(6, dtype=dtype), K=K), G.centroid(x, K=K))
    torch.testing.assert_close(G.centroid(x, weights, K=K), G.to_sheet(weights @ x, K=K), rtol=1e-5, atol=1e-5)


def test_a_weight_of_zero_may_grow_and_negative_ones_stay_out():
    x = G.random_normal(4, 5, K=-1.0, dtype=torch.float64)
    direction = torch.randn(5, dtype=torch.float64)
    weights = torch.tensor([1.0, 2.0, 0.0, -1.0], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(G.centroid(x, weights, K=-1.0) @ direction, weights)
    step = torch.tensor([0.0, 0.0, 1e-6, 0.0], dtype=torch.float64)
    moved = (G.centroid(x, weights + step, K=-1.0) - G.centroid(x, weights, K=-1.0)) @ direction / 1e-6
    torch.testing.assert_close(slope[2], moved.detach(), rtol=1e-4, atol=1e-6)
    assert slope[3] == 0


@over_dtypes
@over_curvatures
def test_nothing_to_average_gives_the_origin(dtype, K):
    x = G.random_normal(6, 5, K=K, dtype=dtype)
    origin = G.origin(5, K=K, dtype=dtype)
    torch.testing.assert_close(G.centroid(x, torch.zeros(6, dtype=dtype), K=K), origin)
    torch.testing.assert_close(G.centroid(x, -torch.ones(6, dtype=dtype), K=K), origin)
    torch.testing.assert_close(G.to_sheet(torch.zeros(5, dtype=dtype), K=K), origin)


@over_dtypes
@over_curvatures
def test_to_sheet_scales(dtype, K):
    x = G.random_normal(6, 5, K=K, std=0.2, dtype=dtype, generator=seeded())
    torch.testing.assert_close(G.to_sheet(37.0 * x, K=K), x)
    s = x + x.flip(0)
    y = G.to_sheet(s, K=K)
    assert_on_sheet(y, manifold=G.Lorentz(K))
    torch.testing.assert_close(y / y[:, :1], s / s[:, :1])


def test_light_like_and_space_like_sums_stay_finite_and_on_the_sheet():
    s = torch.tensor([[1.0, 1.0, 0.0], [1.0, 5.0, 0.0], [1e-20, 1.0, 0.0], [-3.0, 1.0, 0.0], [1e-12, 1e9, 1e9]])
    y = G.to_sheet(s, K=-0.01)
    assert_on_sheet(y, manifold=G.Lorentz(-0.01))


def test_weights_broadcast_over_points():
    K = -1.0
    x, weights = G.random_normal(6, 5, K=K), torch.rand(2, 3, 6)
    means = G.centroid(x, weights, K=K)
    assert means.shape == (2, 3, 5)
    torch.testing.assert_close(means[1, 2], G.centroid(x, weights[1, 2], K=K))
    assert G.centroid(x.expand(4, 6, 5), K=K).shape == (4, 5)


def test_two_points_meet_in_the_middle():
    """An oracle by symmetry: the centroid of two points is the midpoint of their geodesic."""
    K = -0.3
    x, y = G.random_normal(2, 20, 4, K=K, dtype=torch.float64, generator=seeded())
    mean = G.centroid(torch.stack((x, y), -2), K=K)
    torch.testing.assert_close(mean, G.expmap(x, G.logmap(x, y, K=K) / 2, K=K))
