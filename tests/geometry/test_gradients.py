"""Gradients: right to second order, right for a learned curvature, right far out in float32, zero where points meet."""

from __future__ import annotations

import math

import mpmath
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

from hybonet import geometry as G
from hybonet.geometry import numerics

from . import exact
from .cases import KINDS, geoopt_peer, over_curvatures, over_dtypes, pairs, seeded

# Functions of space coordinates and K: two points (or a point and a vector), lifted or made tangent inside.
PAIRWISE = {
    "inner": lambda x, y, K: G.inner(G.lift(x, K=K), G.lift(y, K=K)),
    "sqdist": lambda x, y, K: G.sqdist(G.lift(x, K=K), G.lift(y, K=K), K=K),
    "dist": lambda x, y, K: G.dist(G.lift(x, K=K), G.lift(y, K=K), K=K),
    "csqdist": lambda x, y, K: G.csqdist(G.lift(x, K=K), G.lift(y, K=K), K=K),
    "cdist": lambda x, y, K: G.cdist(G.lift(x, K=K), G.lift(y, K=K), K=K),
    "expmap": lambda x, u, K: G.expmap(G.lift(x, K=K), G.tangent_at(G.lift(x, K=K), u), K=K),
    "logmap": lambda x, y, K: G.logmap(G.lift(x, K=K), G.lift(y, K=K), K=K),
    "transp": lambda x, y, K: G.transp(
        G.lift(x, K=K), G.lift(y, K=K), G.tangent_at(G.lift(x, K=K), x.flip(0).tanh()), K=K
    ),
    "transp0": lambda x, u, K: G.transp0(G.lift(x, K=K), torch.nn.functional.pad(u, (1, 0)), K=K),
    "tangent_sqnorm": lambda x, u, K: G.tangent_sqnorm(G.lift(x, K=K), G.tangent_at(G.lift(x, K=K), u), K=K),
    "proju": lambda x, u, K: G.proju(G.lift(x, K=K), G.lift(u, K=K), K=K),
    "egrad2rgrad": lambda x, u, K: G.egrad2rgrad(G.lift(x, K=K), G.lift(u, K=K), K=K),
    "centroid": lambda x, u, K: G.centroid(G.lift(x, K=K), u[:, 0].sigmoid(), K=K),
    "to_sheet": lambda x, y, K: G.to_sheet(G.lift(x, K=K) + 2 * G.lift(y, K=K), K=K),
}
SINGLE = {
    "dist0": lambda x, K: G.dist0(G.lift(x, K=K), K=K),
    "logmap0": lambda x, K: G.logmap0(G.lift(x, K=K), K=K),
    "expmap0": lambda x, K: G.expmap0(torch.nn.functional.pad(x, (1, 0)), K=K),
    "to_poincare": lambda x, K: G.to_poincare(G.lift(x, K=K), K=K),
    "from_poincare": lambda x, K: G.from_poincare(x / 10, K=K),
    "to_klein": lambda x, K: G.to_klein(G.lift(x, K=K), K=K),
    "from_klein": lambda x, K: G.from_klein(x / 10, K=K),
}


def space(scale: float, seed: int) -> torch.Tensor:
    return (scale * torch.randn(2, 3, dtype=torch.float64, generator=seeded(seed))).requires_grad_()


