"""Points and tangent vectors: the hyperboloid, projections, norms."""

from __future__ import annotations

import pytest
import torch

from hybonet import geometry as G
from hybonet.geometry.lorentz import lift_onto
from hybonet.testing import assert_on_sheet

from . import exact
from .cases import geoopt_peer, over_curvatures, over_dtypes, pairs, seeded


@over_dtypes
@over_curvatures
@pytest.mark.parametrize("scale", [0.0, 1e-4, 1.0, 1e3])
def test_lift_and_projx_land_on_the_sheet_and_keep_the_space_part(dtype, K, scale):
    manifold = G.Lorentz(K)
    space = scale * torch.randn(30, 6, dtype=dtype, generator=seeded())
    x = G.lift(space, K=K)
    assert_on_sheet(x, manifold=manifold)
    assert torch.equal(x[..., 1:], space)
    assert torch.equal(x[..., :1], G.time_of(space, K=K))
    assert torch.equal(G.projx(torch.cat((torch.full_like(x[..., :1], -7.0), space), -1), K=K), x)


@over_dtypes
@over_curvatures
def test_lift_onto_is_the_lift_of_the_sum_and_has_its_gradients(dtype, K):
    x = G.lift(torch.randn(4, 1, 6, dtype=dtype, generator=seeded()), K=K).requires_grad_()
    v = torch.randn(3, 7, dtype=dtype, generator=seeded(1)).requires_grad_()
    K = torch.tensor(K, dtype=dtype, requires_grad=True)
    torch.testing.assert_close(lift_onto(v, K=K), G.lift(v[..., 1:], K=K))
    ours, expected = lift_onto(v, x, K=K), G.lift(x[..., 1:] + v[..., 1:], K=K)
    torch.testing.assert_close(ours, expected)
    weight = torch.randn(ours.shape, dtype=dtype, generator=seeded(2))
    torch.testing.assert_close(
        torch.autograd.grad((ours * weight).sum(), (x, v, K)), torch.autograd.grad((expected * weight).sum(), (x, v, K))
    )
    if dtype == torch.float64:
        assert torch.autograd.gradgradcheck(lambda x, v, K: lift_onto(v, x, K=K), (x, v, K))


def test_lift_onto_stands_still_where_it_is_clamped():
    v = torch.tensor([0.0, 1e30, 1.0], requires_grad=True)
    y = lift_onto(v, G.origin(3, K=-1.0), K=-1.0)
    y[1:].sum().backward()
    assert y.isfinite().all()
    assert v.grad.tolist() == [0.0, 0.0, 1.0]


@over_dtypes
@over_curvatures
def test_origin(dtype, K):
    o = G.origin(2, 4, K=K, dtype=dtype)
    assert o.shape == (2, 4)
    assert o.dtype == dtype
    torch.testing.assert_close(o[:, 0], torch.full((2,), (-1 / K) ** 0.5, dtype=dtype))
    assert (o[:, 1:] == 0).all()


def test_inner_is_the_lorentzian_product():
    x, y = torch.randn(2, 5, 4, dtype=torch.float64, generator=seeded())
    metric = torch.diag(torch.tensor([-1.0, 1.0, 1.0, 1.0], dtype=torch.float64))
    torch.testing.assert_close(G.inner(x, y), torch.einsum("ni,ij,nj->n", x, metric, y))
    torch.testing.assert_close(G.cinner(x, y), x @ metric @ y.T)


@over_dtypes
@over_curvatures
def test_proju_gives_the_nearest_tangent_vector(dtype, K):
    xs, _, _ = pairs(dtype, K, 1.0, 1.0, "random", n=20)
    x, v = G.lift(xs, K=K), torch.randn(20, 5, dtype=dtype, generator=seeded())
    u = G.proju(x, v, K=K)
    tolerance = 40 * torch.finfo(dtype).eps
    assert G.inner(x, u).abs().max() < tolerance
    torch.testing.assert_close(G.proju(x, u, K=K), u, rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(u, geoopt_peer(K).proju(x, v).to(dtype), rtol=tolerance, atol=tolerance)
    # What was taken away is a multiple of x.
    gone = (v - u) / x
    torch.testing.assert_close(gone, gone[:, :1].expand_as(gone), rtol=20 * tolerance, atol=20 * tolerance)


@over_dtypes
@over_curvatures
def test_tangent_at_is_tangent(dtype, K):
    xs, _, us = pairs(dtype, K, 2.0, 1.0, "random")
    x = G.lift(xs, K=K)
    u = G.tangent_at(x, us)
    assert torch.equal(u[..., 1:], us)
    assert (G.inner(x, u).abs() <= 8 * torch.finfo(dtype).eps * x[:, 0] * u[:, 0].abs()).all()
    assert G.tangent_at(x.unsqueeze(1), us).shape == (6, 6, 5)


@over_dtypes
@over_curvatures
@pytest.mark.parametrize("radius", [1e-4, 1.0, 6.0])
def test_tangent_norms(dtype, K, radius):
    eps = torch.finfo(dtype).eps
    for kind in ("radial", "tangential", "random"):
        xs, _, us = pairs(dtype, K, radius, 2.0, kind)
        x = G.lift(xs, K=K)
        u = G.tangent_at(x, us)
        square, length = G.tangent_sqnorm(x, u, K=K), G.geodesic_norm(x, u, K=K)
        assert square.shape == (6, 1)
        assert length.shape == (6,)
        for i in range(6):
            truth = exact.norm(exact.tangent(exact.point(xs[i], K), us[i]))
            # Rounding u moves its small component across the radius by eps |u_s|, cosh(radius) times too much.
            assert exact.relative_error(length[i], truth) <= 8 * eps * torch.tensor(radius).cosh()
            assert exact.relative_error(square[i, 0], truth**2) <= 16 * eps * torch.tensor(radius).cosh()


@over_dtypes
@over_curvatures
def test_egrad2rgrad_represents_the_differential(dtype, K):
    """<grad, u> = g·u for every tangent u, and the result is tangent; geoopt agrees."""
    xs, _, us = pairs(dtype, K, 1.0, 1.0, "random", n=20)
    x, g = G.lift(xs, K=K), torch.randn(20, 5, dtype=dtype, generator=seeded(1))
    rgrad, u = G.egrad2rgrad(x, g, K=K), G.tangent_at(x, us)
    tolerance = 100 * torch.finfo(dtype).eps
    torch.testing.assert_close(G.inner(rgrad, u), (g * u).sum(-1), rtol=tolerance, atol=tolerance)
    assert G.inner(x, rgrad).abs().max() < tolerance
    torch.testing.assert_close(rgrad, geoopt_peer(K).egrad2rgrad(x, g).to(dtype), rtol=tolerance, atol=tolerance)
