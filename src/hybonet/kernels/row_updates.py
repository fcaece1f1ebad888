"""Steps of Adam on points, one row a point: the arithmetic of :mod:`hybonet.optim.row_updates` in one pass.

Loops go over whole rows, the place of time included: a loop over 31 of 32 coordinates would leave half of them to be
worked on one by one. Rows leave with 0 there: a point is stored as its space coordinates.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from hybonet.kernels.parallel import parallel, part

#: Below it the hyperbolic sine is a short polynomial, exact to double precision.
_SHORT = 0.25


@part
def _square(x, row):
    """The squared length of a row."""
    square = x.dtype.type(0)
    for d in range(x.shape[1]):
        square += x[row, d] * x[row, d]
    return square


@parallel
def riemannian_squares(x, g, k, squares):
    """Squared Riemannian length of each row's gradient, |g|² - 2 g_t² + (x·g)²/k."""
    number = x.dtype.type
    for row in prange(len(x)):
        square, slope = number(0), number(0)
        for d in range(x.shape[1]):
            square += g[row, d] * g[row, d]
            slope += x[row, d] * g[row, d]
        squares[row] = square - number(2) * g[row, 0] * g[row, 0] + slope * slope / number(k)


@parallel
def add_time(rows, k, limit, cut):
    """Time that puts rows on the hyperboloid, in place; coordinates beyond the limit are cut, and ``cut`` is set."""
    number = rows.dtype.type
    k, limit = number(k), number(limit)
    for row in prange(len(rows)):
        if rows[row, 0] != 0:  # a number that is written just before the row is read would hold up the processor
            rows[row, 0] = 0
        square = _square(rows, row)
        if not square < limit * limit:
            cut[0] = 1
            for d in range(rows.shape[1]):
                if abs(rows[row, d]) > limit:  # not of NaN
                    rows[row, d] = np.copysign(limit, rows[row, d])
            square = _square(rows, row)
        rows[row, 0] = np.sqrt(square + k)


@parallel
def take_time(gradient, points, of_rows):
    """The gradient of rows from that of their points: time follows from space, dt/dx = x/t."""
    for row in prange(len(points)):
        share = gradient[row, 0] / points[row, 0]
        for d in range(points.shape[1]):
            of_rows[row, d] = gradient[row, d] + share * points[row, d]
        of_rows[row, 0] = 0


@parallel
def scatter_chart(gradient, points, index, length, padding, of_table, parts):
    """The gradient of a table from that of the points of its rows, times the length; each part of it by one thread."""
    number = points.dtype.type
    length = number(length)
    for number_of_part in prange(parts):
        first, end = number_of_part * len(of_table) // parts, (number_of_part + 1) * len(of_table) // parts
        for row in range(len(points)):
            place = index[row]
            if place != padding and first <= place < end:
                share = gradient[row, 0] / points[row, 0]
                for d in range(points.shape[1]):
                    of_table[place, d] += length * (gradient[row, d] + share * points[row, d])
                of_table[place, 0] = 0