def curvature(K: float = -0.7) -> torch.Tensor:
    return torch.tensor(K, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize("scale", [0.1, 2.0])
@pytest.mark.parametrize("name", PAIRWISE)
def test_first_and_second_derivatives_of_functions_of_pairs(name, scale):
    inputs = (space(scale, 1), space(scale, 2), curvature())
    assert gradcheck(PAIRWISE[name], inputs)
    assert gradgradcheck(PAIRWISE[name], inputs, rtol=1e-2, fast_mode=True)


@pytest.mark.parametrize("name", SINGLE)
def test_first_and_second_derivatives_of_functions_of_a_point(name):
    inputs = (space(1.0, 1), curvature())
    assert gradcheck(SINGLE[name], inputs)
    assert gradgradcheck(SINGLE[name], inputs, rtol=1e-2, fast_mode=True)


@pytest.mark.parametrize("name", ["sqdist", "expmap", "logmap", "transp", "tangent_sqnorm", "to_sheet", "egrad2rgrad"])
def test_derivatives_at_the_origin(name):
    """No direction is special there, although the formulas for far points single one out."""
    inputs = (torch.zeros(2, 3, dtype=torch.float64, requires_grad=True), space(2.0, 2), curvature())
    assert gradcheck(PAIRWISE[name], inputs)
    assert gradgradcheck(PAIRWISE[name], inputs, rtol=1e-2, fast_mode=True)


@pytest.mark.parametrize("name", ["sqdist", "logmap", "transp"])
@pytest.mark.parametrize("scale", [0.1, 2.0])
def test_derivatives_at_coincident_points(name, scale):
    x = space(scale, 1)
    inputs = (x, x.detach().clone().requires_grad_(), curvature())
    assert gradcheck(PAIRWISE[name], inputs)
    assert gradgradcheck(PAIRWISE[name], inputs, rtol=1e-2, fast_mode=True)


@pytest.mark.parametrize("time", ["own", "given"])
def test_the_time_of_a_tangent_vector_has_its_slopes_at_the_origin(time):
    """The point has just the least time there is, a bound: clamps have another slope there in each torch."""
    x = torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64, requires_grad=True)
    K = curvature(-1.0) if time == "own" else -1.0
    u = G.egrad2rgrad(x, torch.tensor([0.0, 2.0, 3.0], dtype=torch.float64), K=K)
    (slope,) = torch.autograd.grad(u[0], x, create_graph=True)  # x_s·u_s / x_t
    torch.testing.assert_close(slope.detach(), slope.new_tensor([0.0, 2.0, 3.0]))
    (second,) = torch.autograd.grad(slope[1], x)
    torch.testing.assert_close(second, slope.new_tensor([-2.0, 0.0, 0.0]))


@pytest.mark.parametrize("function", [numerics.sinhc, numerics.asinhc])
def test_quotients_have_their_second_slope_at_zero(function):
    """At their series' bound: a clamp has another slope there in each torch."""
    square = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(function(square), square, create_graph=True)
    expected = {numerics.sinhc: (1 / 6, 1 / 60), numerics.asinhc: (-1 / 6, 3 / 20)}[function]
    (second,) = torch.autograd.grad(slope, square)
    assert (slope.item(), second.item()) == pytest.approx(expected)


@over_dtypes
@over_curvatures
@pytest.mark.parametrize("scale", [0.0, 1e-4, 1.0, 1e3])
def test_gradient_at_coincident_points_is_zero(dtype, K, scale):
    x = G.lift(scale * torch.randn(5, 4, dtype=dtype, generator=seeded()), K=K).requires_grad_()
    y = x.detach().clone().requires_grad_()
    for distance in (G.sqdist, G.dist):
        for grad in torch.autograd.grad(distance(x, y, K=K).sum(), (x, y)):
            assert (grad == 0).all()


@over_curvatures
@pytest.mark.parametrize("radius", [1e-22, 1e-4, 1.0, 6.0, 8.0])
def test_float32_riemannian_gradient_of_dist(K, radius):
    """The gradient of d(x, y) at x is -log_x(y)/d, a unit vector. Ours is right to the rounding of its coordinates."""
    for separation in (0.01, 1.0):
        for kind in KINDS:
            xs, ys, _ = pairs(torch.float32, K, radius, separation, kind)
            x, y = G.lift(xs, K=K).requires_grad_(), G.lift(ys, K=K)
            (grad,) = torch.autograd.grad(G.dist(x, y, K=K).sum(), x)
            errors = gradient_errors(G.egrad2rgrad(x.detach(), grad, K=K), xs, ys, K)
            assert max(errors) <= 4 * torch.finfo(torch.float32).eps * math.cosh(radius)


def test_the_usual_gradient_is_lost_where_ours_is_not():
    """What the bound above is worth: geoopt's gradient of the same distances has an error as large as itself."""
    xs, ys, _ = pairs(torch.float32, -1.0, 8.0, 0.1, "random")
    x, y = G.lift(xs, K=-1.0).requires_grad_(), G.lift(ys, K=-1.0)
    peer = geoopt_peer(-1.0)
    (grad,) = torch.autograd.grad(peer.dist(x, y).sum(), x)
    assert max(gradient_errors(peer.egrad2rgrad(x.detach(), grad), xs, ys, -1.0)) > 0.5


def gradient_errors(rgrad, xs, ys, K):
    for row, s, t in zip(rgrad, xs, ys, strict=True):
        x, y = exact.point(s, K), exact.point(t, K)
        truth = exact.combine((-1 / exact.dist(x, y, K), exact.logmap(x, y, K)))
        yield exact.norm(exact.tangent(x, exact.minus(exact.vector(row[1:]), truth[1:])))


