"""What layers say about inputs that are no points: once, by name, with a remedy, and at no cost afterwards."""

import warnings

import pytest
import torch
from torch import nn

import hybonet
from hybonet import Lorentz
from hybonet.nn import LorentzLinear

SEED = torch.Generator().manual_seed(0)


@pytest.fixture(autouse=True)
def usual_checks():
    yield
    hybonet.set_checks("once")


def silent(layer, x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return layer(x)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (
            torch.randn(4, 8, generator=torch.Generator().manual_seed(0)),
            r"no time coordinate: lift\(features\) adds it",
        ),
        (Lorentz(-2.0).random_normal(4, 8), "these are points of K = -2: give all layers the same manifold"),
        (
            Lorentz().random_normal(4, 5, 8, generator=SEED).mean(1),
            r"projx\(input\) .*mean of points, to_sheet\(input\) gives the centroid",
        ),
        (torch.full((4, 8), torch.nan), "NaN or infinite coordinate at row 0"),
        (Lorentz().random_normal(4, 8).double(), r"right in float32, but not in float64; projx\(input\) rebuilds"),
    ],
)
def test_the_first_batch_is_looked_at_once(x, message):
    layer = LorentzLinear(8, 8, dtype=x.dtype)
    with pytest.warns(UserWarning, match=rf"LorentzLinear\(.*on Lorentz\(K=-1\): input .*{message}"):
        layer(x)
    silent(layer, x)


def test_points_are_no_reason_to_warn(manifold, dtype):
    silent(LorentzLinear(8, 8, manifold=manifold, dtype=dtype), manifold.random_normal(4, 8, dtype=dtype))


def test_always_and_never():
    layer, x = LorentzLinear(8, 8), torch.randn(4, 8)
    hybonet.set_checks("never")
    silent(layer, x)
    hybonet.set_checks("always")
    for _ in range(2):
        with pytest.warns(UserWarning, match="off the hyperboloid|lower sheet"):
            layer(x)
    with pytest.raises(ValueError, match="'always', 'once' or 'never', got 'often'"):
        hybonet.set_checks("often")


def test_after_the_first_batch_nothing_is_computed(monkeypatch):
    layer, x, looks = LorentzLinear(8, 8), Lorentz().random_normal(4, 8), []
    monkeypatch.setattr(Lorentz, "require_point", lambda *_, **names: looks.append(names))
    for _ in range(3):
        layer(x)
    assert looks == [{"name": "input"}]


def test_a_wrong_curvature_between_layers_is_noticed():
    model = nn.Sequential(LorentzLinear(8, 8, manifold=Lorentz(-2.0)), LorentzLinear(8, 8))
    with pytest.warns(UserWarning, match="points of K = -2"):
        model(Lorentz(-2.0).random_normal(4, 8))


def test_transforms_and_exports_are_left_alone():
    x = torch.randn(4, 8)
    silent(torch.func.vmap(LorentzLinear(8, 8)), x)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        torch.export.export(LorentzLinear(8, 8), (x,))
    assert not [w for w in seen if "hyperboloid" in str(w.message)]


def test_inputs_without_coordinates_are_refused():
    for width in (0, 1):
        with pytest.raises(ValueError, match="at least 2 ambient coordinates"):
            Lorentz().dist0(torch.zeros(4, width))


def test_zero_coordinates_are_refused_everywhere():
    manifold, nothing = Lorentz(), torch.zeros(3, 0)
    calls = [manifold.lift, manifold.projx, manifold.expmap0, manifold.from_poincare, manifold.from_klein]
    calls += [manifold.to_sheet, manifold.centroid, manifold.boost, hybonet.nn.EuclideanToLorentz()]
    calls += [lambda x: manifold.inner(x, x), lambda x: manifold.cinner(x, x), lambda x: hybonet.geometry.inner(x, x)]
    calls += [lambda x: manifold.random_normal(*x.shape), lambda x: manifold.origin(*x.shape)]
    calls += [lambda x: hybonet.nn.gated_lift(x, 1.0, K=-1.0), LorentzLinear(4, 4)]
    for call in calls:
        with pytest.raises(ValueError, match=r"expected .*coordinate"):
            call(nothing)


@pytest.mark.parametrize("layer", [LorentzLinear(8, 8), hybonet.nn.LorentzDistanceHead(8, 3)])
def test_another_dtype_is_refused_by_name(layer):
    x = Lorentz().random_normal(4, 8)
    with pytest.raises(ValueError, match=r"input of the layer's torch\.float64, got torch\.float32; .*projx"):
        layer.double()(x)
    layer.float()(x)


def test_modules_of_older_versions_are_unpickled():
    layer = LorentzLinear(8, 8)
    state = {name: value for name, value in layer.__dict__.items() if name != "_checked"}
    twin = LorentzLinear.__new__(LorentzLinear)
    twin.__setstate__(state)
    silent(twin, Lorentz().random_normal(4, 8))
