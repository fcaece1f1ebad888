"""The manifold object: its curvature, its checks, its errors, and that every method is the function it names."""

from __future__ import annotations

import copy
import inspect
import math

import pytest
import torch
from torch import nn

from hybonet import Lorentz
from hybonet import geometry as G
from hybonet.nn import LorentzLinear

from .cases import over_curvatures, over_dtypes, seeded

# Public functions that need no curvature object, or that only other functions need.
NOT_METHODS = {"Curvature", "Lorentz", "Precision", "precision", "geodesic_norm", "geodesic_of", "random_boost"}
NOT_METHODS |= {"random_rotation", "tangent_at", "tangent_sqnorm", "time_of", "transform"}


@pytest.mark.parametrize("K", [0.0, 1.0, float("nan"), float("-inf"), float("inf")])
def test_curvature_must_be_finite_and_negative(K):
    with pytest.raises(ValueError, match="negative curvature"):
        Lorentz(K)


@pytest.mark.parametrize("K", [-1e-9, -1e9])
def test_learnable_curvature_must_be_in_range(K):
    assert Lorentz(K).K == K
    with pytest.raises(ValueError, match="between -1e6 and -1e-6"):
        Lorentz(K, learnable=True)


def test_fixed_curvature_is_a_number():
    manifold = Lorentz(-0.5)
    assert manifold.K == -0.5
    assert manifold.k == 2.0
    assert manifold.curvature == -0.5
    assert not [*manifold.parameters(), *manifold.buffers()]
    assert not list(manifold.parameters())


def test_learnable_curvature_is_a_parameter_that_round_trips():
    manifold = Lorentz(-0.5, learnable=True)
    torch.testing.assert_close(manifold.K, torch.tensor(-0.5, dtype=torch.float64))
    torch.testing.assert_close(manifold.k, torch.tensor(2.0, dtype=torch.float64))
    assert isinstance(manifold.curvature, float)
    assert manifold.curvature == pytest.approx(-0.5)
    other = Lorentz(-3.0, learnable=True)
    other.load_state_dict(manifold.state_dict())
    assert other.K == manifold.K


@pytest.mark.parametrize("lr", [1.0, 1e3, 1e30])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_learnable_curvature_stays_negative_and_usable_after_any_step(lr, sign):
    manifold = Lorentz(-2.0, learnable=True)
    optimizer = torch.optim.SGD(manifold.parameters(), lr=lr)
    for _ in range(3):
        optimizer.zero_grad()
        x = manifold.lift(torch.ones(3, 2))
        (sign * manifold.dist0(x).sum()).backward()
        optimizer.step()
    assert math.exp(-14.1) < -manifold.curvature < math.exp(14.1)
    assert manifold.check_point(manifold.random_normal(10, 3, std=1e-3))


def test_gradient_leads_back_from_the_bound():
    manifold = Lorentz(-2.0, learnable=True)
    with torch.no_grad():
        manifold.log_neg_curvature.fill_(20.0)
    (-manifold.K).backward()
    expected = torch.tensor([math.exp(14.0)], dtype=torch.float64)
    torch.testing.assert_close(manifold.log_neg_curvature.grad, expected)


@pytest.mark.parametrize(("start", "sign"), [(-1e6, 1), (-1e-6, -1)])
def test_curvature_does_not_wind_up_beyond_its_bound(start, sign):
    manifold = Lorentz(start, learnable=True)
    optimizer = torch.optim.SGD(manifold.parameters(), lr=10.0)
    seen = []
    for _ in range(5):
        optimizer.zero_grad()
        (-sign * manifold.K / start).backward()
        optimizer.step()
        seen.append(manifold.log_neg_curvature.item())
    assert sign * seen[0] > 14
    assert len(set(seen)) == 1


