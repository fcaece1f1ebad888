"""The numerics contract: the clamps, thresholds and tolerances of the geometry, by dtype, each with its reason.

`docs/numerics.md` shows what these choices buy, measured.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from hybonet.geometry.fused import Fused

#: Curvature as the functions take it: a number, or a 0-d tensor when it is learned. Always negative.
Curvature = float | Tensor

#: Range of -K for a learned curvature: e^±14, about 1e-6 to 1e6. Beyond it √k or 1/√k would dwarf every coordinate.
MAX_LOG_CURVATURE = 14.0

#: Poincaré and Klein vectors are kept this many eps (relative) inside their ball: closer, k - |p|² is rounding noise.
BALL_MARGIN = 4

#: R^T R of a rotation may differ from the identity by this many eps a dimension: what a QR and the product leave.
ROTATION_TOLERANCE = 100


class Precision(NamedTuple):
    """What one dtype can carry on the hyperboloid.

    Example:
        >>> import torch
        >>> precision(torch.float32).usable_radius
        9.0
    """

    #: Geodesic radius up to which *ambient* coordinates still resolve a unit step: about (1 + p/2) ln 2
    #: for p significand bits, since x_t² - |x_s|² = k is then lost in rounding.
    usable_radius: float
    #: Largest coordinate we compute with. A product of three, as in the gradients of log and transport, summed over
    #: 2^12 coordinates must not overflow where it is computed (see `working`), nor a norm in the dtype itself.
    max_coordinate: float
    #: Norms below this count as zero: their reciprocal times an ordinary gradient must stay finite.
    min_norm: float
    #: |<x,x> - 1/K| allowed on the hyperboloid, relative to x_t² (the size of the two terms that cancel).
    sheet_tolerance: float


def precision(dtype: torch.dtype) -> Precision:
    """The contract for ``dtype``; integers and complex numbers have none.

    Example:
        >>> import torch
        >>> precision(torch.float64).sheet_tolerance
        1e-13
    """
    # Written out, not looked up: torch.compile(dynamic=True) takes numbers found in a table for ones that may change.
    if dtype == torch.float32:
        return Precision(9.0, 2.0**38, 1e-15, 1e-5)
    if dtype == torch.float64:
        return Precision(19.0, 2.0**320, 1e-150, 1e-13)
    if dtype == torch.bfloat16:
        return Precision(3.5, 2.0**38, 1e-15, 2e-2)
    if dtype == torch.float16:
        return Precision(4.5, 2.0**9, 2e-4, 3e-3)
    raise ValueError(
        f"expected a real floating dtype (float64, float32, bfloat16 or float16), got {dtype}; "
        "convert the tensor with .float() first"
    )


def working(x: Tensor) -> Tensor:
    """``x`` in a dtype with room for squares: half precision is computed in float32, the rest as it is."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def bounded(x: Tensor) -> Tensor:
    """``x`` ready for arithmetic: in the `working` dtype, and clamped so that sums of products stay finite.

    The bound is 3e11 for float32, a point at radius 27: no usable point is touched, but a stray 1e30 then
    gives a large finite answer instead of inf - inf = NaN.
    """
    limit = precision(x.dtype).max_coordinate
    return working(x).clamp(-limit, limit)


#: 2^s + 1 for s about half the significand: the factor of Veltkamp's splitting.
_SPLITTERS = {torch.float32: 2.0**12 + 1, torch.float64: 2.0**27 + 1}


def leading(x: Tensor) -> Tensor:
    """``x`` rounded to half its significand, so that the product of two such numbers has no rounding error.

    Example:
        >>> import torch
        >>> leading(torch.tensor(1.0 + 2.0**-20)) == 1.0
        tensor(True)
    """
    large = x * _SPLITTERS[x.dtype]
    return large - (large - x)


def origin_time(K: Curvature) -> Curvature:
    """√k with k = -1/K: the time coordinate of the origin, the radius of the Poincaré and Klein balls."""
    return (-1.0 / K).sqrt() if isinstance(K, Tensor) else math.sqrt(-1.0 / K)


def max_rapidity(dtype: torch.dtype, K: Curvature = -1.0) -> Curvature:
    """Largest rapidity a point may have so that its coordinates √k·sinh stay below ``max_coordinate``."""
    limit = math.asinh(precision(dtype).max_coordinate)
    return limit + (0.5 * (-K.detach()).log() if isinstance(K, Tensor) else 0.5 * math.log(-K))


