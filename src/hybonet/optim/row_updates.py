"""In-place updates of points, one row a point: the arithmetic of the Riemannian optimisers.

Everything is a row-wise linear combination of the point x, the gradient g and a buffer m, with coefficients that are
one number per row; no temporary outlives a block of rows that fits the cache. Rows come with whatever stands where time
belongs, and leave with 0: a point is stored as its space coordinates. Moments of the exact updates are ambient vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import increment_version

from hybonet.geometry.numerics import bounded, max_rapidity, precision, sinhc
from hybonet.kernels.sparse_product import row_dots

#: Elements of a block: large enough to keep all threads busy, small enough that temporaries do not add up.
BLOCK = 1 << 19


def dot(a: Tensor, b: Tensor) -> Tensor:
    return row_dots(a, b)[:, None]


def norm_square(a: Tensor) -> Tensor:
    """a·a row by row, in one pass."""
    return torch.linalg.vector_norm(a, dim=-1, keepdim=True).square()


def in_blocks(update: Callable[..., None], tensors: list[Tensor | None], **constants: Any) -> None:
    """Call an in-place row update on blocks of rows of tensors ``(rows, ...)`` that belong together."""
    first = tensors[0]
    assert first is not None
    rows = max(1, BLOCK // first.shape[1])
    for start in range(0, first.shape[0], rows):
        update(*(None if t is None else t[start : start + rows] for t in tensors), **constants)


def riemannian_gradient(x: Tensor, g: Tensor, k: float | Tensor) -> Tensor:
    """J g + (x·g) x/k."""
    r = torch.addcmul(g, x, dot(x, g) / k)
    r[:, :1] -= 2.0 * g[:, :1]
    return bounded(r)


def tangent_square(x_time: Tensor, u: Tensor, u_time: Tensor, k: float | Tensor) -> Tensor:
    """<u,u>/k of a tangent vector, held above what rounding may take from it: its exact lower bound |u_s|²/x_t²."""
    time_square = u_time.square()
    space_square = (norm_square(u) - time_square).clamp_min(0.0)
    return torch.maximum((space_square - time_square) / k, space_square / x_time.square())


def move(x: Tensor, u: Tensor, m: Tensor | None, k: float | Tensor) -> None:
    """x <- exp_x(u) and m <- m carried along, both in place; u is projected to the tangent space first.

    With a = |u|/√k: exp_x(u) = cosh(a) x + sinhc(a) u, and transport along the same geodesic is
    m + <u,m> (½ sinhc(a/2)² u + sinhc(a) x)/k.
    """
    u = torch.addcmul(u, x, (dot(x, u) - 2.0 * x[:, :1] * u[:, :1]) / k)
    # A step to beyond the representable radius is cut, so that it stays a step; its length is taken of u/max|u|, since
    # the square of a huge gradient overflows.
    size = u.abs().amax(-1, keepdim=True).clamp_min(torch.finfo(u.dtype).tiny)
    u = u / size
    square = tangent_square(x[:, :1], u, u[:, :1], k)
    limit = 0.5 * max_rapidity(x.dtype)
    size = torch.minimum(size, limit / square.sqrt())
    u, square = u * size, square * size.square()
    half = 0.5 * sinhc(square / 4).square()
    straight = sinhc(square)
    if m is not None:
        along = (dot(u, m) - 2.0 * u[:, :1] * m[:, :1]) / k
        m.copy_(bounded(m.addcmul_(u, along * half).addcmul_(x, along * straight)))
    x.mul_(1.0 + square * half).addcmul_(u, straight)
    _without_time(x)


def fill_time(x: Tensor, k: float | Tensor) -> Tensor:
    """Time from space, in place; and returned, ``(..., 1)``."""
    place = x[..., :1].fill_(k**0.5)  # then the length of a row is its time
    time = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    place.copy_(time)
    return time


def _placed(x: Tensor, k: float | Tensor) -> Tensor:
    """:func:`fill_time`; start values beyond the largest coordinate are cut."""
    time, limit = fill_time(x, k), _largest_coordinate(x.dtype)
    if not _all_within(limit, time):
        x.clamp_(-limit, limit)
        time = fill_time(x, k)
    return time


def _without_time(x: Tensor) -> None:
    """Time away, in place, and coordinates cut where the next gradient, (x·g) x, could overflow.

    That is far beyond the dtype's usable radius. Where none is so large, as always in a sound training, space is only
    read.
    """
    limit = _largest_coordinate(x.dtype)
    x[..., :1] = 0.0
    if not _all_within(limit, x):
        x.clamp_(-limit, limit)


def _largest_coordinate(dtype: torch.dtype) -> float:
    return precision(dtype).max_coordinate ** 0.5


def _longest_gradient(dtype: torch.dtype) -> float:
    """Of a row, as the manifold measures it: squares of its ambient coordinates are finite wherever points may be."""
    return precision(dtype).max_coordinate


def _all_within(limit: float, *tensors: Tensor) -> bool:
    """Whether the tensors are known to be shorter; what may not be looked at is not known to be. False of NaN."""
    if torch.compiler.is_compiling() or any(t.device.type != "cpu" for t in tensors):
        return False
    return all(torch.linalg.vector_norm(t).item() <= limit for t in tensors)


def _is_needed(condition: Tensor) -> bool:
    """Whether some row is not; what cannot look, or would wait for a look, does what may be needed always."""
    return torch.compiler.is_compiling() or condition.device.type != "cpu" or not bool(condition.all())


def adam_rows(
    x: Tensor,
    g: Tensor,
    m: Tensor,
    v: Tensor,
    largest: Tensor | None,
    *,
    k: float | Tensor,
    beta1: float,
    beta2: float,
    eps: float,
    step_size: float | Tensor,
    correction2: float | Tensor,
    weight_decay: float,
) -> None:
    """One exact Riemannian Adam step: second moment a row, first moment transported along the step.

    The step is a multiple s of m itself, so the general :func:`move` shortens to two combinations of x and m; both are
    made in place, since cosh² - sinh² = 1 gives the new x from the new m. Passes over memory are all that counts here.
    """
    x_time = _placed(x, k)
    if weight_decay:
        g = torch.add(g, x, alpha=weight_decay)
    slope, g_time = dot(x, g), g[:, :1].clone()  # columns are strided: one read of each
    square = norm_square(g) - 2.0 * g_time.square() + slope.square() / k
    longest = _longest_gradient(x.dtype)
    if not _all_within(longest**2, square):
        # A gradient of any size is a direction to Adam: one that would overflow is shortened.
        size = g.abs().amax(-1, keepdim=True).clamp_min(torch.finfo(g.dtype).tiny)
        g = g / size
        slope, g_time = dot(x, g), g[:, :1].clone()
        square = (norm_square(g) - 2.0 * g_time.square() + slope.square() / k).clamp_min(torch.finfo(g.dtype).tiny)
        size = torch.minimum(size, longest / square.sqrt())
        g, slope, g_time, square = g * size, slope * size, g_time * size, square * size * size
    v.mul_(beta2).add_(square.clamp_min(0.0), alpha=1 - beta2)
    m.lerp_(g, 1 - beta1).addcmul_(x, slope / k, value=1 - beta1)
    m[:, :1] -= 2.0 * (1 - beta1) * g_time
    if largest is not None:
        torch.maximum(largest, v, out=largest)
        v = largest
    s = -step_size / ((v / correction2).sqrt() + eps)
    m_time = m[:, :1].clone()
    m_square = tangent_square(x_time, m, m_time, k)
    full = s.abs() * m_square.sqrt()
    rapidity, near = full, _largest_coordinate(x.dtype) ** 0.5 * k**0.5
    if not (_all_within(1.0, full) and _all_within(near, x_time)):  # nearly always, nothing is to be shortened
        rapidity = torch.minimum(full, _longest_step(x_time, s * m_time, k))
    sinh = torch.sinh(rapidity)
    cosh = (1.0 + sinh.square()).sqrt()
    straight = s * (sinh / full.clamp_min(torch.finfo(x.dtype).tiny))
    m.mul_(cosh).addcmul_(x, straight * m_square)
    x.addcmul_(m, straight).div_(cosh)
    x[:, :1] = 0.0
    _hold_in_range(x, m, k)


def _hold_in_range(x: Tensor, m: Tensor, k: float | Tensor) -> None:
    """Points beyond the largest coordinate brought back, and their moments with them; far beyond the usable radius."""
    limit = _largest_coordinate(x.dtype)
    if _all_within(limit, x, m):
        return
    length, size = torch.linalg.vector_norm(x, dim=-1, keepdim=True), torch.linalg.vector_norm(m, dim=-1, keepdim=True)
    largest = limit * _longest_gradient(x.dtype)
    sound = (length <= limit) & (size <= 2.0 * largest)
    if _is_needed(sound):
        x.mul_(limit / length.clamp_min(limit))
        held = torch.where(sound, m, m * (largest / size.clamp_min(largest)))
        held[:, :1] = torch.where(sound, m[:, :1], dot(x, held) / (norm_square(x) + k).sqrt())
        m.copy_(held)


def adam_rows_in_one_pass(
    x: Tensor,
    g: Tensor,
    m: Tensor,
    v: Tensor,
    *,
    k: float,
    beta1: float,
    beta2: float,
    eps: float,
    step_size: float,
    correction2: float,
    weight_decay: float,
) -> None:
    """:func:`adam_rows` without amsgrad, where :func:`hybonet.kernels.run_on` the tensors."""
    from hybonet.kernels.row_updates import adam_on_sheet

    farthest, tiny = 0.5 * float(max_rapidity(x.dtype)), torch.finfo(x.dtype).tiny
    limits = (farthest, tiny, _largest_coordinate(x.dtype), _longest_gradient(x.dtype))
    constants = (weight_decay, 1 - beta1, beta2, 1 - beta2, eps, step_size, correction2, *limits)
    adam_on_sheet(x, g, m, v, k, *constants)
    increment_version((x, m, v))


def chart_adam_in_one_pass(
    x: Tensor,
    g: Tensor,
    m: Tensor,
    v: Tensor,
    *,
    k: float,
    precondition: bool,
    beta1: float,
    beta2: float,
    eps: float,
    step_size: float,
    correction2: float,
    weight_decay: float,
) -> None:
    """Adam without amsgrad on :func:`chart_gradient`, where kernels run."""
    from hybonet.kernels.row_updates import adam_in_chart

    limits = (_largest_coordinate(x.dtype), _largest_slope(x.dtype))
    constants = (weight_decay, 1 - beta1, beta2, 1 - beta2, eps, step_size, correction2**0.5, *limits)
    adam_in_chart(x, g, m, v, k, precondition, *constants)
    increment_version((x, m, v))


def _longest_step(x_time: Tensor, outward: Tensor, k: float | Tensor) -> Tensor:
    """Rapidity allowed to a step, so that (x·g) x stays finite: no point goes beyond √max_coordinate.

    ``outward`` has the sign of the step's time component, which tells whether it leads away from the origin.
    """
    farthest = 0.5 * max_rapidity(x_time.dtype)
    radius = (x_time * (2.0 / k**0.5)).log()  # a little more than asinh(|x_s|/√k), and cheaper
    return farthest - radius.clamp_max(farthest) * (outward > 0)


def sgd_rows(
    x: Tensor,
    g: Tensor,
    m: Tensor | None,
    *,
    k: float | Tensor,
    lr: float,
    momentum: float,
    dampening: float,
    nesterov: bool,
    weight_decay: float,
) -> None:
    """One Riemannian SGD step with transported momentum."""
    _placed(x, k)
    if weight_decay:
        g = torch.add(g, x, alpha=weight_decay)
    if not _all_within(longest := _longest_gradient(x.dtype), g):
        g = g.clamp(-longest, longest)
    if m is not None and not _all_within(longest, m):  # it starts as a gradient
        m.clamp_(-longest, longest)
    r = riemannian_gradient(x, g, k)
    if m is not None:
        m.mul_(momentum).add_(r, alpha=1 - dampening)
        r = r.add_(m, alpha=momentum) if nesterov else m
    move(x, r * -lr, m, k)


def chart_step(x: Tensor, g: Tensor, k: float | Tensor, step: Callable[[Tensor], None], **options: Any) -> None:
    """A Euclidean step on the space coordinates, ``step`` of their gradient."""
    step(chart_gradient(x, g, k, **options))
    _without_time(x)


def chart_gradient(x: Tensor, g: Tensor, k: float | Tensor, *, precondition: bool, weight_decay: float = 0.0) -> Tensor:
    """The gradient in the chart x_s, as an ambient tensor with time 0; g itself if it is that already.

    Pulled back it is g_s + g_t x_s/x_t; the inverse metric of the chart, I + x_s x_sᵀ/k, then makes it Riemannian.
    Layers give gradients of the chart: their points are made of the rows' space.
    """
    if weight_decay:
        fill_time(x, k)
        g = torch.add(g, x, alpha=weight_decay)
    time = g[:, :1]
    if _is_needed(time == 0):
        fill_time(x, k)
        h = torch.addcmul(g, x, time / x[:, :1])
        h[:, 0] = 0.0
    else:
        h = g.clone() if precondition else g
    largest = _largest_slope(x.dtype)
    if not _all_within(largest, h):
        h = h.clamp(-largest, largest)
    if precondition:
        most = largest / _largest_coordinate(x.dtype)
        h.addcmul_(x, (dot(x, h) / k).clamp(-most, most))
        h[:, 0] = 0.0
    return h


def _largest_slope(dtype: torch.dtype) -> float:
    """Of a coordinate: its square, and it times a coordinate, are finite."""
    return precision(dtype).max_coordinate ** 1.5
