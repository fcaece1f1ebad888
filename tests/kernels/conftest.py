"""Kernels are tested as the layers that use them."""

from tests.nn.conftest import K, _same_numbers_every_time, dtype, manifold  # noqa: F401
