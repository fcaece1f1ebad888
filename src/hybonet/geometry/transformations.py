"""Lorentz transformations: boosts and rotations as matrices that act on ambient coordinates."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from hybonet.geometry.lorentz import require_coordinates
from hybonet.geometry.numerics import ROTATION_TOLERANCE, bounded


def boost(velocity: Tensor) -> Tensor:
    r"""Lorentz boost matrix of a velocity :math:`v \in R^n`, :math:`|v| < 1`:
    :math:`\begin{pmatrix}\gamma & -\gamma v^T\\ -\gamma v & I + \frac{\gamma^2}{1+\gamma} v v^T\end{pmatrix}`,
    :math:`\gamma = 1/\sqrt{1 - |v|^2}`. The same for every curvature. Shapes: ``(..., n) -> (..., n + 1, n + 1)``.

    Example:
        >>> import torch
        >>> boost(torch.tensor([0.6]))
        tensor([[ 1.2500, -0.7500],
                [-0.7500,  1.2500]])
    """
    require_coordinates(velocity, 1)
    square = velocity.square().sum(-1)
    if not bool((square < 1).all()):  # also false for NaN
        raise ValueError(
            f"expected a velocity shorter than 1 (the speed of light), got length {square.max().sqrt().item():.6g}; "
            "use v / |v| * tanh(rapidity) to build one"
        )
    gamma = (1.0 - square).rsqrt().unsqueeze(-1)
    return _boost_by(gamma, gamma * velocity)


def _boost_by(gamma: Tensor, momentum: Tensor) -> Tensor:
    """Boost of cosh and (sinh · direction) of a rapidity: unlike the velocity, they are exact at any rapidity."""
    gamma, row, column = gamma.unsqueeze(-1), momentum.unsqueeze(-2), momentum.unsqueeze(-1)
    space = torch.eye(momentum.shape[-1], dtype=momentum.dtype, device=momentum.device)
    space = space + column * row / (1.0 + gamma)
    return torch.cat((torch.cat((gamma, -row), dim=-1), torch.cat((-column, space), dim=-1)), dim=-2)


def rotation(matrix: Tensor) -> Tensor:
    r"""Lorentz rotation matrix :math:`\begin{pmatrix}1 & 0\\ 0 & R\end{pmatrix}` of :math:`R \in SO(n)`.

    Shapes: ``(..., n, n) -> (..., n + 1, n + 1)``.

    Example:
        >>> import torch
        >>> rotation(torch.tensor([[0.0, -1.0], [1.0, 0.0]]))
        tensor([[ 1.,  0.,  0.],
                [ 0.,  0., -1.],
                [ 0.,  1.,  0.]])
    """
    if matrix.dim() < 2 or matrix.shape[-1] != matrix.shape[-2]:
        raise ValueError(f"expected square rotation matrices (..., n, n), got shape {tuple(matrix.shape)}")
    n = matrix.shape[-1]
    gap = (matrix.transpose(-1, -2) @ matrix - torch.eye(n, dtype=matrix.dtype, device=matrix.device)).abs().amax()
    if not bool(gap <= ROTATION_TOLERANCE * n * torch.finfo(matrix.dtype).eps):
        raise ValueError(
            f"expected an orthogonal matrix, but R^T R differs from the identity by {gap.item():.3g}; "
            "take Q of torch.linalg.qr(matrix)"
        )
    if bool((torch.linalg.det(matrix) < 0).any()):
        raise ValueError("expected determinant +1, got a reflection (-1); negate one column to make it a rotation")
    top = torch.zeros(*matrix.shape[:-2], 1, n + 1, dtype=matrix.dtype, device=matrix.device)
    top[..., 0] = 1.0
    return torch.cat((top, torch.cat((torch.zeros_like(matrix[..., :1]), matrix), dim=-1)), dim=-2)


def transform(matrix: Tensor, x: Tensor) -> Tensor:
    """Apply transformation matrices to points: ``(..., d, d), (..., n, d) -> (..., n, d)`` (or a single ``(d,)``).

    Example:
        >>> import torch
        >>> transform(boost(torch.tensor([0.6])), torch.tensor([1.0, 0.0]))
        tensor([ 1.2500, -0.7500])
    """
    return bounded(x).to(x.dtype) @ matrix.transpose(-1, -2)


def random_boost(
    n: int, *, rapidity: float = 1.0, generator: torch.Generator | None = None, **options: object
) -> Tensor:
    """A boost of the given rapidity in a uniformly random direction of n space dimensions; ``-> (n + 1, n + 1)``.

    Example:
        >>> random_boost(3).shape
        torch.Size([4, 4])
    """
    direction = torch.randn(n, generator=generator, **options)  # type: ignore[call-overload]
    gamma = direction.new_full((1,), math.cosh(rapidity))
    return _boost_by(gamma, direction / direction.norm() * math.sinh(rapidity))


def random_rotation(n: int, *, generator: torch.Generator | None = None, **options: object) -> Tensor:
    """A rotation of n space dimensions, uniform over SO(n); ``-> (n + 1, n + 1)``.

    Example:
        >>> random_rotation(3).shape
        torch.Size([4, 4])
    """
    q, r = torch.linalg.qr(torch.randn(n, n, generator=generator, **options))  # type: ignore[call-overload]
    q = q * torch.where(r.diagonal() < 0, -1.0, 1.0).to(q.dtype)  # makes the distribution uniform
    if torch.linalg.det(q) < 0:
        q[:, 0] = -q[:, 0]
    return rotation(q)
