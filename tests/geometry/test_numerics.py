"""The numerics contract: series against 50 digits, exact products, thresholds that mean what they say."""

from __future__ import annotations

import math

import mpmath
import pytest
import torch

from hybonet import geometry as G
from hybonet.geometry.numerics import asinhc, bounded, leading, max_rapidity, origin_time, safe_sqrt, sinhc, working

from . import exact
from .cases import over_curvatures, over_dtypes, seeded

EVERY_DTYPE = [torch.float64, torch.float32, torch.bfloat16, torch.float16]


@over_dtypes
@pytest.mark.parametrize(("function", "truth"), [(sinhc, mpmath.sinh), (asinhc, mpmath.asinh)], ids=["sinhc", "asinhc"])
def test_quotients_and_their_slopes(dtype, function, truth):
    """f(a)/a and its derivative in a², on both sides of the switch from series to quotient."""
    square = torch.tensor(
        [0.0, 1e-12, 1e-4, 0.009, 0.0099999, 0.01, 0.0101, 0.1, 0.24999, 0.25, 0.2501, 1.0, 9.0, 400.0]
    )
    square = square.to(dtype).requires_grad_()
    value = function(square)
    (slope,) = torch.autograd.grad(value.sum(), square)
    for s, v, d in zip(square.tolist(), value, slope, strict=True):
        quotient = lambda q: truth(mpmath.sqrt(q)) / mpmath.sqrt(q) if q else mpmath.mpf(1)  # noqa: E731
        assert exact.relative_error(v, quotient(mpmath.mpf(s))) <= 4 * torch.finfo(dtype).eps
        third = {sinhc: mpmath.mpf(1) / 6, asinhc: -mpmath.mpf(1) / 6}[function]
        exact_slope = mpmath.diff(quotient, mpmath.mpf(s)) if s else third
        # The quotient's slope is a difference of two terms that cancel as a² at worst, at the switch.
        assert exact.relative_error(d, exact_slope) <= 1e3 * torch.finfo(dtype).eps


@over_dtypes
def test_products_of_leading_halves_are_exact(dtype):
    a, b = torch.randn(2, 1000, dtype=dtype, generator=seeded())
    for p in (leading(a), a - leading(a)):
        for q in (leading(b), b - leading(b)):
            for i in range(0, 1000, 50):
                assert mpmath.mpf((p * q)[i].item()) == mpmath.mpf(p[i].item()) * mpmath.mpf(q[i].item())
    assert torch.equal(leading(a) + (a - leading(a)), a)
    assert (a * b != leading(a) * leading(b)).any()


def test_safe_sqrt_has_no_infinite_slope():
    square = torch.tensor([0.0, 1e-30, 9.0], requires_grad=True)
    root = safe_sqrt(square)
    torch.testing.assert_close(root, torch.tensor([0.0, 1e-15, 3.0]))
    (slope,) = torch.autograd.grad(root.sum(), square)
    torch.testing.assert_close(slope, torch.tensor([0.0, 0.5e15, 1 / 6]))


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
def test_the_largest_coordinate_leaves_room(dtype):
    """Three of them, summed over 4096 coordinates, in the working dtype; a norm in the dtype itself."""
    x = torch.full((4096,), torch.finfo(dtype).max, dtype=dtype)
    wide = bounded(x)
    assert wide.dtype == working(x).dtype
    assert (wide**3).sum().isfinite()
    assert G.lift(x, K=-1.0).isfinite().all()
    assert G.precision(dtype).max_coordinate < torch.finfo(dtype).max


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
def test_usable_radius_is_within_reach_of_the_largest_coordinate(dtype):
    contract = G.precision(dtype)
    assert math.sinh(contract.usable_radius) < contract.max_coordinate
    # x_t² - |x_s|² = k is half lost to rounding just there.
    assert 0.1 < math.cosh(contract.usable_radius) ** 2 * torch.finfo(dtype).eps < 50


@pytest.mark.parametrize("dtype", [torch.int64, torch.complex64, torch.bool])
def test_other_dtypes_are_errors(dtype):
    with pytest.raises(ValueError, match="real floating dtype"):
        G.precision(dtype)


@over_curvatures
def test_functions_of_curvature_take_numbers_and_tensors(K):
    tensor = torch.tensor(K, dtype=torch.float64)
    assert origin_time(K) == pytest.approx(origin_time(tensor).item())
    limit = max_rapidity(torch.float32, K)
    assert limit == pytest.approx(max_rapidity(torch.float32, tensor).item())
    assert math.sinh(limit) * (-1 / K) ** 0.5 == pytest.approx(G.precision(torch.float32).max_coordinate)
