"""Sums of complex moduli in blocks are those of all differences at once, and so are their gradients."""

import pytest
import torch

from hybonet.tasks.knowledge_graph.models import translational as module
from hybonet.tasks.knowledge_graph.models.translational import sum_of_moduli


def moduli(x, y):
    difference = x[:, None] - y
    return torch.complex(*difference.chunk(2, dim=-1)).abs().sum(-1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("at_once", [1, 20, 1 << 17])
def test_values_and_gradients(monkeypatch, dtype, at_once):
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    x = torch.randn(5, 6, dtype=dtype, requires_grad=True)
    y = torch.randn(7, 6, dtype=dtype, requires_grad=True)
    weight = torch.randn(5, 7, dtype=dtype)
    ours, expected = sum_of_moduli(x, y), moduli(x, y)
    torch.testing.assert_close(ours, expected)
    for mine, other in zip(
        torch.autograd.grad(ours, (x, y), weight), torch.autograd.grad(expected, (x, y), weight), strict=True
    ):
        torch.testing.assert_close(mine, other)


def test_points_that_coincide_have_a_finite_gradient():
    x = torch.randn(3, 4, requires_grad=True)
    y = x.detach().clone().requires_grad_()
    sum_of_moduli(x, y).sum().backward()
    assert x.grad.isfinite().all()
    assert y.grad.isfinite().all()


def test_nothing_to_compare_with():
    assert sum_of_moduli(torch.randn(3, 4), torch.randn(0, 4)).shape == (3, 0)
