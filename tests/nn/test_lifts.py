"""Between Euclidean features and points."""

import pytest
import torch

from hybonet.nn import EuclideanToLorentz, LorentzToEuclidean

from . import plain


@pytest.mark.parametrize("methods", [("exp", "log"), ("space", "space")])
def test_there_and_back(manifold, dtype, methods):
    there, back = EuclideanToLorentz(methods[0], manifold=manifold), LorentzToEuclidean(methods[1], manifold=manifold)
    features = torch.randn(3, 4, 5, dtype=dtype)
    x = there(features)
    assert x.shape == (3, 4, 6)
    plain.assert_on_sheet(x, manifold.K)
    torch.testing.assert_close(back(x), features, **plain.tolerance(dtype))


def test_length_of_features_is_the_radius_or_its_sinh(manifold, dtype):
    features = torch.randn(10, 5, dtype=dtype)
    radius = (-1 / manifold.K) ** 0.5
    exp, space = (EuclideanToLorentz(method, manifold=manifold)(features) for method in ("exp", "space"))
    torch.testing.assert_close(manifold.dist0(exp), features.norm(dim=-1), **plain.tolerance(dtype))
    torch.testing.assert_close(
        radius * torch.sinh(manifold.dist0(space) / radius), features.norm(dim=-1), **plain.tolerance(dtype)
    )
    assert torch.equal(space[:, 1:], features)


def test_zero_features_are_the_origin_with_a_gradient(manifold, dtype):
    for method in ("exp", "space"):
        features = torch.zeros(2, 3, dtype=dtype, requires_grad=True)
        x = EuclideanToLorentz(method, manifold=manifold)(features)
        torch.testing.assert_close(x, manifold.origin(2, 4, dtype=dtype))
        (grad,) = plain.gradients(x[:, 1:].sum(), [features])
        torch.testing.assert_close(grad, torch.ones_like(grad))


def test_mistakes_are_explained():
    with pytest.raises(ValueError, match="'exp' or 'space', got 'log'"):
        EuclideanToLorentz("log")
    with pytest.raises(ValueError, match="'log' or 'space', got 'exp'"):
        LorentzToEuclidean("exp")
    assert "method=space" in repr(EuclideanToLorentz("space"))
    assert "method=log" in repr(LorentzToEuclidean())
