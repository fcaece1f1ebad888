"""Fixtures for all tests."""

import pytest

from hybonet import kernels


@pytest.fixture(params=["torch", "compiled"])
def either_way(request):
    """Once with torch's operations, once with compiled loops, however small the tensors."""
    if request.param == "compiled" and not kernels.available():
        pytest.skip("numba, which compiles the loops, is not installed (extra 'fast')")
    with kernels.switched(on=request.param == "compiled"):
        yield
