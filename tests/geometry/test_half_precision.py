"""Half precision goes in and comes out, and is computed in float32 in between."""

from __future__ import annotations

import pytest
import torch

from hybonet import geometry as G
from hybonet.testing import assert_on_sheet

from .cases import over_curvatures, seeded

over_halves = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=["bfloat16", "float16"])

FUNCTIONS = {
    "inner": lambda x, y, u, K: G.inner(x, y),
    "sqdist": lambda x, y, u, K: G.sqdist(x, y, K=K),
    "dist": lambda x, y, u, K: G.dist(x, y, K=K),
    "dist0": lambda x, y, u, K: G.dist0(x, K=K),
    "csqdist": lambda x, y, u, K: G.csqdist(x, y, K=K),
    "cdist": lambda x, y, u, K: G.cdist(x, y, K=K),
    "expmap": lambda x, y, u, K: G.expmap(x, u, K=K),
    "expmap0": lambda x, y, u, K: G.expmap0(u, K=K),
    "logmap": lambda x, y, u, K: G.logmap(x, y, K=K),
    "logmap0": lambda x, y, u, K: G.logmap0(x, K=K),
    "transp": lambda x, y, u, K: G.transp(x, y, u, K=K),
    "transp0": lambda x, y, u, K: G.transp0(x, u, K=K),
    "proju": lambda x, y, u, K: G.proju(x, u, K=K),
    "egrad2rgrad": lambda x, y, u, K: G.egrad2rgrad(x, u, K=K),
    "tangent_sqnorm": lambda x, y, u, K: G.tangent_sqnorm(x, u, K=K),
    "centroid": lambda x, y, u, K: G.centroid(x, u[..., 0].sigmoid(), K=K),
    "to_sheet": lambda x, y, u, K: G.to_sheet(x + y, K=K),
    "to_poincare": lambda x, y, u, K: G.to_poincare(x, K=K),
    "from_poincare": lambda x, y, u, K: G.from_poincare(u / 9, K=K),
    "to_klein": lambda x, y, u, K: G.to_klein(x, K=K),
    "from_klein": lambda x, y, u, K: G.from_klein(u / 9, K=K),
}
# These read time coordinates, or multiply in half precision: errors grow with the square of the time coordinate.
AMBIENT = {"inner", "csqdist", "cdist", "proju", "to_sheet"}


@over_halves
@over_curvatures
@pytest.mark.parametrize("name", FUNCTIONS)
def test_close_to_float64(name, dtype, K):
    scale = (-1 / K) ** 0.5
    x, y = (G.lift(scale * torch.randn(6, 4, generator=seeded(s)).to(dtype), K=K) for s in (1, 2))
    u = scale * torch.randn(6, 5, generator=seeded(3)).to(dtype)
    value = FUNCTIONS[name](x, y, u, K)
    truth = FUNCTIONS[name](G.projx(x.double(), K=K), G.projx(y.double(), K=K), u.double(), K)
    assert value.dtype == dtype
    eps = torch.finfo(dtype).eps
    tolerance = (40 if name in AMBIENT else 2) * eps
    largest = truth.abs().amax().item()
    torch.testing.assert_close(value.double(), truth, rtol=tolerance, atol=tolerance * largest)


@over_halves
@over_curvatures
@pytest.mark.parametrize("name", FUNCTIONS)
def test_finite_up_to_the_usable_radius(name, dtype, K):
    radius = (-1 / K) ** 0.5 * G.precision(dtype).usable_radius
    direction = torch.nn.functional.normalize(torch.randn(2, 6, 4, generator=seeded()), dim=-1)
    x, y = (G.expmap0(torch.nn.functional.pad(radius * d, (1, 0)), K=K).to(dtype) for d in direction)
    x, y = x.requires_grad_(), y.requires_grad_()
    u = torch.randn(6, 5, generator=seeded(3)).to(dtype).requires_grad_()
    value = FUNCTIONS[name](x, y, u, K)
    assert value.isfinite().all()
    for grad in torch.autograd.grad(value.sum(), (x, y, u), allow_unused=True):
        assert grad is None or grad.isfinite().all()


@over_halves
@over_curvatures
def test_points_are_on_the_sheet(dtype, K):
    manifold = G.Lorentz(K)
    x = manifold.random_normal(50, 5, std=0.7, dtype=dtype)
    assert x.dtype == dtype
    assert_on_sheet(x, manifold=manifold)
    assert manifold.check_point(x)


@over_halves
def test_small_distances_do_not_underflow(dtype):
    """Squares of 1e-4 vanish in float16; the distance does not, because only its result is rounded."""
    x, y = torch.tensor([[1.0, 0.0, 0.0], [1.0, 1e-4, 0.0]]).to(dtype)
    assert G.dist(x, y, K=-1.0).item() == pytest.approx(1e-4, rel=1e-2)


def test_all_pairs_are_symmetric_to_the_edge_of_float16() -> None:
    """Coordinates are bounded before anything is multiplied, on both sides alike."""
    far, near = (G.lift(torch.tensor([[s, 0.0]], dtype=torch.float16), K=-1.0) for s in (400.0, 0.0))
    assert G.csqdist(far, near, K=-1.0) == G.csqdist(near, far, K=-1.0)
    opposite = G.lift(torch.tensor([[-200.0, 0.0]], dtype=torch.float16), K=-1.0)
    longest = G.geodesic_of(torch.tensor(torch.finfo(torch.float16).max, dtype=torch.float16), K=-1.0)
    assert G.cdist(-opposite * torch.tensor([-1.0, 1.0, 1.0]).half(), opposite, K=-1.0) == longest  # overflows


@pytest.mark.parametrize(
    ("dtype", "rounded", "wrong"), [(torch.bfloat16, 8.125, 8.1875), (torch.float16, 8.0703125, 8.078125)]
)
def test_a_point_may_be_off_by_rounding_and_by_no_more(dtype, rounded, wrong):
    """Times of a point at 8, which should be 8.0623: off by 1.5 and 3 % of time squared, or by 0.2 and 0.4 %."""
    manifold, space = G.Lorentz(), [8.0, 0.0]
    assert manifold.check_point(torch.tensor([rounded, *space], dtype=dtype))
    assert not manifold.check_point(torch.tensor([wrong, *space], dtype=dtype))
