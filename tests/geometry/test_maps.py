"""Exponential and logarithmic maps, transport, random points: oracles and laws.

Ambient coordinates of a point or tangent vector at radius r are rounded to eps·cosh(r) in geodesic length. That is the
yardstick for every bound here: no function that returns coordinates can do better.
"""

from __future__ import annotations

import math

import pytest
import torch

from hybonet import geometry as G
from hybonet.testing import assert_exp_log_inverse, assert_on_sheet

from . import exact
from .cases import KINDS, geoopt_peer, over_curvatures, over_dtypes, pairs, seeded

RADII = {torch.float32: (1e-4, 1.0, 3.0, 6.0, 8.0), torch.float64: (1e-4, 1.0, 6.0, 15.0)}
SEPARATIONS = (0.001, 0.1, 1.0, 3.0)


def cases(dtype):
    return [(r, s, kind) for r in RADII[dtype] for s in SEPARATIONS for kind in KINDS]


@over_dtypes
@over_curvatures
def test_expmap_against_the_oracle(dtype, K):
    for radius, separation, kind in cases(dtype):
        xs, _, us = pairs(dtype, K, radius, separation, kind, n=4)
        x = G.lift(xs, K=K)
        y = G.expmap(x, G.tangent_at(x, us), K=K)
        # Rounding u turns it by eps·cosh(r); a step of length s magnifies the turn to sinh(s) ≤ e^s.
        allowed = 4 * torch.finfo(dtype).eps * math.cosh(radius) * math.exp(separation)
        for i in range(4):
            start = exact.point(xs[i], K)
            truth = exact.expmap(start, exact.tangent(start, us[i]), K)
            assert exact.dist(exact.point(y[i, 1:], K), truth, -1.0 * -K) <= allowed if K == 1 else True
            assert exact.dist(exact.point(y[i, 1:], K), truth, K) * math.sqrt(-K) <= allowed
