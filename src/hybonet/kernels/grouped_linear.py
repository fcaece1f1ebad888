"""A small linear map of its own for each row, chosen by number, and its gradients."""

from __future__ import annotations

from typing import Any

from numba import prange

from hybonet.kernels.parallel import parallel


@parallel
def rows_times(x: Any, weight: Any, group: Any, out: Any) -> None:
    """:math:`W_{g_i} x_i`, ``(B, n), (G, m, n), (B,) -> (B, m)``."""
    for row in prange(len(x)):
        number = group[row]
        for o in range(weight.shape[1]):
            total = x.dtype.type(0)
            for d in range(weight.shape[2]):
                total += weight[number, o, d] * x[row, d]
            out[row, o] = total


@parallel
def back_to_rows(gradient: Any, weight: Any, group: Any, of_x: Any) -> None:
    """:math:`W_{g_i}^T` times the gradient of a row, ``(B, m) -> (B, n)``."""
    for row in prange(len(gradient)):
        number = group[row]
        of_x[row] = 0
        for o in range(weight.shape[1]):
            for d in range(weight.shape[2]):
                of_x[row, d] += gradient[row, o] * weight[number, o, d]


@parallel
def back_to_maps(gradient: Any, x: Any, group: Any, of_weight: Any) -> None:
    """Each map's sum of outer products over its rows, ``(G, m, n)``: a thread has some of the m for all maps."""
    for o in prange(of_weight.shape[1]):
        for number in range(len(of_weight)):
            of_weight[number, o] = 0
        for row in range(len(x)):
            number, g = group[row], gradient[row, o]
            for d in range(of_weight.shape[2]):
                of_weight[number, o, d] += g * x[row, d]
