"""The Poincaré ball of the baselines is geoopt's."""

import pytest
import torch

from hybonet.geometry.poincare_ball import from_chord, from_tangent, into_ball, mobius_add, to_tangent

geoopt = pytest.importorskip("geoopt")


@pytest.mark.parametrize("curvature", [0.3, 1.0, 2.5])
def test_mobius_addition_is_geoopts(curvature):
    generator = torch.Generator().manual_seed(0)
    x, y = (0.5 * torch.randn(20, 3, generator=generator, dtype=torch.float64).tanh() / 3**0.5 for _ in "xy")
    expected = geoopt.manifolds.stereographic.math.mobius_add(x, y, k=torch.tensor(-curvature, dtype=torch.float64))
    torch.testing.assert_close(mobius_add(x, y, torch.tensor(curvature, dtype=torch.float64)), expected)
    zero = torch.zeros_like(x)
    torch.testing.assert_close(mobius_add(zero, y, torch.tensor(curvature, dtype=torch.float64)), y)


@pytest.mark.parametrize("curvature", [0.3, 1.0, 2.5])
def test_maps_and_distances_are_geoopts(curvature):
    c, ball = torch.tensor(curvature, dtype=torch.float64), geoopt.manifolds.stereographic.math
    generator = torch.Generator().manual_seed(1)
    v, w = (0.5 * torch.randn(20, 3, generator=generator, dtype=torch.float64) for _ in "vw")
    x, y = from_tangent(v, c), from_tangent(w, c)
    torch.testing.assert_close(x, ball.expmap0(v, k=-c))
    torch.testing.assert_close(to_tangent(x, c), v)
    found = from_chord(*(each.square().sum(-1) for each in (x - y, x, y)), c)
    torch.testing.assert_close(found, ball.dist(x, y, k=-c).square())
    far = into_ball(100 * x, c)
    torch.testing.assert_close(far.norm(dim=-1) * c.sqrt(), torch.full((20,), 1 - 1e-5, dtype=torch.float64))


def test_mobius_addition_near_the_rim_is_that_of_a_line():
    x, y = (torch.tensor([[value, 0.0]], dtype=torch.float64) for value in (0.9999, -0.9998))
    expected = (0.9999 - 0.9998) / (1 - 0.9999 * 0.9998)
    assert mobius_add(x, y, torch.tensor(1.0, dtype=torch.float64))[0, 0].item() == pytest.approx(expected, rel=1e-6)
