"""The norm moves points radially onto a geodesic sphere."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from hybonet import Lorentz
from hybonet.geometry import random_rotation, transform
from hybonet.nn import LorentzNorm
from hybonet.nn.norm import _Sphere

from . import plain


@pytest.mark.parametrize("gains", [True, False])
def test_is_the_written_formula(K, dtype, gains):
    manifold = Lorentz(K, learnable=True).to(dtype)
    norm = LorentzNorm(6, gains=gains, manifold=manifold, dtype=dtype)
    for weight in norm.parameters(recurse=False):
        nn.init.normal_(weight)
    x = plain.points(manifold, 3, 4, 6, dtype=dtype).requires_grad_()
    space = x[..., 1:] / x[..., 1:].norm(dim=-1, keepdim=True) * 2.0 * (-1 / manifold.K).sqrt()
    space = space * norm.weight if gains else space
    expected = torch.cat(((space.square().sum(-1, keepdim=True) - 1 / manifold.K).sqrt(), space), -1)
    plain.assert_same(norm(x), expected, [x, *norm.parameters()], dtype)
    plain.assert_same(norm(x[0, 0]), norm(x)[0, 0], [x, *norm.parameters()], dtype)  # one point alone


def test_points_come_to_one_radius_and_keep_their_direction(manifold, dtype):
    x = plain.points(manifold, 20, 6, dtype=dtype)
    y = LorentzNorm(6, manifold=manifold, gains=False, dtype=dtype)(x)
    plain.assert_on_sheet(y, manifold.K)
    radius = manifold.dist0(y)
    torch.testing.assert_close(radius, torch.full_like(radius, math.asinh(2.0) * (-1 / manifold.K) ** 0.5))
    cosine = F.cosine_similarity(x[:, 1:], y[:, 1:])
    torch.testing.assert_close(cosine, torch.ones_like(cosine))


def test_commutes_with_rotations():
    norm, turn = LorentzNorm(6, gains=False, dtype=torch.float64), random_rotation(5, dtype=torch.float64)
    x = norm.manifold.random_normal(9, 6, dtype=torch.float64)
    torch.testing.assert_close(norm(transform(turn, x)), transform(turn, norm(x)))


@pytest.mark.parametrize("size", [0.0, 1e-30, 1e15])
def test_the_origin_stays_and_gradients_are_finite(manifold, dtype, size):
    norm = LorentzNorm(4, manifold=manifold, dtype=dtype)
    x = manifold.lift(torch.tensor([[size, 0.0, 0.0], [1.0, 2.0, 3.0]], dtype=dtype)).requires_grad_()
    y = norm(x)
    plain.assert_on_sheet(y, manifold.K)
    assert all(bool(g.isfinite().all()) for g in plain.gradients(y.sum(), [x, norm.weight]))
    if size == 0.0:
        torch.testing.assert_close(y[0], manifold.origin(4, dtype=dtype))
        with torch.no_grad():
            torch.testing.assert_close(norm(x), y)


def test_a_row_of_infinity_becomes_the_origin_and_has_no_gradient(manifold, dtype):
    norm = LorentzNorm(3, manifold=manifold, dtype=dtype)
    x = torch.tensor([[torch.inf, torch.inf, 0.0], [1.5, 1.0, 0.5]], dtype=dtype, requires_grad=True)
    with pytest.warns(UserWarning, match="infinite coordinate at row 0"):
        y = norm(x)
    torch.testing.assert_close(y[0], manifold.origin(3, dtype=dtype))
    of_x, of_gains = plain.gradients(y[:, 1:].prod(-1).sum(), [x, norm.weight])
    assert not of_x[0].any()
    assert bool(of_x[1].any())
    assert bool(of_gains.isfinite().all())


def test_first_and_second_derivatives():
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    gain = torch.randn(3, dtype=torch.float64, requires_grad=True)
    radius, k = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (1.5, 0.7))

    def normed(x, gain, radius, k):
        return _Sphere.apply(x, gain, radius, k)[0]

    assert torch.autograd.gradcheck(normed, (x, gain, radius, k))
    assert torch.autograd.gradgradcheck(normed, (x, gain, radius, k))


def test_needs_a_coordinate_of_space():
    with pytest.raises(ValueError, match="at least 2 ambient coordinates, got features=1"):
        LorentzNorm(1)