# Even functions of a are given by a²: their own slopes are right at zero, where a square root's is infinite. Slopes
# are differences of nearly equal numbers near zero, and are computed by their series there. The thresholds keep the
# first dropped term below float64's rounding. Conditions, not clamps, choose: the slope of a clamp at its bound, here
# zero itself, is 1 up to torch 2.13 and 0 since.
_SINHC_SLOPE = [i / math.factorial(2 * i + 1) for i in range(1, 9)]
_ASINHC_SLOPE = [i * (-1) ** i * math.comb(2 * i, i) / 4**i / (2 * i + 1) for i in range(1, 11)]
_SERIES_BELOW_SINH = 0.25  # a < 1/2: 9 a^16/19! = 1e-21
_SERIES_BELOW_ASINH = 0.01  # a < 1/10: 11 a^20/23 = 5e-21


def _horner(square: Tensor, coefficients: list[float]) -> Tensor:
    total = torch.full_like(square, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = total * square + c
    return total


def asinh(a: Tensor) -> Tensor:
    """Of numbers from 0 up to the square root of the largest, without a gradient: as exact as torch's, which is slow on
    processors.

    Example:
        >>> import torch
        >>> asinh(torch.tensor([0.0, 1.1752]))
        tensor([0.0000, 1.0000])
    """
    return torch.addcmul(a, a, a / (a * a).add_(1.0).sqrt_().add_(1.0)).log1p_()


class _Sinhc(Fused):
    generate_vmap_rule = True

    @staticmethod
    def forward(square: Tensor) -> Tensor:
        finfo, farthest = torch.finfo(square.dtype), float(max_rapidity(square.dtype))
        a = square.clamp(finfo.tiny, farthest**2).sqrt()
        return torch.sinh(a) / a

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        ctx.save_for_backward(inputs[0], output)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        square, value = ctx.saved_tensors
        near, beyond = square < _SERIES_BELOW_SINH, square > float(max_rapidity(square.dtype)) ** 2
        series = _horner(torch.where(near & (square >= 0), square, 0.0), _SINHC_SLOPE)
        away = torch.where(near | beyond, 1.0, square)
        cosh = (1.0 + away * value.square()).sqrt()
        return grad * torch.where(near, series, torch.where(beyond, 0.0, (cosh - value) / (2.0 * away)))


def sinhc(square: Tensor) -> Tensor:
    """sinh(a)/a as a function of a².

    Example:
        >>> import torch
        >>> sinhc(torch.tensor([0.0, 4.0]))
        tensor([1.0000, 1.8134])
    """
    return _Sinhc.apply(square) if torch.is_grad_enabled() else _Sinhc.forward(square)


class _Asinhc(Fused):
    generate_vmap_rule = True

    @staticmethod
    def forward(square: Tensor) -> Tensor:
        a = square.clamp_min(torch.finfo(square.dtype).tiny).sqrt()
        return asinh(a) / a

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        ctx.save_for_backward(inputs[0], output)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad * asinhc_slope(*ctx.saved_tensors)


def asinhc_slope(square: Tensor, value: Tensor) -> Tensor:
    """The derivative of :func:`asinhc`, whose value is known.

    Example:
        >>> import torch
        >>> square = torch.tensor([0.0, 4.0])
        >>> asinhc_slope(square, asinhc(square))
        tensor([-0.1667, -0.0343])
    """
    near = square < _SERIES_BELOW_ASINH
    series = _horner(torch.where(near & (square >= 0), square, 0.0), _ASINHC_SLOPE)
    away = torch.where(near, 1.0, square)
    return torch.where(near, series, ((1.0 + away).rsqrt() - value) / (2.0 * away))


def asinhc(square: Tensor) -> Tensor:
    """asinh(a)/a as a function of a².

    Example:
        >>> import torch
        >>> asinhc(torch.tensor([0.0, 4.0]))
        tensor([1.0000, 0.7218])
    """
    return _Asinhc.apply(square) if torch.is_grad_enabled() else _Asinhc.forward(square)


def safe_sqrt(square: Tensor) -> Tensor:
    """√a, with gradient 0 (not infinity) where a = 0: the subgradient of a norm at zero.

    Example:
        >>> import torch
        >>> a = torch.tensor([0.0, 4.0], requires_grad=True)
        >>> safe_sqrt(a).sum().backward()
        >>> a.grad
        tensor([0.0000, 0.2500])
    """
    positive = square > 0
    return torch.where(positive, torch.where(positive, square, 1.0).sqrt(), 0.0)
