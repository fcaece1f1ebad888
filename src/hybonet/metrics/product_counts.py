"""Places of some scores of a matrix product among all of a row, without ever holding the rows.

Scores are made a tile at a time, counted while they are in the cache, and forgotten. The shape of a tile is one that
matrix products like: far from the long, low blocks that whole rows would need.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

#: Columns of a tile, and the rows that suit them.
COLUMNS, ROWS = 512, 1024
_SEVERAL = 16


class Counts(NamedTuple):
    """What ranks are made of: each row's own score, the scores at places, how many are larger, and not smaller."""

    own: Tensor
    read: Tensor
    better: Tensor
    at_least: Tensor


class Tiles:
    """The right side of products, ``(N, k)``, cut for tiles: once for all questions.

    All are of one width, the last filled up with zeros: products of another width may round differently, and equal
    entities would not tie.
    """

    def __init__(self, right: Tensor) -> None:
        self.right = right
        parts = list(right.split(COLUMNS))
        parts[-1] = F.pad(parts[-1], (0, 0, 0, COLUMNS - len(parts[-1])))
        self.columns = [part.T.contiguous() for part in parts]


@torch.autocast("cpu", enabled=False)
def product_counts(
    left: Tensor, tiles: Tiles, truth: Tensor, places: tuple[Tensor, Tensor], extra: tuple[Tensor, Tensor] | None = None
) -> Counts:
    """Counts of ``left @ right.T``, ``(b, k) x (N, k)``, around the score at each row's truth.

    Where :func:`hybonet.kernels.run_on` the right side.

    Args:
        truth: columns, ``(b,)``.
        places: rows and columns of scores to be read.
        extra: columns, ``(b,)``, and numbers, ``(b,)``, added to the scores there.
    """
    from hybonet.kernels.scoring_loops import count_tile

    if len(places[1]) and not 0 <= int(places[1].min()) <= int(places[1].max()) < len(tiles.right):
        raise IndexError(f"expected entities 0 to {len(tiles.right) - 1} to be left out, got {places[1].max()}")
    left = left.to(tiles.right.dtype)
    rows = torch.arange(len(left))
    at, numbers = (extra[0], extra[1].to(left.dtype)) if extra is not None else (rows[:0], left.new_empty(0))
    own = _own_scores(left, tiles.right, truth)
    if extra is not None:
        own += torch.where(at == truth, numbers, 0.0)
    # The truths are read again from their tiles, to see that they are what the others are compared with.
    count = len(tiles.columns)
    wanted = _ByTile(torch.cat((places[0], rows)), torch.cat((places[1], truth)), count)
    added = _ByTile(rows[: len(at)], at, count)
    numbers, read = numbers[added.order], left.new_empty(len(wanted.rows))
    better, at_least = torch.zeros(2, len(left), dtype=torch.long)
    buffer = left.new_empty(len(left), COLUMNS)
    for tile, columns in enumerate(tiles.columns):
        r, a = wanted.of(tile), added.of(tile)
        count_tile(
            torch.mm(left, columns, out=buffer),
            *(COLUMNS * tile, min(COLUMNS, len(tiles.right) - COLUMNS * tile), own, better, at_least),
            *(added.rows[a], added.columns[a], numbers[a]),
            *(wanted.rows[r], wanted.columns[r], read[r]),
        )
    in_order = torch.empty_like(read)
    in_order[wanted.order] = read
    found = Counts(own, in_order[: len(places[0])], better, at_least)
    differ = (in_order[len(places[0]) :] != own).nonzero()[:, 0]
    if len(differ):
        _count_whole_rows(differ, left, tiles.right, truth, places, extra, found)
    return found


def _own_scores(left: Tensor, right: Tensor, truth: Tensor) -> Tensor:
    """Scores at each row's truth: from products of a tile's shape, which round like the tiles."""
    own = []
    for start in range(0, len(left), COLUMNS):
        tile = torch.mm(left, Tiles(right[truth[start : start + COLUMNS]]).columns[0])
        own.append(tile[start : start + COLUMNS].diagonal().clone())
    return torch.cat(own) if own else left.new_empty(0)


class _ByTile:
    """Places of a matrix, those of a tile together."""

    def __init__(self, rows: Tensor, columns: Tensor, tiles: int) -> None:
        tile = torch.div(columns, COLUMNS, rounding_mode="floor")
        # Numbers of sixteen bits NumPy sorts by counting, many times as fast as by comparing.
        small = tile.numpy().astype(np.uint16 if tiles <= 1 << 16 else np.int64)
        self.order = torch.from_numpy(np.argsort(small, kind="stable"))
        self.rows, self.columns = rows[self.order], columns[self.order]
        self._ends = [0, *torch.bincount(tile, minlength=tiles).cumsum(0).tolist()]

    def of(self, tile: int) -> slice:
        """Which places lie in a tile."""
        return slice(self._ends[tile], self._ends[tile + 1])


def _count_whole_rows(
    rows: Tensor,
    left: Tensor,
    right: Tensor,
    truth: Tensor,
    places: tuple[Tensor, Tensor],
    extra: tuple[Tensor, Tensor] | None,
    found: Counts,
) -> None:
    """Count rows again whose truth rounds differently in its tile: all scores of a row come from one product here.

    Of several rows, since products of one may round differently from column to column.
    """
    for row in rows.tolist():
        scores = (left[row].expand(_SEVERAL, -1) @ right.T)[:1]
        if extra is not None:
            scores[0, extra[0][row]] += extra[1][row]
        own = scores[0, truth[row]]
        found.own[row] = own
        found.better[row], found.at_least[row] = (scores > own).sum(), (scores >= own).sum()
        here = places[0] == row
        found.read[here] = scores[0, places[1][here]]