@parallel
def adam_in_chart(
    x, g, m, v, k, precondition, weight_decay, lerp, beta2, lerp2, eps, step_size, root_correction2, limit, steepest
):
    """Adam on the space part, with the gradient pulled back to it.

    ``lerp`` is 1 - beta1, ``lerp2`` 1 - beta2, ``step_size`` the rate over its correction, ``limit`` the largest
    coordinate, ``steepest`` that of a gradient.
    """
    number = x.dtype.type
    weight_decay, lerp, beta2, eps = number(weight_decay), number(lerp), number(beta2), number(eps)
    rest, step_size, root, limit = number(lerp2), number(step_size), number(root_correction2), number(limit)
    steepest = number(steepest)
    for row in prange(len(x)):
        if x[row, 0] != 0:  # a number that is written just before the row is read would hold up the processor
            x[row, 0] = 0
        slope, square, pulled = number(0), number(0), number(2) * weight_decay
        for d in range(x.shape[1]):
            slope += x[row, d] * g[row, d]
            square += g[row, d] * g[row, d]
        if not square < steepest * steepest:
            slope = number(0)
            for d in range(x.shape[1]):
                g[row, d] = min(max(g[row, d], -steepest), steepest)
                slope += x[row, d] * g[row, d]
        if g[row, 0] != 0:  # of ambient gradients alone
            pulled += g[row, 0] / np.sqrt(_square(x, row) + number(k))
        if pulled != 0:
            slope += pulled * _square(x, row)
        if precondition:
            pulled += slope / number(k)
        pulled = min(max(pulled, -steepest / limit), steepest / limit)
        for d in range(x.shape[1]):
            h = g[row, d] + pulled * x[row, d]
            first = m[row, d] + lerp * (h - m[row, d])
            second = beta2 * v[row, d] + rest * h * h
            new = x[row, d] - step_size * first / (np.sqrt(second) / root + eps)
            new = limit if new > limit else (-limit if new < -limit else new)
            m[row, d], v[row, d], x[row, d] = first, second, new
        m[row, 0], v[row, 0], x[row, 0] = 0, 0, 0


@part
def _measured(x, g, row, weight_decay, k):
    """Of a row's gradient with decay: squared Riemannian length, product with the point; and the point's time."""
    number = x.dtype.type
    square, slope, space_square = number(0), number(0), number(0)
    if x[row, 0] != 0:  # a number that is written just before the row is read would hold up the processor
        x[row, 0] = 0
    for d in range(x.shape[1]):
        h = g[row, d] + weight_decay * x[row, d]
        square += h * h
        slope += x[row, d] * h
        space_square += x[row, d] * x[row, d]
    x_time = np.sqrt(space_square + k)
    g_time = g[row, 0] + weight_decay * x_time
    slope += x_time * g_time
    return square + slope * slope / k - g[row, 0] * g[row, 0] - g_time * g_time, slope, x_time


@part
def _shorten(x, g, row, k, longest):
    """A row's gradient cut to a Riemannian length, without overflow."""
    number = x.dtype.type
    size = number(0)
    for d in range(x.shape[1]):
        size = max(size, abs(g[row, d]))
    for d in range(x.shape[1]):
        g[row, d] /= size
    square = _measured(x, g, row, number(0), k)[0]
    size = min(size, longest / np.sqrt(square)) if square > 0 else size
    for d in range(x.shape[1]):
        g[row, d] *= size


@part
def _hold(x, m, row, k, limit, large):
    """A point beyond the largest coordinate brought back, and its moment with it."""
    number = x.dtype.type
    far, size = number(0), number(0)
    for d in range(x.shape[1]):
        far, size = max(far, abs(x[row, d])), max(size, abs(m[row, d]))
    square, total, slope = number(0), number(0), number(0)
    for d in range(x.shape[1]):
        square += (x[row, d] / far) * (x[row, d] / far)
        total += (m[row, d] / size) * (m[row, d] / size)
    nearer, smaller = limit / (far * np.sqrt(square)), large / number(4) / size / np.sqrt(total)
    nearer, smaller, square = min(nearer, number(1)), min(smaller, number(1)), number(0)
    for d in range(x.shape[1]):
        x[row, d] *= nearer
        m[row, d] *= smaller
        square += x[row, d] * x[row, d]
        slope += x[row, d] * m[row, d]
    m[row, 0] = slope / np.sqrt(square + k)  # tangent at the point


