"""Sparse matrices in compressed rows: sums over neighbours as products with one, and some entries of a product."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import torch
from torch import Tensor

#: On fewer numbers a plain product is faster than setting a sparse matrix up.
_FEW = 1 << 15


def compressed(rows: Tensor, columns: Tensor, values: Tensor, size: tuple[int, int]) -> Tensor:
    """The sparse matrix with the given entries, in compressed rows; entries at one place add up in products.

    Sorting by rows is all the work, and entries that are sorted already are left as they are.
    """
    let_torch_warn()
    if not bool((rows[1:] >= rows[:-1]).all()):
        rows, order = rows.sort()
        columns, values = columns[order], values[order]
    starts = torch.zeros(size[0] + 1, dtype=torch.long, device=rows.device)
    torch.cumsum(torch.bincount(rows, minlength=size[0]), 0, out=starts[1:])
    return torch.sparse_csr_tensor(starts, columns, values, size, check_invariants=False)


def entries(matrix: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows, columns and values of a matrix in compressed rows."""
    starts, columns = matrix.crow_indices(), matrix.col_indices()
    every = torch.arange(matrix.shape[0], device=columns.device)
    rows = every.repeat_interleave(starts.diff(), output_size=len(columns))
    return rows, columns, matrix.values()


def transposed(matrix: Tensor) -> Tensor:
    """The transpose of a matrix in compressed rows, itself in compressed rows."""
    rows, columns, values = entries(matrix)
    return compressed(columns, rows, values, (matrix.shape[1], matrix.shape[0]))


class _SparseProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, matrix: Tensor, transpose: Tensor | None) -> Tensor:
        ctx.matrix, ctx.transpose = matrix, transpose
        with torch.autocast(x.device.type, enabled=False):
            return matrix @ x

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        transpose = transposed(ctx.matrix) if ctx.transpose is None else ctx.transpose
        return _SparseProduct.apply(grad.contiguous(), transpose, ctx.matrix), None, None


def sparse_product(matrix: Tensor, x: Tensor, transpose: Tensor | None = None) -> Tensor:
    """``matrix @ x`` for a constant matrix in compressed rows, ``(n, m), (m, d) -> (n, d)``.

    Torch's own backward converts the matrix on the way and takes several times as long. The transpose that the
    backward multiplies with may be given, so that it is made once and not in every step.
    """
    return _SparseProduct.apply(x, matrix, transpose)


def products_at(a: Tensor, b: Tensor, starts: Tensor, columns: Tensor) -> Tensor:
    """Entries of :math:`a b^T` at places in compressed rows, ``(A, k), (B, k) -> (len(columns),)``.

    Rows are read where they are and nothing else is written: a copy of the rows wanted, or the whole product, would
    cost many times the memory. Where :func:`are_sampled`; columns are not checked.

    Args:
        starts: where each row's places begin among the columns, and where the last one's end, ``(A + 1,)``.
        columns: rows of b wanted by the rows of a, one after the other.
    """
    let_torch_warn()
    if len(columns) > len(a) * len(b):  # more than a sparse matrix can have: rows want some of the others twice
        rows = torch.repeat_interleave(torch.arange(len(a)), starts.diff())
        return torch.linalg.vecdot(a[rows], b[columns])
    nothing = a.new_zeros(len(columns))
    wanted = torch.sparse_csr_tensor(starts, columns, nothing, (len(a), len(b)), check_invariants=False)
    return torch.sparse.sampled_addmm(wanted, a, b.T, beta=0.0).values()


def are_sampled(table: Tensor) -> bool:
    """Whether torch has the kernel behind :func:`products_at` for a matrix."""
    return (
        table.device.type == "cpu"
        and table.dtype in (torch.float32, torch.float64)
        and table.is_contiguous()
        and not torch.compiler.is_compiling()
    )


def row_dots(a: Tensor, b: Tensor) -> Tensor:
    """Inner products of rows, ``(N, k), (N, k) -> (N,)``: the diagonal of :math:`a b^T`, without the matrix."""
    if a.numel() < _FEW or not (are_sampled(a) and are_sampled(b)):
        return torch.linalg.vecdot(a, b)
    rows = torch.arange(len(a) + 1)
    return products_at(a, b, rows, rows[:-1])


@cache
def let_torch_warn() -> None:
    """Use up torch's one warning that compressed matrices are in beta: they are ours, not the user's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.sparse_csr_tensor([0, 0], [], [], (1, 1))
