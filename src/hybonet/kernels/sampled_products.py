"""Some entries of a product of matrices, and no others: kernels for the hot paths, without gradients of their own."""

from __future__ import annotations

import warnings
from functools import cache

import torch
from torch import Tensor


def products_at(a: Tensor, b: Tensor, starts: Tensor, columns: Tensor) -> Tensor:
    """Entries of :math:`a b^T` at places in compressed rows, ``(A, k), (B, k) -> (len(columns),)``.

    Rows are read where they are and nothing else is written: a copy of the rows wanted, or the whole product, would
    cost many times the memory. Where :func:`are_sampled`; columns are not checked.

    Args:
        starts: where each row's places begin among the columns, and where the last one's end, ``(A + 1,)``.
        columns: rows of b wanted by the rows of a, one after the other.

    Example:
        >>> import torch
        >>> a, b = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 0.0], [0.0, 10.0]])
        >>> products_at(a, b, torch.tensor([0, 2, 3]), torch.tensor([1, 0, 1]))
        tensor([20.,  1., 40.])
    """
    let_torch_warn()
    if len(columns) > len(a) * len(b):  # more than a sparse matrix can have: rows want some of the others twice
        rows = torch.repeat_interleave(torch.arange(len(a)), starts.diff())
        return torch.linalg.vecdot(a[rows], b[columns])
    nothing = a.new_zeros(len(columns))
    wanted = torch.sparse_csr_tensor(starts, columns, nothing, (len(a), len(b)), check_invariants=False)
    return torch.sparse.sampled_addmm(wanted, a, b.T, beta=0.0).values()


def are_sampled(table: Tensor) -> bool:
    """Whether torch has the kernel behind :func:`products_at` for a matrix.

    Example:
        >>> import torch
        >>> are_sampled(torch.zeros(3, 2)), are_sampled(torch.zeros(3, 2, dtype=torch.float16))
        (True, False)
    """
    return (
        table.device.type == "cpu"
        and table.dtype in (torch.float32, torch.float64)
        and table.is_contiguous()
        and not torch.compiler.is_compiling()
    )


def row_dots(a: Tensor, b: Tensor) -> Tensor:
    """Inner products of rows, ``(N, k), (N, k) -> (N,)``, without a matrix of products: the diagonal of :math:`a b^T`.

    Example:
        >>> import torch
        >>> row_dots(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 0.0], [0.0, 10.0]]))
        tensor([ 1., 40.])
    """
    if not (are_sampled(a) and are_sampled(b)):
        return torch.linalg.vecdot(a, b)
    rows = torch.arange(len(a) + 1)
    return products_at(a, b, rows, rows[:-1])


@cache
def let_torch_warn() -> None:
    """Use up torch's one warning that compressed matrices are in beta: they are ours, not the user's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.sparse_csr_tensor([0, 0], [], [], (1, 1))
