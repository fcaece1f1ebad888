"""Every layer is tested in both precisions and for several curvatures, K = -1 being the one that hides mistakes."""

import pytest
import torch

from hybonet import Lorentz

CURVATURES = (-1.0, -0.3, -2.5)


@pytest.fixture(autouse=True)
def _same_numbers_every_time():
    torch.set_num_threads(1)
    torch.manual_seed(0)


@pytest.fixture(params=(torch.float32, torch.float64), ids=("float32", "float64"))
def dtype(request):
    return request.param


@pytest.fixture(params=CURVATURES)
def K(request):
    return request.param


@pytest.fixture
def manifold(K):
    return Lorentz(K)
