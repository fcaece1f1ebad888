"""Entries of a product against the whole product."""

import warnings

import pytest
import torch

from hybonet.kernels.sparse_product import are_sampled, products_at, row_dots


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_entries_are_those_of_the_product(dtype):
    torch.manual_seed(0)
    a, b = torch.randn(3, 37, dtype=dtype), torch.randn(5, 37, dtype=dtype)
    # One row wants nothing, one an entry twice.
    starts, columns = torch.tensor([0, 3, 3, 5]), torch.tensor([4, 0, 4, 2, 1])
    rows = torch.tensor([0, 0, 0, 2, 2])
    torch.testing.assert_close(products_at(a, b, starts, columns), (a @ b.T)[rows, columns])


def test_more_entries_may_be_wanted_than_the_product_has():
    a, b = torch.randn(1, 4), torch.randn(2, 4)
    columns = torch.tensor([1, 1, 0])
    torch.testing.assert_close(products_at(a, b, torch.tensor([0, 3]), columns), (a @ b.T)[0, columns])


@pytest.mark.parametrize("rows", [100, 2000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_inner_products_of_rows(dtype, rows):
    torch.manual_seed(0)
    a, b = torch.randn(rows, 33, dtype=dtype), torch.randn(rows, 33, dtype=dtype)
    assert are_sampled(a) == (dtype != torch.bfloat16)
    torch.testing.assert_close(row_dots(a, b), (a * b).sum(-1))
    torch.testing.assert_close(row_dots(a[:, 1:], b[:, 1:]), (a[:, 1:] * b[:, 1:]).sum(-1))  # not contiguous
    assert row_dots(a[:0], b[:0]).shape == (0,)


def test_torchs_warning_about_its_own_matrices_reaches_nobody():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        row_dots(torch.ones(2, 1 << 15), torch.ones(2, 1 << 15))
