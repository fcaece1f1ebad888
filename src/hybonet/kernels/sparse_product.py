"""Sums over neighbours as products with a sparse matrix in compressed rows, with a backward of the same kind."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from hybonet.kernels.sampled_products import let_torch_warn


def compressed(rows: Tensor, columns: Tensor, values: Tensor, size: tuple[int, int]) -> Tensor:
    """The sparse matrix with the given entries, in compressed rows; entries at one place add up in products.

    Sorting by rows is all the work, and entries that are sorted already are left as they are.

    Example:
        >>> import torch
        >>> compressed(torch.tensor([1, 0]), torch.tensor([2, 0]), torch.tensor([5.0, 6.0]), (2, 3)).to_dense()
        tensor([[6., 0., 0.],
                [0., 0., 5.]])
    """
    let_torch_warn()
    if not bool((rows[1:] >= rows[:-1]).all()):
        rows, order = rows.sort()
        columns, values = columns[order], values[order]
    starts = torch.zeros(size[0] + 1, dtype=torch.long, device=rows.device)
    torch.cumsum(torch.bincount(rows, minlength=size[0]), 0, out=starts[1:])
    return torch.sparse_csr_tensor(starts, columns, values, size, check_invariants=False)


def entries(matrix: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows, columns and values of a matrix in compressed rows.

    Example:
        >>> import torch
        >>> entries(compressed(torch.tensor([0, 1]), torch.tensor([2, 0]), torch.ones(2), (2, 3)))[:2]
        (tensor([0, 1]), tensor([2, 0]))
    """
    starts, columns = matrix.crow_indices(), matrix.col_indices()
    every = torch.arange(matrix.shape[0], device=columns.device)
    rows = every.repeat_interleave(starts.diff(), output_size=len(columns))
    return rows, columns, matrix.values()


def transposed(matrix: Tensor) -> Tensor:
    """The transpose of a matrix in compressed rows, itself in compressed rows.

    Example:
        >>> import torch
        >>> transposed(compressed(torch.tensor([0, 1]), torch.tensor([2, 0]), torch.ones(2), (2, 3))).to_dense()
        tensor([[0., 1.],
                [0., 0.],
                [1., 0.]])
    """
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

    Example:
        >>> import torch
        >>> matrix = compressed(torch.tensor([0, 0]), torch.tensor([0, 1]), torch.ones(2), (1, 2))
        >>> sparse_product(matrix, torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor([[4., 6.]])
    """
    return _SparseProduct.apply(x, matrix, transpose)
