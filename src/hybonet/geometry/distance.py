"""Distances: a cancellation-free form for pairs, GEMM forms for all pairs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from hybonet.geometry.fused import Fused, readable
from hybonet.geometry.lorentz import scaled_cinner
from hybonet.geometry.numerics import Curvature, asinh, asinhc, asinhc_slope, bounded, leading, safe_sqrt, working


def _dot(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1, keepdim=True)


def _across(y: Tensor, x: Tensor, xx: Tensor, near: Tensor) -> Tensor:
    """Component of y across x, where xx = |x|² > 0, to half as many digits again as the dtype has.

    Where ``near``, y - x stands in for y: the component is the same and the numbers are smaller. Rounding the product
    c x would leave an error of eps |y| in the result, and far out the distance magnifies it by |x|. So c x is formed
    without rounding from halves of the significands, and the little that remains along x is projected away once more.
    """
    v = torch.addcmul(y, x, near.to(x.dtype), value=-1)
    c = leading(_dot(v, x) / xx)
    high = leading(x)
    rest = torch.addcmul(torch.addcmul(v, c, high, value=-1), c, x - high, value=-1)
    return torch.addcmul(rest, _dot(rest, x) / xx, x, value=-1)


def _sqdist_of_space(x: Tensor, y: Tensor, k: Curvature) -> Tensor:
    """d²_L from space parts: every sum has terms of one sign, so nothing cancels. ``(..., n) x2 -> (..., 1)``."""
    xx, yy, xy, gap = _dot(x, x), _dot(y, y), _dot(x, y), (y - x).square().sum(-1, keepdim=True)
    times = (xx + k).sqrt() * (yy + k).sqrt()
    across = _across(y, x, torch.where(xx > 0, xx, 1.0), gap < torch.minimum(xx, yy))
    same_side = k + times + xy.clamp_min(0.0)
    # Written as products of ratios, so that fourth powers of a coordinate never appear.
    near = k * gap / same_side + (xx / same_side) * _dot(across, across)
    opposite = times + k
    far = k * (xx + yy) / opposite + (xx / opposite) * yy - xy
    return 2.0 * torch.where(xy >= 0, near, far)


def chart_gradient(x: Tensor, y: Tensor, k: Curvature) -> Tensor:
    """Gradient of d²_L with respect to the space part of x, time following along; ``(..., n) x2 -> (..., n)``.

    It is 2 (y_t x_s / x_t - y_s). Its radial part, which the inverse metric later magnifies by x_t²/k, is rewritten
    without cancellation. Near the origin there is no such magnification, and no radial direction either.
    """
    xx, yy = _dot(x, x), _dot(y, y)
    x_time, y_time = (xx + k).sqrt(), (yy + k).sqrt()
    delta = y - x
    straight = _dot(delta, x + y) / (x_time * (x_time + y_time)) * x - delta

    far = xx > k
    square = torch.where(far, xx, 1.0)
    length = square.sqrt()
    across = _across(y, x, square, _dot(delta, delta) < torch.minimum(xx, yy))
    step, y_radial = _dot(delta, x) / length, _dot(y, x) / length
    outward = y_radial > 0
    # y_t |x| - x_t y_r = (|x|² |y_across|² - k (y_r - |x|)(y_r + |x|)) / (y_t |x| + x_t y_r)
    total = torch.where(outward, y_time * length + x_time * y_radial, 1.0)
    same_side = (length / total) * length * _dot(across, across) - k * step * ((length + y_radial) / total)
    radial = torch.where(outward, same_side, y_time * length - x_time * y_radial)
    polar = (radial / x_time / length) * x - across
    return 2.0 * torch.where(far, polar, straight)


class _SquaredDistance(Fused):
    """Forward and backward in the chart: gradients sit wholly in the space coordinates.

    On the hyperboloid time is a function of space, so (0, g_s) and the ambient gradient are the same covector; this one
    survives rounding at any radius, and stays exact (zero) for coincident points.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, y: Tensor, k: Curvature) -> Tensor:
        return _sqdist_of_space(x[..., 1:], y[..., 1:], k).squeeze(-1)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Curvature], output: Tensor) -> None:
        x, y, k = inputs
        ctx.k_is_tensor = isinstance(k, Tensor)
        if ctx.k_is_tensor:
            ctx.save_for_backward(x, y, k)
        else:
            ctx.save_for_backward(x, y)
            ctx.k = k

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, y, *rest = ctx.saved_tensors
        k = rest[0] if ctx.k_is_tensor else ctx.k
        xs, ys, g = x[..., 1:], y[..., 1:], grad.unsqueeze(-1)
        pad = torch.zeros_like(grad.unsqueeze(-1))
        grad_x = torch.cat((pad, g * chart_gradient(xs, ys, k)), dim=-1) if ctx.needs_input_grad[0] else None
        grad_y = torch.cat((pad, g * chart_gradient(ys, xs, k)), dim=-1) if ctx.needs_input_grad[1] else None
        grad_k = None
        if ctx.needs_input_grad[2]:
            x_time, y_time = (_dot(xs, xs) + k).sqrt(), (_dot(ys, ys) + k).sqrt()
            gap = _dot(ys - xs, xs + ys) / (x_time + y_time)
            grad_k = (g * (gap / x_time) * (gap / y_time)).sum()
        return grad_x, grad_y, grad_k


