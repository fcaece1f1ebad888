"""An oracle: the textbook formulas of the Lorentz model in 50-digit arithmetic.

The formulas are the definitions, cancellation and all: 50 digits can afford it. Inputs are the *space* coordinates of
a tensor, converted without rounding, so the oracle answers for exactly the points the library was given.
"""

from __future__ import annotations

from collections.abc import Iterable

import mpmath
import torch
from mpmath import mp, mpf
from torch import Tensor

mp.dps = 50

Vector = list[mpf]


def vector(row: Tensor) -> Vector:
    return [mpf(value) for value in row.double().tolist()]


def point(space: Tensor | Vector, K: float) -> Vector:
    s = vector(space) if isinstance(space, Tensor) else space
    return [mpmath.sqrt(dot(s, s) - 1 / mpf(K)), *s]


def tangent(x: Vector, space: Tensor | Vector) -> Vector:
    u = vector(space) if isinstance(space, Tensor) else space
    return [dot(x[1:], u) / x[0], *u]


def dot(a: Vector, b: Vector) -> mpf:
    return mpmath.fsum(p * q for p, q in zip(a, b, strict=True))


def inner(a: Vector, b: Vector) -> mpf:
    return dot(a[1:], b[1:]) - a[0] * b[0]


def combine(*terms: tuple[mpf, Vector]) -> Vector:
    return [mpmath.fsum(c * v for (c, _), v in zip(terms, column, strict=True)) for column in zip(*(v for _, v in terms), strict=True)]


def sqdist(x: Vector, y: Vector, K: float) -> mpf:
    return 2 / mpf(K) - 2 * inner(x, y)


def dist(x: Vector, y: Vector, K: float) -> mpf:
    return mpmath.acosh(max(K * inner(x, y), mpf(1))) / mpmath.sqrt(-mpf(K))


def dist0(x: Vector, K: float) -> mpf:
    return mpmath.acosh(x[0] * mpmath.sqrt(-mpf(K))) / mpmath.sqrt(-mpf(K))


def norm(u: Vector) -> mpf:
    return mpmath.sqrt(max(inner(u, u), mpf(0)))


def expmap(x: Vector, u: Vector, K: float) -> Vector:
    a = norm(u) * mpmath.sqrt(-mpf(K))
    return combine((mpmath.cosh(a), x), (mpmath.sinh(a) / a if a else mpf(1), u))


def logmap(x: Vector, y: Vector, K: float) -> Vector:
    c = K * inner(x, y)
    b = mpmath.acosh(max(c, mpf(1)))
    return combine((b / mpmath.sinh(b) if b else mpf(1), combine((mpf(1), y), (-c, x))))


def transp(x: Vector, y: Vector, v: Vector, K: float) -> Vector:
    return combine((mpf(1), v), (inner(y, v) / (-1 / mpf(K) - inner(x, y)), combine((mpf(1), x), (mpf(1), y))))


def centroid(points: Iterable[Vector], weights: Iterable[mpf], K: float) -> Vector:
    s = combine(*zip(weights, points, strict=True))
    return combine((1 / mpmath.sqrt(K * inner(s, s)), s))