class TestState:
    def test_curvature_is_in_it_once_and_is_checked(self):
        for learnable in (False, True):
            manifold = Lorentz(-2.0, learnable=learnable)
            model = nn.Sequential(*(LorentzLinear(3, 3, manifold=manifold) for _ in range(3)))
            state = model.state_dict()
            assert sum("manifold" in name for name in state) == 1
            twin = Lorentz(-2.0, learnable=learnable)
            nn.Sequential(*(LorentzLinear(3, 3, manifold=twin) for _ in range(3))).load_state_dict(state)
            assert twin.curvature == pytest.approx(-2.0)
        with pytest.raises(RuntimeError, match=r"Missing.*manifold\.log_neg_curvature"):
            model.load_state_dict({name: value for name, value in state.items() if "manifold" not in name})

    def test_of_another_curvature_is_refused(self):
        state = LorentzLinear(3, 3, manifold=Lorentz(-2.0)).state_dict()
        with pytest.raises(RuntimeError, match=r"expected curvature K = -1, got K = -2; build .*Lorentz\(K=-2\)"):
            LorentzLinear(3, 3).load_state_dict(state)
        with pytest.raises(RuntimeError, match=r"Unexpected key.*log_neg_curvature"):
            LorentzLinear(3, 3).load_state_dict(LorentzLinear(3, 3, manifold=Lorentz(learnable=True)).state_dict())

    def test_of_older_versions_loads(self):
        layer = LorentzLinear(3, 3, manifold=Lorentz(-2.0))
        layer.load_state_dict({name: value for name, value in layer.state_dict().items() if "manifold" not in name})
        manifold = Lorentz(learnable=True)
        manifold.load_state_dict({"log_neg_curvature": torch.tensor(0.7, dtype=torch.float64)})
        assert manifold.curvature == pytest.approx(-math.exp(0.7))

    def test_values_drawn_anew_on_another_device_keep_the_curvature(self):
        with torch.device("meta"):
            manifold = Lorentz(-3.0, learnable=True)
        manifold.to_empty(device="cpu")
        manifold.reset_parameters()
        assert manifold.curvature == pytest.approx(-3.0)
        with torch.device("meta"):
            fixed = Lorentz(-3.0)
        assert fixed.state_dict()["_extra_state"].item() == -3.0


def test_repr():
    assert repr(Lorentz(-0.5)) == "Lorentz(K=-0.5)"
    assert repr(Lorentz(-2.0, learnable=True, check=True)) == "Lorentz(K=-2, learnable=True, check=True)"


def test_deepcopy_is_independent():
    manifold = Lorentz(-2.0, learnable=True)
    twin = copy.deepcopy(manifold)
    with torch.no_grad():
        twin.log_neg_curvature.add_(1.0)
    torch.testing.assert_close(manifold.K, torch.tensor(-2.0, dtype=torch.float64))
    torch.testing.assert_close(twin.K, torch.tensor(-2.0 * math.e, dtype=torch.float64))
    assert copy.deepcopy(Lorentz(-0.5)).K == -0.5


def test_same_as():
    learnable = Lorentz(-1.0, learnable=True)
    assert Lorentz(-0.5).same_as(Lorentz(-0.5))
    assert not Lorentz(-0.5).same_as(Lorentz(-0.6))
    assert learnable.same_as(learnable)
    assert not learnable.same_as(copy.deepcopy(learnable))
    assert not learnable.same_as(Lorentz(-1.0))
    assert not Lorentz(-1.0).same_as(learnable)


@over_dtypes
@over_curvatures
@pytest.mark.parametrize("scale", [0.0, 1e-4, 1.0, 1e4])
def test_check_point_accepts_points(dtype, K, scale):
    manifold = Lorentz(K)
    assert manifold.check_point(manifold.lift(scale * torch.randn(20, 6, dtype=dtype, generator=seeded())))
    assert manifold.check_point(torch.empty(0, 4, dtype=dtype))


@over_dtypes
def test_require_point_says_what_is_wrong_and_where(dtype):
    manifold = Lorentz(-0.5)
    x = manifold.random_normal(5, 3, dtype=dtype, generator=seeded())

    def spoiled(row, value):
        y = x.clone()
        y[row] = torch.as_tensor(value, dtype=dtype)
        return y

    with pytest.raises(
        ValueError, match=r"query is off the hyperboloid at row 2: <x,x> = 0 where 1/K = -2 was expected"
    ):
        manifold.require_point(spoiled(2, 0.0), name="query")
    with pytest.raises(ValueError, match="on the lower sheet at row 4"):
        manifold.require_point(spoiled(4, -x[4]))
    with pytest.raises(ValueError, match="NaN or infinite coordinate at row 3"):
        manifold.require_point(spoiled(3, float("nan")))
    with pytest.raises(ValueError, match="NaN or infinite coordinate at row 0"):
        manifold.require_point(spoiled(0, float("inf")))
    with pytest.raises(ValueError, match="off the hyperboloid"):
        Lorentz(-0.6).require_point(x)
    assert Lorentz(-0.6).check_point(x, tolerance=1.0)
    assert not any(manifold.check_point(spoiled(3, value)) for value in (0.0, float("nan"), -x[3]))
    spacelike = torch.tensor([[0.5, 1.0, 0.0]], dtype=dtype)  # <x,x> = 0.75: its first number is no time
    with pytest.raises(ValueError, match=r"lift\(features\) adds it"):
        manifold.require_point(spacelike)