@parallel
def adam_on_sheet(
    x, g, m, v, k, weight_decay, lerp, beta2, lerp2, eps, step_size, correction2, farthest, tiny, limit, longest
):
    """The exact Riemannian step of :func:`hybonet.optim.row_updates.adam_rows`, without amsgrad."""
    number = x.dtype.type
    k, weight_decay, lerp, beta2, eps = number(k), number(weight_decay), number(lerp), number(beta2), number(eps)
    step_size, correction2, farthest, tiny = number(step_size), number(correction2), number(farthest), number(tiny)
    limit, longest, large = number(limit), number(longest), number(limit * longest)
    width, one = x.shape[1], number(1)
    far = np.exp(farthest - one) * np.sqrt(k) / number(2)  # beyond, even short steps may have to be cut
    for row in prange(len(x)):
        square, slope, space_square = number(0), number(0), number(0)  # as _measured, which a call would slow down
        if x[row, 0] != 0:
            x[row, 0] = 0
        for d in range(width):
            h = g[row, d] + weight_decay * x[row, d]
            square += h * h
            slope += x[row, d] * h
            space_square += x[row, d] * x[row, d]
        x_time = np.sqrt(space_square + k)
        g_time = g[row, 0] + weight_decay * x_time
        slope += x_time * g_time
        square += slope * slope / k - g[row, 0] * g[row, 0] - g_time * g_time
        if x_time > limit:  # as start values may be
            for d in range(width):
                x[row, d] = min(max(x[row, d], -limit), limit)
            square, slope, x_time = _measured(x, g, row, weight_decay, k)
            g_time = g[row, 0] + weight_decay * x_time
        decay = weight_decay
        if not square < longest * longest:
            # A gradient of any size is a direction to Adam: one that would overflow is shortened where it stands.
            for d in range(width):
                g[row, d] += decay * x[row, d]
            g[row, 0] += decay * x_time
            decay = number(0)
            _shorten(x, g, row, k, longest / number(4))
            square, slope, x_time = _measured(x, g, row, decay, k)
            g_time = g[row, 0]
        second = beta2 * v[row, 0] + number(lerp2) * (number(0) if square < 0 else square)
        v[row, 0] = second
        slope = slope / k + decay
        length = number(0)
        m_time = m[row, 0] + lerp * (slope * x_time + g[row, 0] - number(2) * g_time - m[row, 0])
        for d in range(width):
            first = m[row, d] + lerp * (g[row, d] + slope * x[row, d] - m[row, d])
            m[row, d] = first
            length += first * first
        length -= m[row, 0] * m[row, 0]
        if length < m[row, 0] * m[row, 0] / number(16):  # too little is left: rounding, or less than nothing
            length = number(0)
            for d in range(1, width):
                length += m[row, d] * m[row, d]
        m_square = max((length - m_time * m_time) / k, length / (x_time * x_time))
        s = -step_size / (np.sqrt(second / correction2) + eps)
        full = abs(s) * np.sqrt(m_square)
        if full < _SHORT and x_time < far:  # nearly always, and without a costly function
            a = full * full
            series = one + a / number(20) * (one + a / number(42) * (one + a / number(72) * (one + a / number(110))))
            sinh = full + full * a / number(6) * series
        else:
            allowed = farthest
            if s * m_time > 0:
                allowed -= min(np.log(x_time * (number(2) / np.sqrt(k))), farthest)
            sinh = np.sinh(min(full, allowed))
        cosh_square = one + sinh * sinh
        cosh = np.sqrt(cosh_square)
        straight = s * (sinh / max(full, tiny))
        ahead, shrunk = straight * m_square, one / cosh
        # Bounds on half the squared lengths of the row and its moment: cheaper than to sum them up.
        reach = cosh_square * x_time * x_time + straight * straight * length
        size = cosh_square * (length + number(2) * m_time * m_time) + (number(2) * ahead * x_time) ** 2
        straight *= shrunk
        for d in range(width):
            carried = cosh * m[row, d] + ahead * x[row, d]
            m[row, d], x[row, d] = carried, shrunk * x[row, d] + straight * carried
        m[row, 0], x[row, 0] = cosh * m_time + ahead * x_time, 0
        if not (reach < limit * limit / number(2) and size < large * large / number(2)):
            _hold(x, m, row, k, limit, large)
