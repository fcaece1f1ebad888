"""The laws of the Lorentz model as assertions, for the tests of your own layers and manifolds; and, of a whole task,
the contract that every task keeps: :func:`check_task`.

Every helper raises an ``AssertionError`` that names the law, the worst value found and the tolerance. Tolerances are
lengths on the manifold. The default is the resolution of the dtype: rounding its coordinates moves a point x by about
:math:`\\epsilon\\, x_t`, and a law may be off by 64 such steps of the farthest point.

Example:
    >>> import torch
    >>> from hybonet import Lorentz
    >>> manifold = Lorentz(K=-0.5)
    >>> x, y, z = manifold.random_normal(3, 10, 4)
    >>> assert_distance_laws(manifold, x, y, z)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from hybonet.geometry import Lorentz, dist, geodesic_norm, precision, projx, random_boost, random_rotation, transform

__all__ = [
    "assert_centroid_equivariant",
    "assert_distance_laws",
    "assert_equivariant",
    "assert_exp_log_inverse",
    "assert_gradients_finite",
    "assert_on_sheet",
    "check_task",
]

if TYPE_CHECKING:
    check_task: Callable[..., None]

#: Roundings of one coordinate that a law may be off by; a handful of operations and a boost of rapidity 1 need fewer.
_STEPS = 64


def __getattr__(name: str) -> Any:
    """Tasks are imported with the first use of their check: the laws of the manifold need none of them."""
    if name == "check_task":
        return import_module("hybonet.tasks.checks").check_task
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def assert_on_sheet(x: Tensor, *, manifold: Lorentz, tolerance: float | None = None) -> None:
    r"""Points are finite, have :math:`x_t > 0`, and satisfy :math:`\langle x, x\rangle_L = 1/K`.

    The error is relative to :math:`x_t^2 + k`, the size of the terms that cancel; ``tolerance`` defaults to the dtype's
    ``precision(dtype).sheet_tolerance``. Shapes: ``x (..., d)``.

    Example:
        >>> import torch
        >>> from hybonet import Lorentz
        >>> assert_on_sheet(torch.tensor([1.25, 0.75]), manifold=Lorentz())
        >>> assert_on_sheet(torch.tensor([1.25, 1.75]), manifold=Lorentz())
        Traceback (most recent call last):
        AssertionError: on the hyperboloid, <x,x> = 1/K: worst error 0.976 exceeds the tolerance 1e-05
    """
    allowed = precision(x.dtype).sheet_tolerance if tolerance is None else tolerance
    wide = x.detach().double()
    _hold_finite("on the hyperboloid, all coordinates finite", wide)
    _hold("on the hyperboloid, time positive", -wide[..., 0], 0.0)
    time_square, k = wide[..., 0].square(), -1.0 / manifold.curvature
    off = wide[..., 1:].square().sum(-1) - time_square + k
    _hold("on the hyperboloid, <x,x> = 1/K", off.abs() / (time_square + k), allowed)


def assert_distance_laws(
    manifold: Lorentz,
    x: Tensor,
    y: Tensor,
    z: Tensor,
    tolerance: float | None = None,
    *,
    generator: torch.Generator | None = None,
) -> None:
    r"""``manifold.dist`` is a distance, and isometries keep it.

    :math:`d(x,y) > 0` for distinct points, :math:`d(x,x) = 0`, :math:`d(x,y) = d(y,x)`,
    :math:`d(x,z) \le d(x,y) + d(y,z)`, and :math:`d(\Lambda x, \Lambda y) = d(x,y)` for a random boost
    and a random rotation :math:`\Lambda`. Shapes: ``x, y, z (..., d)``.

    Example:
        >>> import torch
        >>> from hybonet import Lorentz
        >>> class Squared(Lorentz):
        ...     def dist(self, x, y, *, keepdim=False):
        ...         return super().dist(x, y, keepdim=keepdim) ** 2
        >>> manifold = Squared()
        >>> x = manifold.lift(torch.tensor([[0.0], [1.0], [2.0]]))
        >>> assert_distance_laws(manifold, *x)
        Traceback (most recent call last):
        AssertionError: triangle inequality, d(x,z) <= d(x,y) + d(y,z): worst error 0.991 exceeds the tolerance 1.71e-05
    """
    allowed = _resolution(x, y, z) if tolerance is None else tolerance
    there = manifold.dist(x, y)
    _hold("non-negative, d(x,y) >= 0", -there, 0.0)
    apart = ((x - y).abs().amax(-1) > 0).to(there.dtype)
    _hold("positive, d(x,y) > 0 for x other than y", apart * (there <= 0), 0.0)
    _hold("zero on the diagonal, d(x,x) = 0", manifold.dist(x, x), allowed)
    _hold("symmetric, d(x,y) = d(y,x)", (there - manifold.dist(y, x)).abs(), allowed)
    detour = there + manifold.dist(y, z)
    _hold("triangle inequality, d(x,z) <= d(x,y) + d(y,z)", manifold.dist(x, z) - detour, allowed)
    for name, matrix in _isometries(x.shape[-1] - 1, generator):
        moved = manifold.dist(_moved(matrix, x, manifold), _moved(matrix, y, manifold))
        _hold(f"invariant under a {name}, d(Ax,Ay) = d(x,y)", (moved - there).abs(), allowed)


def assert_exp_log_inverse(manifold: Lorentz, x: Tensor, y: Tensor, tolerance: float | None = None) -> None:
    r"""``manifold.expmap`` and ``manifold.logmap`` undo each other: :math:`\exp_x(\log_x y) = y`, and
    :math:`|\log_x y| = d(x, y)`.

    The default tolerance also grows with :math:`\cosh d(x,y)/\sqrt{k}`, by which exp magnifies an error of direction.
    Shapes: ``x, y (..., d)``.

    Example:
        >>> from hybonet import Lorentz
        >>> manifold = Lorentz(K=-2.0)
        >>> x, y = manifold.random_normal(2, 10, 4)
        >>> assert_exp_log_inverse(manifold, x, y)
    """
    K = manifold.curvature
    between = dist(x, y, K=K)
    allowed = tolerance
    if allowed is None:
        allowed = _resolution(x, y) * torch.cosh(between.detach().double().amax() * (-K) ** 0.5).item()
    u = manifold.logmap(x, y)
    _hold("length of log, |log_x y| = d(x,y)", (geodesic_norm(x, u, K=K) - between).abs(), allowed)
    _hold("exp undoes log, exp_x(log_x y) = y", dist(manifold.expmap(x, u), y, K=K), allowed)


def assert_equivariant(
    function: Callable[[Tensor], Tensor],
    x: Tensor,
    *,
    manifold: Lorentz,
    tolerance: float | None = None,
    generator: torch.Generator | None = None,
) -> None:
    r"""``function`` commutes with isometries: :math:`f(\Lambda x) = \Lambda f(x)` for a random boost and a random
    rotation :math:`\Lambda`. Lorentz linear layers are *not* equivariant; centroids and attention are.

    Shapes: ``x (..., d)``, and whatever points ``function`` makes of it.

    Example:
        >>> from hybonet import Lorentz
        >>> manifold = Lorentz()
        >>> x = manifold.random_normal(5, 4)
        >>> assert_equivariant(lambda x: x.flip(0), x, manifold=manifold)
        >>> assert_equivariant(lambda x: manifold.lift(2 * x[..., 1:]), x, manifold=manifold, tolerance=1e-4)
        Traceback (most recent call last):
        AssertionError: equivariant under a boost, f(Ax) = Af(x): worst error 0.5 exceeds the tolerance 0.0001
    """
    result = function(x)
    allowed = _resolution(x, result) if tolerance is None else tolerance
    for name, matrix in _isometries(x.shape[-1] - 1, generator):
        error = dist(function(_moved(matrix, x, manifold)), _moved(matrix, result, manifold), K=manifold.curvature)
        _hold(f"equivariant under a {name}, f(Ax) = Af(x)", error, allowed)


def assert_centroid_equivariant(
    manifold: Lorentz,
    x: Tensor,
    weights: Tensor | None = None,
    tolerance: float | None = None,
    *,
    generator: torch.Generator | None = None,
) -> None:
    r"""``manifold.centroid`` commutes with isometries:
    :math:`\mu(\Lambda x_1, \dots, \Lambda x_n) = \Lambda\,\mu(x_1, \dots, x_n)`.

    Shapes: ``x (..., n, d)``, ``weights (..., n)``.

    Example:
        >>> import torch
        >>> from hybonet import Lorentz
        >>> manifold = Lorentz(K=-0.5)
        >>> assert_centroid_equivariant(manifold, manifold.random_normal(2, 5, 4), torch.rand(2, 5))
    """
    function = partial(manifold.centroid, weights=weights)
    assert_equivariant(function, x, manifold=manifold, tolerance=tolerance, generator=generator)


def assert_gradients_finite(function: Callable[..., Tensor], *inputs: Tensor) -> None:
    """``function(*inputs)`` is finite, and so is the gradient of its sum with respect to every input.

    Example:
        >>> import torch
        >>> assert_gradients_finite(torch.abs, torch.zeros(3))
        >>> assert_gradients_finite(torch.sqrt, torch.zeros(3))
        Traceback (most recent call last):
        AssertionError: gradient of input 0 finite: found inf, and 3 bad values of 3 exceed the tolerance 0
    """
    leaves = [given.detach().clone().requires_grad_() for given in inputs]
    value = function(*leaves)
    _hold_finite("output finite", value.detach())
    for i, gradient in enumerate(torch.autograd.grad(value.sum(), leaves, allow_unused=True)):
        if gradient is None:
            raise AssertionError(f"gradient of input {i} exists: the output does not depend on it")
        _hold_finite(f"gradient of input {i} finite", gradient)


def _hold(law: str, error: Tensor, tolerance: float) -> None:
    if error.numel() == 0:
        return
    worst = error.detach().amax().item()
    if not worst <= tolerance:  # so that NaN fails too
        raise AssertionError(f"{law}: worst error {worst:.3g} exceeds the tolerance {tolerance:.3g}")


def _hold_finite(law: str, values: Tensor) -> None:
    bad = values[~values.isfinite()]
    if bad.numel() > 0:
        found = f"found {bad[0].item()}, and {bad.numel()} bad values of {values.numel()}"
        raise AssertionError(f"{law}: {found} exceed the tolerance 0")


def _resolution(*points: Tensor) -> float:
    farthest = max(float(x[..., 0].detach().amax()) for x in points)
    return _STEPS * torch.finfo(points[0].dtype).eps * farthest


def _isometries(n: int, generator: torch.Generator | None) -> list[tuple[str, Tensor]]:
    return [
        ("boost", random_boost(n, generator=generator, dtype=torch.float64)),
        ("rotation", random_rotation(n, generator=generator, dtype=torch.float64)),
    ]


def _moved(matrix: Tensor, x: Tensor, manifold: Lorentz) -> Tensor:
    """Points moved by an isometry, rounded only once: in float64, then to the dtype, then to the hyperboloid."""
    K = manifold.curvature
    moved = transform(matrix.to(x.device), projx(x.detach().double(), K=K))
    return projx(moved.to(x.dtype), K=K)
