"""Rows and table with one gradient, against torch's two."""

import torch

from hybonet.kernels.norm_clipping import rows_and_table


def test_gradients_are_those_of_separate_reads():
    torch.manual_seed(0)
    start, index = torch.randn(6, 3, dtype=torch.float64), torch.tensor([4, 0, 4])
    results = []
    for together in (True, False):
        weight = start.clone().requires_grad_()
        rows, table = rows_and_table(weight, index) if together else (weight[index], weight)
        ((rows**3).sum() + (table**2).sum()).backward()
        results.append(weight.grad)
    torch.testing.assert_close(*results)


def test_either_may_go_unused():
    weight = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    index = torch.tensor([1, 1])
    assert torch.autograd.gradcheck(lambda w: rows_and_table(w, index)[0], weight)
    assert torch.autograd.gradcheck(lambda w: rows_and_table(w, index)[1].square(), weight)
    rows, _ = rows_and_table(weight, index)
    rows.sum().backward()
    assert weight.grad.sum(1).tolist() == [0, 6, 0, 0, 0, 0]
