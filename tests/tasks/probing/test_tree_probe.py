"""Probes against layers and formulas they are made of, in every curvature, side by side and alone."""

import geoopt
import pytest
import torch

from hybonet import Lorentz
from hybonet.nn import LorentzLinear
from hybonet.tasks.probing.models.tree_probe import (
    PROBES,
    EuclideanProbe,
    LorentzProbe,
    PoincareProbe,
    StackedLorentzLinear,
    TreeProbes,
)


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize("K", [-1.0, -0.3])
@pytest.mark.parametrize("form", ["scaled", "paper"])
def test_stacked_layers_are_lorentz_linear_layers(K: float, form: str) -> None:
    manifold = Lorentz(K)
    stacked = StackedLorentzLinear(3, 6, 5, form=form, scale=2.0, manifold=manifold)
    x = manifold.random_normal(3, 8, 6)
    for number in range(3):
        layer = LorentzLinear(6, 5, form=form, manifold=manifold)
        torch.nn.init.normal_(stacked.weight.data[number])
        torch.nn.init.normal_(stacked.bias.data[number])
        state = {"weight": stacked.weight[number], "bias": stacked.bias[number, 0]}
        if form == "paper":
            state["log_scale"] = stacked.log_scale[number, 0, 0]
        layer.load_state_dict(state)
        torch.testing.assert_close(stacked(x)[number], layer(x[number]))


@pytest.mark.parametrize("K", [-1.0, -0.3])
@pytest.mark.parametrize("of_points", [True, False])
@pytest.mark.parametrize("form", ["scaled", "paper"])
def test_lorentz_probe_measures_squared_lorentzian_distances(K: float, of_points: bool, form: str) -> None:
    manifold = Lorentz(K)
    probe = LorentzProbe(2, 6, 5, of_points=of_points, form=form, manifold=manifold).double()
    states = manifold.random_normal(2, 7, 6).double() if of_points else torch.randn(2, 7, 6).double()
    points = probe.points(states)
    assert manifold.check_point(points)
    expected = manifold.sqdist(points.unsqueeze(2), points.unsqueeze(1))
    torch.testing.assert_close(probe.distances(points), expected, atol=1e-10, rtol=1e-10)
    origin = manifold.origin(5, dtype=torch.double)
    torch.testing.assert_close(probe.depths(points), manifold.sqdist(points, origin.expand_as(points)))


def test_poincare_probe_against_geoopt() -> None:
    ball = geoopt.PoincareBall(c=1.0)
    probe = PoincareProbe(1, 6, 5).double()
    states = 0.3 * torch.randn(1, 7, 6).double()
    p = ball.expmap0(states[0] @ probe.p.weight[0].T)
    q = ball.mobius_matvec(probe.q.weight[0], p)
    points = probe.points(states)
    expected = ball.dist(q.unsqueeze(1), q.unsqueeze(0)).square()
    torch.testing.assert_close(probe.distances(points)[0], expected, atol=1e-9, rtol=1e-7)
    torch.testing.assert_close(probe.depths(points)[0], ball.dist0(q).square())


def test_structural_probe_by_its_formula() -> None:
    probe = EuclideanProbe(1, 6, 3)
    states = torch.randn(1, 7, 6)
    mapped = states[0] @ probe.b.weight[0].T
    points = probe.points(states)
    torch.testing.assert_close(probe.distances(points)[0], torch.cdist(mapped, mapped).square(), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(probe.depths(points)[0], mapped.norm(dim=-1).square())


@pytest.mark.parametrize("kind", PROBES)
@pytest.mark.parametrize("states", [None, Lorentz(-0.5)], ids=["vectors", "points"])
def test_layers_and_probes_do_not_touch_one_another(kind: str, states: Lorentz | None) -> None:
    probes = TreeProbes(kind, 3, 6, 4, states=states)
    x = torch.randn(3, 5, 6) if states is None else states.random_normal(3, 5, 6)
    distances, depths = probes(x, torch.tensor([[0, 1, 2, 3], [4, -1, -1, -1]]))
    (distances[1].sum() + depths[2].sum()).backward()
    for name, parameter in probes.named_parameters():
        own = 1 if name.startswith("distance") else 2
        assert parameter.grad[own].any(), name
        assert not any(parameter.grad[number].any() for number in range(3) if number != own), name


@pytest.mark.parametrize("kind", PROBES)
def test_no_nan_for_far_and_equal_states(kind: str) -> None:
    probes = TreeProbes(kind, 1, 6, 4)
    states = torch.stack((torch.zeros(6), torch.zeros(6), torch.full((6,), 1e4), torch.full((6,), -1e4)))[None]
    distances, depths = probes(states, torch.arange(4)[None])
    assert distances.isfinite().all()
    assert depths.isfinite().all()
    (distances.clamp_max(1e6).sum() + depths.clamp_max(1e6).sum()).backward()
    assert all(parameter.grad.isfinite().all() for parameter in probes.parameters())


def test_probes_compile_in_one_graph() -> None:
    probes = TreeProbes("lorentz", 2, 6, 4)
    states, place = torch.randn(2, 5, 6), torch.arange(5)[None]
    compiled = torch.compile(probes, fullgraph=True, backend="aot_eager")
    for mine, theirs in zip(probes(states, place), compiled(states, place), strict=True):
        torch.testing.assert_close(mine, theirs)