@pytest.mark.parametrize("shape", [(), (1,), (3, 1)])
def test_require_point_needs_two_coordinates(shape):
    with pytest.raises(ValueError, match="at least 2 ambient coordinates"):
        Lorentz().require_point(torch.ones(shape))


def test_require_point_needs_real_floats():
    with pytest.raises(ValueError, match="real floating dtype"):
        Lorentz().require_point(torch.ones(2, 3, dtype=torch.int64))


def test_validate_checks_the_number_of_coordinates():
    manifold = Lorentz()
    manifold.validate(torch.ones(2, 3), 3)
    for bad in (torch.ones(2, 4), torch.ones(())):
        with pytest.raises(ValueError, match="expected query with 3 ambient coordinates"):
            manifold.validate(bad, 3, name="query")


def test_pairs_must_have_equally_many_coordinates():
    manifold = Lorentz()
    x, y = manifold.random_normal(2, 3), manifold.random_normal(2, 4)
    for method in (manifold.dist, manifold.sqdist, manifold.cdist, manifold.csqdist, manifold.logmap):
        with pytest.raises(ValueError, match=r"equally many ambient coordinates, got \(2, 3\) and \(2, 4\)"):
            method(x, y)
    with pytest.raises(ValueError, match="equally many"):
        manifold.dist(torch.ones(()), torch.ones(()))


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_pairs_may_be_single_points_or_have_any_dimensions_in_front(shape):
    manifold = Lorentz(-0.5)
    x, y = (manifold.random_normal(*shape, 4, generator=seeded(seed)) for seed in (1, 2))
    for name in ("dist", "sqdist", "logmap"):
        torch.testing.assert_close(getattr(manifold, name)(x, y), getattr(G, name)(x, y, K=-0.5))
    torch.testing.assert_close(manifold.inner(x, y), G.inner(x, y))


def test_check_makes_methods_verify_their_points():
    strict, lax = Lorentz(check=True), Lorentz()
    good = strict.random_normal(2, 3, generator=seeded())
    bad = good + 1.0
    for name in ("dist", "sqdist", "cdist", "csqdist", "logmap"):
        getattr(strict, name)(good, good)
        getattr(lax, name)(good, bad)
        with pytest.raises(ValueError, match="y is off the hyperboloid"):
            getattr(strict, name)(good, bad)
    for name in ("dist0", "logmap0", "to_poincare", "to_klein", "centroid"):
        getattr(strict, name)(good)
        with pytest.raises(ValueError, match="off the hyperboloid"):
            getattr(strict, name)(bad)
    with pytest.raises(ValueError, match="off the hyperboloid"):
        strict.expmap(bad, good)
    with pytest.raises(ValueError, match="off the hyperboloid"):
        strict.transp0(bad, good)


@over_curvatures
@pytest.mark.parametrize("learnable", [False, True])
def test_methods_are_the_functions_they_name(K, learnable):
    manifold = Lorentz(K, learnable=learnable).double()
    K = manifold.K
    x, y = G.random_normal(2, 4, 3, K=K, dtype=torch.float64, generator=seeded())
    u, space = G.logmap(x, y, K=K), y[..., 1:]
    arguments = {"x": x, "y": y, "v": u, "u": u, "grad": u, "s": x + y, "space": space, "p": space / 9, "c": space / 9}
    arguments |= {"velocity": torch.tensor([0.1, 0.2]), "matrix": torch.eye(2), "weights": None}
    for name in set(G.__all__) - NOT_METHODS - {"origin", "random_normal"} | {"retr"}:
        method, function = getattr(manifold, name), getattr(G, "expmap" if name == "retr" else name)
        given = [arguments[p] for p in inspect.signature(method).parameters if p != "keepdim"]
        curvature = {"K": K} if "K" in inspect.signature(function).parameters else {}
        torch.testing.assert_close(method(*given), function(*given, **curvature), rtol=0, atol=0)
    torch.testing.assert_close(manifold.origin(2, 3, dtype=torch.float64), G.origin(2, 3, K=K, dtype=torch.float64))
    same = {"std": 0.1, "dtype": torch.float64}
    torch.testing.assert_close(
        manifold.random_normal(2, 3, generator=seeded(), **same), G.random_normal(2, 3, K=K, generator=seeded(), **same)
    )