def sqdist(x: Tensor, y: Tensor, *, K: Curvature, keepdim: bool = False) -> Tensor:
    r"""Squared Lorentzian distance :math:`d_L^2(x, y) = 2/K - 2\langle x, y\rangle_L`, without cancellation.

    Only the space parts are read. The result is exact but for the last bit or two at any radius, in float32 and in
    float64; identical points give exactly 0. Shapes: ``(..., d), (..., d) -> (...)``.

    Example:
        >>> import torch
        >>> from hybonet.geometry import lift
        >>> x = lift(torch.tensor([3000.0, 0.0]), K=-1.0)
        >>> sqdist(x, lift(torch.tensor([3000.0, 0.001]), K=-1.0), K=-1.0)
        tensor(1.0000e-06)
    """
    return wide_sqdist(x, y, K=K, keepdim=keepdim).to(x.dtype)


def wide_sqdist(x: Tensor, y: Tensor, *, K: Curvature, keepdim: bool = False) -> Tensor:
    """:func:`sqdist` in the working dtype, for functions that go on computing with it."""
    value = _SquaredDistance.apply(*torch.broadcast_tensors(bounded(x), bounded(y)), -1.0 / K)
    return value.unsqueeze(-1) if keepdim else value


def dist(x: Tensor, y: Tensor, *, K: Curvature, keepdim: bool = False) -> Tensor:
    r"""Geodesic distance :math:`2\sqrt{k}\,\mathrm{asinh}\!\left(\tfrac12\sqrt{d_L^2/k}\right)`.

    The gradient is exact for distinct points and zero (a subgradient) for coincident ones.
    Shapes: ``(..., d), (..., d) -> (...)``.

    Example:
        >>> import torch
        >>> from hybonet.geometry import lift
        >>> dist(lift(torch.zeros(2), K=-1.0), lift(torch.tensor([0.0, 1.1752]), K=-1.0), K=-1.0)
        tensor(1.0000)
    """
    return geodesic_of(wide_sqdist(x, y, K=K, keepdim=keepdim), K=K).to(x.dtype)


