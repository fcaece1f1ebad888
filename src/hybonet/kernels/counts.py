"""Places of scores among others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from hybonet.kernels.parallel import parallel


@parallel
def count_tile(
    scores: Any,
    first_column: int,
    columns: int,
    limits: Any,
    better: Any,
    at_least: Any,
    extra_rows: Any,
    extra_columns: Any,
    extra: Any,
    read_rows: Any,
    read_columns: Any,
    read: Any,
) -> None:
    """Add to the counts of scores above a row's limit, and of those not below, what a tile has in its first columns.

    First the numbers ``extra`` are added at their places, and scores are read at others; columns are those of the
    whole matrix. A tile has fewer than 2²⁴ columns: they are counted as floats, which the processor compares and adds
    at one width.
    """
    for place in range(len(extra)):
        scores[extra_rows[place], extra_columns[place] - first_column] += extra[place]
    for place in range(len(read)):
        read[place] = scores[read_rows[place], read_columns[place] - first_column]
    for row in prange(len(scores)):
        limit, larger, not_smaller = limits[row], np.float32(0), np.float32(0)
        for column in range(columns):
            score = scores[row, column]
            larger += np.float32(1) if score > limit else np.float32(0)
            not_smaller += np.float32(1) if score >= limit else np.float32(0)
        better[row] += int(larger)
        at_least[row] += int(not_smaller)
