"""An oracle: the textbook formulas of the Lorentz model in 50-digit arithmetic.

The formulas are the definitions, cancellation and all: 50 digits can afford it. Tensors give only their *space*
coordinates, converted without rounding, so the oracle answers for exactly the points the library was given.
"""

from __future__ import annotations

from collections.abc import Sequence

import mpmath
from mpmath import mp, mpf
from torch import Tensor

mp.dps = 50

Vector = list[mpf]


def vector(row: Tensor) -> Vector:
    return [mpf(value) for value in row.detach().double().tolist()]


def point(space: Tensor | Vector, K: float) -> Vector:
    """The point with these space coordinates."""
    s = vector(space) if isinstance(space, Tensor) else space
    return [mpmath.sqrt(dot(s, s) - 1 / mpf(K)), *s]


def tangent(x: Vector, space: Tensor | Vector) -> Vector:
    """The tangent vector at x with these space coordinates."""
    u = vector(space) if isinstance(space, Tensor) else space
    return [dot(x[1:], u) / x[0], *u]


def dot(a: Vector, b: Vector) -> mpf:
    return mpmath.fsum(p * q for p, q in zip(a, b, strict=True))


def inner(a: Vector, b: Vector) -> mpf:
    return dot(a[1:], b[1:]) - a[0] * b[0]


def combine(*terms: tuple[mpf | int, Vector]) -> Vector:
    """Sum of coefficient times vector."""
    return [mpmath.fsum(c * v[i] for c, v in terms) for i in range(len(terms[0][1]))]


def minus(a: Vector, b: Vector) -> Vector:
    return combine((1, a), (-1, b))


def norm(u: Vector) -> mpf:
    return mpmath.sqrt(max(inner(u, u), mpf(0)))


def sqdist(x: Vector, y: Vector, K: float) -> mpf:
    return 2 / mpf(K) - 2 * inner(x, y)


def dist(x: Vector, y: Vector, K: float) -> mpf:
    return mpmath.acosh(max(K * inner(x, y), mpf(1))) / mpmath.sqrt(-mpf(K))


def expmap(x: Vector, u: Vector, K: float) -> Vector:
    a = norm(u) * mpmath.sqrt(-mpf(K))
    return combine((mpmath.cosh(a), x), (mpmath.sinh(a) / a if a else 1, u))


def logmap(x: Vector, y: Vector, K: float) -> Vector:
    c = K * inner(x, y)
    b = mpmath.acosh(max(c, mpf(1)))
    factor = b / mpmath.sinh(b) if b else mpf(1)
    return combine((factor, y), (-factor * c, x))


def transp(x: Vector, y: Vector, v: Vector, K: float) -> Vector:
    along = inner(y, v) / (-1 / mpf(K) - inner(x, y))
    return combine((1, v), (along, x), (along, y))


def centroid(points: Sequence[Vector], weights: Sequence[mpf], K: float) -> Vector:
    total = combine(*zip(weights, points, strict=True))
    return combine((1 / mpmath.sqrt(K * inner(total, total)), total))


def relative_error(value: Tensor, truth: mpf) -> float:
    return float(abs(mpf(value.item()) - truth) / abs(truth))