@over_curvatures
@pytest.mark.parametrize("scale", [1e-22, 1e-7, 1e-3, 1.0])
@pytest.mark.parametrize("name", ["expmap", "logmap", "transp", "tangent_sqnorm", "centroid"])
def test_float32_gradients_near_the_origin(name, scale, K):
    """Where x has no direction to speak of, nothing may depend on it: float32 agrees with float64 as elsewhere."""
    x, y = scale * torch.randn(3, 4, generator=seeded(1)), torch.randn(3, 4, generator=seeded(2))

    def gradients(dtype):
        inputs = [v.to(dtype).requires_grad_() for v in (x, y)]
        return torch.autograd.grad(PAIRWISE[name](*inputs, K)[..., -3:].sum(), inputs)

    for grad, truth in zip(gradients(torch.float32), gradients(torch.float64), strict=True):
        torch.testing.assert_close(grad.double(), truth, rtol=1e-5, atol=1e-5 * truth.abs().max().item())


@over_dtypes
@over_curvatures
def test_gradients_sit_in_the_space_coordinates(dtype, K):
    """The chart convention: functions of points return (0, g_s), the same covector as the ambient gradient."""
    x, y = (G.random_normal(6, 4, K=K, dtype=dtype, generator=seeded(s)).requires_grad_() for s in (1, 2))
    u = torch.randn(6, 4, dtype=dtype)
    functions = {
        "sqdist": G.sqdist(x, y, K=K),
        "dist": G.dist(x, y, K=K),
        "logmap": G.logmap(x, y, K=K),
        "expmap": G.expmap(x, u, K=K) + G.expmap(y, u, K=K),
        "transp": G.transp(x, y, u, K=K),
        "centroid": G.centroid(torch.stack((x, y)), K=K),
        "to_poincare": G.to_poincare(x, K=K) + G.to_klein(y, K=K),
    }
    for name, value in functions.items():
        for grad in torch.autograd.grad(value.square().sum(), (x, y)):
            assert (grad[..., 0] == 0).all(), name
            assert grad[..., 1:].abs().sum() > 0, name


@over_curvatures
def test_chart_and_ambient_gradients_are_the_same_covector(K):
    x, y = (G.random_normal(6, 4, K=K, dtype=torch.float64, generator=seeded(s)) for s in (1, 2))
    x.requires_grad_()
    (chart,) = torch.autograd.grad(G.sqdist(x, y, K=K).sum(), x)
    (ambient,) = torch.autograd.grad((2 / K - 2 * G.inner(x, y)).sum(), x)
    assert (ambient[:, 0] != 0).all()
    torch.testing.assert_close(G.egrad2rgrad(x, chart, K=K), G.egrad2rgrad(x, ambient, K=K))


@over_dtypes
def test_a_learned_curvature_gets_its_gradient(dtype):
    """Against a central difference of the whole computation, points included."""
    manifold = G.Lorentz(K=-2.0, learnable=True).to(dtype)
    s, t = (torch.randn(5, 3, dtype=dtype, generator=seeded(i)) for i in (1, 2))

    def loss(m):
        x, y = m.lift(s), m.expmap0(torch.nn.functional.pad(t, (1, 0)))
        return (m.dist(x, y) + m.dist0(m.centroid(torch.stack((x, y), -2)))).sum()

    (grad,) = torch.autograd.grad(loss(manifold), manifold.log_neg_curvature)
    h = 1e-5
    s, t = s.double(), t.double()
    high, low = (loss(G.Lorentz(K=-2.0 * math.exp(sign * h))) for sign in (1, -1))
    torch.testing.assert_close(grad.double().squeeze(), (high - low) / (2 * h), rtol=1e-5, atol=0)


@over_dtypes
@pytest.mark.parametrize("K", [-0.01, -1.0, -50.0])
@pytest.mark.parametrize("square", [1e-8, 1e-3, 0.5, 30.0])
def test_a_learned_curvature_has_its_slope_for_near_points_too(dtype: torch.dtype, K: float, square: float) -> None:
    """dd/dk = (z - tanh z)/√k with z = d/2√k, where both terms are nearly equal for near points."""
    with mpmath.workdps(50):
        k = -1 / mpmath.mpf(K)
        z = mpmath.asinh(mpmath.sqrt(mpmath.mpf(square) / k) / 2)
        expected = float((z - mpmath.tanh(z)) / mpmath.sqrt(k) * k**2)  # dk/dK = k²
    learned = torch.tensor(K, dtype=dtype, requires_grad=True)
    G.geodesic_of(torch.tensor(square, dtype=dtype), K=learned).backward()
    assert learned.grad.item() == pytest.approx(expected, rel=1e-4 if dtype == torch.float32 else 1e-9)