class _Geodesic(Fused):
    """d = 2√k asinh(a) with a = ½√(q/k), in few passes over all pairs; dd/dq = 1 / (2√k sinh(d/√k)), 0 for d = 0."""

    generate_vmap_rule = True

    @staticmethod
    def forward(square: Tensor, k: Curvature) -> Tensor:
        a = (square.sqrt() * (0.5 * k**-0.5)).clamp_max_(torch.finfo(square.dtype).max ** 0.5)
        return asinh(a).mul_(2.0 * k**0.5)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Curvature], output: Tensor) -> None:
        k = inputs[1]
        ctx.k = None if isinstance(k, Tensor) else k
        ctx.save_for_backward(output, *((k,) if isinstance(k, Tensor) else ()))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor | None]:
        d, *rest = ctx.saved_tensors
        k = rest[0] if ctx.k is None else ctx.k
        steep = torch.sinh(d * k**-0.5)
        grad_square = grad / steep.masked_fill(steep == 0, torch.inf) * (0.5 * k**-0.5)
        if not ctx.needs_input_grad[1]:
            return grad_square, None
        # With q held, dd/dk = (z - tanh z)/√k; for near points without cancelling, by d = √q asinhc(q/4k).
        z = d * (0.5 * k**-0.5)
        a = torch.sinh(z.clamp_max(1.0))
        near = -2.0 * a**3 * asinhc_slope(a.square(), asinhc(a.square()))
        return grad_square, (grad * torch.where(z < 1.0, near, z - torch.tanh(z))).sum() * k**-0.5


def geodesic_of(square: Tensor, *, K: Curvature) -> Tensor:
    r"""Geodesic distance belonging to a squared Lorentzian one; any shape.

    Example:
        >>> import torch
        >>> geodesic_of(torch.tensor([0.0, 4.0]), K=-1.0)
        tensor([0.0000, 1.7627])
    """
    return _geodesic(square.clamp_min(0.0), K)


def _geodesic(square: Tensor, K: Curvature) -> Tensor:
    wide = working(square)
    if wide.dtype != square.dtype:  # half precision overflows early: then the distance is the longest it can tell
        wide = wide.clamp_max(torch.finfo(square.dtype).max)
    return _Geodesic.apply(wide, -1.0 / K).to(square.dtype)


def dist0(x: Tensor, *, K: Curvature, keepdim: bool = False) -> Tensor:
    r"""Geodesic distance to the origin, :math:`\sqrt{k}\,\mathrm{asinh}(|x_s|/\sqrt{k})`; ``(..., d) -> (...)``.

    Example:
        >>> import torch
        >>> from hybonet.geometry import lift
        >>> dist0(lift(torch.tensor([0.0, 1.1752]), K=-1.0), K=-1.0)
        tensor(1.0000)
    """
    square = bounded(x[..., 1:]).square().sum(-1, keepdim=keepdim)
    return (safe_sqrt(square) * asinhc(-K * square)).to(x.dtype)


def csqdist(x: Tensor, y: Tensor, *, K: Curvature) -> Tensor:
    r"""Squared Lorentzian distance of all pairs by one GEMM, clamped at 0.

    Shapes: ``(..., n, d), (..., m, d) -> (..., n, m)``. Absolute error about :math:`2\epsilon\,x_t y_t`: right for
    training and ranking, not for the distance of near points far out (use :func:`sqdist`). Of ``csqdist(x, x)``, or of
    an equal copy on a processor, the diagonal is 0.

    Example:
        >>> import torch
        >>> from hybonet.geometry import lift
        >>> x = lift(torch.tensor([[0.0], [1.0]]), K=-1.0)
        >>> csqdist(x, x, K=-1.0)
        tensor([[0.0000, 0.8284],
                [0.8284, 0.0000]])
    """
    square = scaled_cinner(x, y, -2.0) + 2.0 / K
    if x is y or (readable(x) and x.shape == y.shape and x.dtype == y.dtype and torch.equal(x, y)):
        square.diagonal(dim1=-2, dim2=-1).fill_(-1.0)  # nothing lies apart from itself
    return square.relu_()  # relu: of all clamps the one that needs its result alone


def cdist(x: Tensor, y: Tensor, *, K: Curvature) -> Tensor:
    r"""Geodesic distance of all pairs by one GEMM (see :func:`csqdist` for the error).

    Shapes: ``(..., n, d), (..., m, d) -> (..., n, m)``.

    Example:
        >>> import torch
        >>> from hybonet.geometry import lift
        >>> x = lift(torch.tensor([[0.0], [1.1752]]), K=-1.0)
        >>> cdist(x, x, K=-1.0).round(decimals=2)
        tensor([[0., 1.],
                [1., 0.]])
    """
    return _geodesic(csqdist(x, y, K=K), K)
