"""What the tests are run over: dtypes, curvatures, and pairs of points at a given radius and separation."""

from __future__ import annotations

import geoopt
import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

CURVATURES = (-1.0, -0.3, -2.5)
KINDS = ("radial", "tangential", "random")

over_dtypes = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
over_curvatures = pytest.mark.parametrize("K", CURVATURES)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def geoopt_peer(K: float) -> geoopt.Lorentz:
    """geoopt's manifold of curvature K: its k is -1/K, and would be stored in float32 if given as a float."""
    return geoopt.Lorentz(k=torch.tensor(-1 / K, dtype=torch.float64))


def pairs(
    dtype: torch.dtype, K: float, radius: float, separation: float, kind: str, *, n: int = 6, dims: int = 4
) -> tuple[Tensor, Tensor, Tensor]:
    """Space parts of x at the radius, of y at the separation from it, and of log_x(y), made in float64 and rounded.

    Radius and separation are in units of √k, so that every curvature meets the same shapes. The direction from x to y
    is along the radius (in or out), across it, or anything.
    """
    g = seeded()
    axis = normalize(torch.randn(n, dims, dtype=torch.float64, generator=g), dim=-1)
    across = torch.randn(n, dims, dtype=torch.float64, generator=g)
    across = normalize(across - (across * axis).sum(-1, keepdim=True) * axis, dim=-1)
    angle = torch.pi * torch.rand(n, 1, dtype=torch.float64, generator=g)
    if kind == "radial":
        angle = torch.pi * (angle > torch.pi / 2)
    elif kind == "tangential":
        angle = torch.full_like(angle, torch.pi / 2)
    cos, sin = torch.cos(angle), torch.sin(angle)
    r, s = torch.tensor([radius, separation], dtype=torch.float64)
    outward = ((1 + cos) * torch.sinh(r + s) + (1 - cos) * torch.sinh(r - s)) / 2
    unit = (-1 / K) ** 0.5
    x = unit * torch.sinh(r) * axis
    y = unit * (outward * axis + torch.sinh(s) * sin * across)
    u = unit * s * (torch.cosh(r) * cos * axis + sin * across)
    return x.to(dtype), y.to(dtype), u.to(dtype)
