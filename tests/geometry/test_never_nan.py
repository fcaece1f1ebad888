"""For any finite input, neither values nor gradients are NaN, and infinity comes only where a dtype overflows.

Inputs are arbitrary: off the hyperboloid, not tangent, as large as floats get, subnormal, zero.
"""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hybonet import geometry as G

ROWS, DIMS = 4, 4
BOOST = G.random_boost(DIMS - 1, rapidity=2.0, generator=torch.Generator().manual_seed(0))

FUNCTIONS = {
    "inner": lambda x, y, K: G.inner(x, y),
    "cinner": lambda x, y, K: G.cinner(x, y),
    "lift": lambda x, y, K: G.lift(x, K=K),
    "time_of": lambda x, y, K: G.time_of(x, K=K),
    "projx": lambda x, y, K: G.projx(x, K=K),
    "proju": lambda x, y, K: G.proju(x, y, K=K),
    "tangent_at": lambda x, y, K: G.tangent_at(x, y[..., 1:]),
    "tangent_sqnorm": lambda x, y, K: G.tangent_sqnorm(x, y, K=K),
    "geodesic_norm": lambda x, y, K: G.geodesic_norm(x, y, K=K),
    "egrad2rgrad": lambda x, y, K: G.egrad2rgrad(x, y, K=K),
    "sqdist": lambda x, y, K: G.sqdist(x, y, K=K),
    "dist": lambda x, y, K: G.dist(x, y, K=K),
    "dist0": lambda x, y, K: G.dist0(x, K=K),
    "geodesic_of": lambda x, y, K: G.geodesic_of(x, K=K),
    "csqdist": lambda x, y, K: G.csqdist(x, y, K=K),
    "cdist": lambda x, y, K: G.cdist(x, y, K=K),
    "expmap": lambda x, y, K: G.expmap(x, y, K=K),
    "expmap0": lambda x, y, K: G.expmap0(x, K=K),
    "logmap": lambda x, y, K: G.logmap(x, y, K=K),
    "logmap0": lambda x, y, K: G.logmap0(x, K=K),
    "transp": lambda x, y, K: G.transp(x, y, (x + y).detach().clamp(-1e30, 1e30), K=K),
    "transp of v": lambda x, y, K: G.transp(x.detach(), x.detach().flip(0), y, K=K),
    "transp0": lambda x, y, K: G.transp0(x, y, K=K),
    "centroid": lambda x, y, K: G.centroid(x, y[..., 0], K=K),
    "centroid, equal weights": lambda x, y, K: G.centroid(torch.stack((x, y)), K=K),
    "to_sheet": lambda x, y, K: G.to_sheet(x, K=K),
    "to_poincare": lambda x, y, K: G.to_poincare(x, K=K),
    "from_poincare": lambda x, y, K: G.from_poincare(x, K=K),
    "to_klein": lambda x, y, K: G.to_klein(x, K=K),
    "from_klein": lambda x, y, K: G.from_klein(x, K=K),
    "transform": lambda x, y, K: G.transform(BOOST.to(x.dtype), x),
}
# Public names that take no tensor of numbers, or are tested with their own preconditions.
NOT_FUZZED = {"Curvature", "Lorentz", "Precision", "precision", "origin", "boost", "rotation"}
NOT_FUZZED |= {"random_normal", "random_boost", "random_rotation"}
# Results that stay finite whatever comes in.
FINITE = {"lift", "projx", "dist", "dist0", "expmap", "expmap0", "logmap0", "to_sheet", "to_poincare", "to_klein"}
FINITE |= {"from_poincare", "from_klein", "centroid", "centroid, equal weights"}

# The edges of float32, and of what the library computes with, beside whatever hypothesis invents.
EDGES = [0.0, -0.0, 1.0, -1.0, 1e-4, 2000.0, -2000.0, 1e-45, -1e-40, 1e-38, 1e-30, 1e-19, 1e-16, 1e-15, 1e-14]
EDGES += [2.0**38, -(2.0**38), 2.0**37, 1e15, 1e19, -1.8e19, 1e20, 1e30, -1e30, 3.4e38, -3.4e38]
EDGES = torch.tensor(EDGES).tolist()
numbers = st.one_of(st.sampled_from(EDGES), st.floats(width=32, allow_nan=False, allow_infinity=False))
arrays = st.lists(numbers, min_size=ROWS * DIMS, max_size=ROWS * DIMS)


def matrix(values: list[float], dtype: torch.dtype) -> torch.Tensor:
    x = torch.tensor(values, dtype=dtype).reshape(ROWS, DIMS)
    if dtype == torch.float64:  # stretch the exponents of float32 to those of float64
        x = (x.sign() * x.abs() ** 8).clamp(torch.finfo(dtype).min, torch.finfo(dtype).max)
    return x.requires_grad_()


def test_every_public_function_is_fuzzed():
    assert {name.split(",")[0].split(" ")[0] for name in FUNCTIONS} == set(G.__all__) - NOT_FUZZED


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(a=arrays, b=arrays, K=st.sampled_from([-1.0, -0.3, -2.5]), double=st.booleans(), same=st.booleans())
def test_no_nan(name, a, b, K, double, same):
    dtype = torch.float64 if double else torch.float32
    x, y = matrix(a, dtype), matrix(a if same else b, dtype)
    curvature = torch.tensor(K, dtype=dtype, requires_grad=True)
    value = FUNCTIONS[name](x, y, curvature)
    assert value.dtype == dtype
    assert not value.isnan().any()
    if name in FINITE:
        assert value.isfinite().all()
    signs = torch.ones_like(value)
    signs.view(-1)[::2] = -1.0
    for weights in (torch.ones_like(value), signs):
        for grad in torch.autograd.grad(value, (x, y, curvature), weights, allow_unused=True, retain_graph=True):
            assert grad is None or not grad.isnan().any()
