"""Steps of Adam on points, one row a point: the arithmetic of :mod:`hybonet.optim.row_updates` in one pass.

Loops go over whole rows, the place of time included: a loop over 31 of 32 coordinates would leave half of them to be
worked on one by one. Rows leave with 0 there: a point is stored as its space coordinates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from hybonet.kernels.parallel import parallel

#: Below it the hyperbolic sine is a short polynomial, exact to double precision.
_SHORT = 0.25


@parallel
def riemannian_squares(x: Any, g: Any, k: float, squares: Any) -> None:
    """Squared Riemannian length of each row's gradient, |g|² - 2 g_t² + (x·g)²/k."""
    number = x.dtype.type
    for row in prange(len(x)):
        square, slope = number(0), number(0)
        for d in range(x.shape[1]):
            square += g[row, d] * g[row, d]
            slope += x[row, d] * g[row, d]
        squares[row] = square - number(2) * g[row, 0] * g[row, 0] + slope * slope / number(k)


@parallel
def adam_in_chart(
    x: Any,
    g: Any,
    m: Any,
    v: Any,
    k: float,
    precondition: bool,
    weight_decay: float,
    lerp: float,
    beta2: float,
    lerp2: float,
    eps: float,
    step_size: float,
    root_correction2: float,
    limit: float,
) -> None:
    """Adam on the space part, with the gradient pulled back to it.

    ``lerp`` is 1 - beta1, ``lerp2`` 1 - beta2, ``step_size`` the rate over its correction, ``limit`` the largest
    coordinate.
    """
    number = x.dtype.type
    weight_decay, lerp, beta2, eps = number(weight_decay), number(lerp), number(beta2), number(eps)
    rest, step_size, root, limit = number(lerp2), number(step_size), number(root_correction2), number(limit)
    for row in prange(len(x)):
        x[row, 0], slope, square, pulled = 0, number(0), number(0), number(2) * weight_decay
        if g[row, 0] != 0:  # of ambient gradients alone
            for d in range(x.shape[1]):
                square += x[row, d] * x[row, d]
            pulled += g[row, 0] / np.sqrt(square + number(k))
        if precondition:
            for d in range(x.shape[1]):
                slope += x[row, d] * (g[row, d] + pulled * x[row, d])
            pulled += slope / number(k)
        v[row, 0] = 1  # nothing that time meets on the way may be divided by 0
        for d in range(x.shape[1]):
            h = g[row, d] + pulled * x[row, d]
            first = m[row, d] + lerp * (h - m[row, d])
            second = beta2 * v[row, d] + rest * h * h
            new = x[row, d] - step_size * first / (np.sqrt(second) / root + eps)
            new = limit if new > limit else (-limit if new < -limit else new)
            m[row, d], v[row, d], x[row, d] = first, second, new
        m[row, 0], v[row, 0], x[row, 0] = 0, 0, 0


@parallel
def adam_on_sheet(
    x: Any,
    g: Any,
    m: Any,
    v: Any,
    k: float,
    weight_decay: float,
    lerp: float,
    beta2: float,
    lerp2: float,
    eps: float,
    step_size: float,
    correction2: float,
    farthest: float,
    tiny: float,
) -> None:
    """The exact Riemannian step of :func:`hybonet.optim.row_updates.adam_rows`, without amsgrad."""
    number = x.dtype.type
    k, weight_decay, lerp, beta2, eps = number(k), number(weight_decay), number(lerp), number(beta2), number(eps)
    step_size, correction2, farthest, tiny = number(step_size), number(correction2), number(farthest), number(tiny)
    width, one = x.shape[1], number(1)
    far = np.exp(farthest - one) * np.sqrt(k) / number(2)  # beyond, even short steps may have to be cut
    for row in prange(len(x)):
        square, slope, space_square = number(0), number(0), number(0)
        x[row, 0] = 0
        for d in range(width):
            h = g[row, d] + weight_decay * x[row, d]
            square += h * h
            slope += x[row, d] * h
            space_square += x[row, d] * x[row, d]
        x_time = np.sqrt(space_square + k)
        x[row, 0] = x_time
        g_time = g[row, 0] + weight_decay * x_time
        slope += x_time * g_time
        square += slope * slope / k - g[row, 0] * g[row, 0] - g_time * g_time
        second = beta2 * v[row, 0] + number(lerp2) * (number(0) if square < 0 else square)
        v[row, 0] = second
        slope = slope / k + weight_decay
        length = number(0)
        m_time = m[row, 0] + lerp * (slope * x_time + g[row, 0] - number(2) * g_time - m[row, 0])
        for d in range(width):
            first = m[row, d] + lerp * (g[row, d] + slope * x[row, d] - m[row, d])
            m[row, d] = first
            length += first * first
        length -= m[row, 0] * m[row, 0]
        m_square = max((length - m_time * m_time) / k, length / (x_time * x_time))
        s = -step_size / (np.sqrt(second / correction2) + eps)
        full = abs(s) * np.sqrt(m_square)
        if full < _SHORT and x_time < far:  # nearly always, and without a costly function
            a = full * full
            series = one + a / number(20) * (one + a / number(42) * (one + a / number(72) * (one + a / number(110))))
            sinh = full + full * a / number(6) * series
        else:
            longest = farthest
            if s * m_time > 0:
                longest -= min(np.log(x_time * (number(2) / np.sqrt(k))), farthest)
            sinh = np.sinh(min(full, longest))
        cosh = np.sqrt(one + sinh * sinh)
        straight = s * (sinh / max(full, tiny))
        ahead = straight * m_square
        m[row, 0] = m_time
        for d in range(width):
            carried = cosh * m[row, d] + ahead * x[row, d]
            new = (x[row, d] + straight * carried) / cosh
            m[row, d], x[row, d] = carried, new
        x[row, 0] = 0
