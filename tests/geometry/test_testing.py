"""The public assertions hold for this library, and each of them can fail."""

from __future__ import annotations

import pytest
import torch

from hybonet import Lorentz, testing

from .cases import over_curvatures, over_dtypes, pairs, seeded


@over_dtypes
@over_curvatures
@pytest.mark.parametrize("radius", [1e-3, 1.0, 5.0])
def test_the_laws_hold(dtype, K, radius):
    manifold = Lorentz(K)
    xs, ys, zs = pairs(dtype, K, radius, 1.0, "random", n=20)
    x, y, z = manifold.lift(xs), manifold.lift(ys), manifold.lift(zs)
    testing.assert_on_sheet(x, manifold=manifold)
    testing.assert_distance_laws(manifold, x, y, z, generator=seeded())
    testing.assert_exp_log_inverse(manifold, x, y)
    testing.assert_centroid_equivariant(manifold, torch.stack((x, y), -2), generator=seeded())
    testing.assert_gradients_finite(manifold.dist, x, x)


def test_they_work_with_a_learned_curvature_and_empty_sets():
    manifold = Lorentz(-0.5, learnable=True)
    x, y, z = manifold.random_normal(3, 5, 4, generator=seeded()).detach()
    testing.assert_distance_laws(manifold, x, y, z)
    testing.assert_exp_log_inverse(manifold, x, y)
    testing.assert_on_sheet(x[:0], manifold=manifold)


@pytest.fixture
def points():
    return Lorentz().random_normal(3, 20, 4, dtype=torch.float64, generator=seeded())


@pytest.mark.parametrize(
    ("spoil", "law"),
    [
        (lambda x: 2 * x, "<x,x> = 1/K: worst error"),
        (lambda x: -x, "time positive"),
        (lambda x: x * float("nan"), "all coordinates finite: found nan, and 80 bad values of 80"),
        (lambda x: x + torch.tensor([1e-9, 0, 0, 0]), "<x,x> = 1/K: worst error .* exceeds the tolerance 1e-13"),
    ],
)
def test_on_sheet_can_fail(points, spoil, law):
    with pytest.raises(AssertionError, match=law):
        testing.assert_on_sheet(spoil(points[0]), manifold=Lorentz())


def test_on_sheet_fails_for_the_wrong_curvature(points):
    with pytest.raises(AssertionError, match="on the hyperboloid"):
        testing.assert_on_sheet(points[0], manifold=Lorentz(-0.9))
    testing.assert_on_sheet(points[0], manifold=Lorentz(-0.9), tolerance=1.0)


def with_dist(function):
    """A manifold whose distance is spoiled: ``function(right distance, x, y)``."""

    class Spoiled(Lorentz):
        def dist(self, x, y, *, keepdim=False):
            return function(super().dist(x, y, keepdim=keepdim), x, y)

    return Spoiled()


@pytest.mark.parametrize(
    ("function", "law"),
    [
        (lambda d, x, y: d - 1.0, "non-negative"),
        (lambda d, x, y: 0.0 * d, "positive, d"),
        (lambda d, x, y: d + 1e-3, "zero on the diagonal"),
        (lambda d, x, y: d * float("nan"), "non-negative"),
        (lambda d, x, y: d * (1 + 0.1 * (x[..., 1] > y[..., 1])), "symmetric"),
        (lambda d, x, y: d**2, "triangle inequality"),
        (lambda d, x, y: (x - y).norm(dim=-1), "invariant under a boost"),
        (lambda d, x, y: d + (x[..., 1].abs().sqrt() - y[..., 1].abs().sqrt()).abs(), "invariant under a boost"),
    ],
)
def test_distance_laws_can_fail(points, function, law):
    with pytest.raises(AssertionError, match=law):
        testing.assert_distance_laws(with_dist(function), *points, generator=seeded())


def test_rotation_law_can_fail_on_its_own(points, monkeypatch):
    """A distance that fails under rotations fails under boosts too; so leave the boost out."""
    plain = testing._isometries
    monkeypatch.setattr(testing, "_isometries", lambda n, g: [("rotation", dict(plain(n, g))["rotation"])])
    with pytest.raises(AssertionError, match="invariant under a rotation"):
        testing.assert_distance_laws(with_dist(lambda d, x, y: (x - y).abs().amax(-1)), *points, generator=seeded())


def test_distance_laws_fail_for_the_wrong_curvature(points):
    """Points of K = -1 measured with K = -4 are moved by other isometries than their own."""

    class Wrong(Lorentz):
        def dist(self, x, y, *, keepdim=False):
            return Lorentz(-4.0).dist(x, y, keepdim=keepdim)

    with pytest.raises(AssertionError, match="invariant under a boost"):
        testing.assert_distance_laws(Wrong(), *points, generator=seeded())


def test_exp_log_inverse_can_fail(points):
    class Long(Lorentz):
        def logmap(self, x, y):
            return 1.001 * super().logmap(x, y)

    class Astray(Lorentz):
        def expmap(self, x, u):
            return self.projx(x + u)

    with pytest.raises(AssertionError, match=r"length of log, \|log_x y\| = d\(x,y\): worst error"):
        testing.assert_exp_log_inverse(Long(), *points[:2])
    with pytest.raises(AssertionError, match=r"exp undoes log, exp_x\(log_x y\) = y: worst error"):
        testing.assert_exp_log_inverse(Astray(), *points[:2])
    testing.assert_exp_log_inverse(Long(), *points[:2], tolerance=1.0)


def test_centroid_equivariance_can_fail(points):
    class Euclidean(Lorentz):
        def centroid(self, x, weights=None):
            return self.lift(x[..., 1:].mean(-2))

    with pytest.raises(AssertionError, match="equivariant under a boost"):
        testing.assert_centroid_equivariant(Euclidean(), points, generator=seeded())


def test_equivariance_can_fail(points):
    manifold = Lorentz()
    testing.assert_equivariant(lambda x: x.flip(0), points, manifold=manifold, generator=seeded())
    with pytest.raises(AssertionError, match="equivariant under a boost"):
        testing.assert_equivariant(lambda x: manifold.lift(-x[..., 1:]), points, manifold=manifold, generator=seeded())


def test_gradients_finite_can_fail():
    with pytest.raises(AssertionError, match="output finite: found inf"):
        testing.assert_gradients_finite(torch.reciprocal, torch.zeros(2))
    with pytest.raises(AssertionError, match="gradient of input 1 finite: found inf, and 2 bad values of 2"):
        testing.assert_gradients_finite(lambda x, y: x + y.sqrt(), torch.ones(2), torch.zeros(2))
    with pytest.raises(AssertionError, match="does not depend on it"):
        testing.assert_gradients_finite(lambda x, y: x, torch.ones(2), torch.ones(2))
    x = torch.ones(2)
    testing.assert_gradients_finite(torch.exp, x)
    assert x.grad is None
    assert not x.requires_grad
