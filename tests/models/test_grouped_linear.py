"""Both ways of a map for each row give the same values and gradients."""

import pytest
import torch

from hybonet.models import grouped_linear as module
from hybonet.models.grouped_linear import grouped_linear


@pytest.mark.parametrize("rows", [1, 7])
def test_values_and_gradients_by_group_are_those_of_a_batched_product(rows, monkeypatch):
    torch.manual_seed(0)
    weight = torch.randn(5, 4, 3, dtype=torch.float64)
    x, group = torch.randn(rows, 3, dtype=torch.float64), torch.randint(5, (rows,))
    results = []
    for limit in (1 << 30, 0):
        monkeypatch.setattr(module, "_WORTH_A_PRODUCT", limit)
        a, w = x.clone().requires_grad_(), weight.clone().requires_grad_()
        out = grouped_linear(a, w, group)
        out.square().sum().backward()
        results.append((out, a.grad, w.grad))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)
    torch.testing.assert_close(results[1][0], torch.einsum("bmn,bn->bm", weight[group], x))


def test_gradients_by_finite_differences(monkeypatch):
    monkeypatch.setattr(module, "_WORTH_A_PRODUCT", 0)
    torch.manual_seed(0)
    x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(3, 2, 3, dtype=torch.float64, requires_grad=True)
    group = torch.tensor([2, 0, 2, 2])
    assert torch.autograd.gradcheck(lambda a, w: grouped_linear(a, w, group), (x, weight))
