r"""How well distances alone give back a hierarchy: the reconstruction protocol of Nickel and Kiela (2017).

For every pair (u, v) of the transitive closure, v an ancestor of u, rank v by its distance to u among the nodes that
are *not* ancestors of u: its descendants are among them, u itself is not. Other ancestors of u do not count, so the
best rank is 1.

- *mean rank*: the average over all pairs (u, v);
- *mean average precision*: for each node u with an ancestor, the average precision of listing all other nodes by
  distance with u's ancestors as the relevant ones; then the average over those nodes.

Equal distances count against the embedding: an unrelated node as near as the ancestor ranks before it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

#: Named in run records, so that a number is never read under another protocol.
PROTOCOL = "Nickel & Kiela 2017 reconstruction: ancestors ranked among non-ancestors, ties count against"
#: Rows measured together: bounds the memory for sorted copies, whatever the number of nodes.
_ROWS_AT_ONCE = 256


@dataclass(frozen=True)
class Reconstruction:
    """The two numbers of the protocol; 1.0 is perfect for both.

    Example:
        >>> Reconstruction(mean_rank=1.2, mean_average_precision=0.9).mean_rank
        1.2
    """

    mean_rank: float
    mean_average_precision: float


def reconstruction(distances: Tensor, is_ancestor: Tensor) -> Reconstruction:
    """Mean rank and mean average precision of a hierarchy's closure under all-pairs distances.

    Args:
        distances: entry (u, v) is the distance from u to v, any floating dtype; shape (nodes, nodes).
        is_ancestor: entry (u, v) is True if v is above u; shape (nodes, nodes).

    Example:
        >>> import torch
        >>> distances = torch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 1.5], [2.0, 1.5, 0.0]])
        >>> is_ancestor = torch.tensor([[False, False, True], [True, False, False], [False, False, False]])
        >>> reconstruction(distances, is_ancestor)
        Reconstruction(mean_rank=1.5, mean_average_precision=0.75)
    """
    _check(distances, is_ancestor)
    itself = torch.arange(len(distances), device=distances.device)
    rank_sum, precision_sum = 0.0, 0.0
    for rows in itself.split(_ROWS_AT_ONCE):
        near, above = distances[rows], is_ancestor[rows]
        unrelated = ~above & (itself != rows[:, None])
        closer_unrelated = _count_within(near, unrelated)
        # Counts v itself, so it is the number of hits when the list is cut at v.
        hits = _count_within(near, above)
        precision = hits.double() / (hits + closer_unrelated).clamp_min(1) * above
        rank_sum += ((1 + closer_unrelated) * above).sum().item()
        precision_sum += (precision.sum(-1) / above.sum(-1).clamp_min(1)).sum().item()
    return Reconstruction(
        mean_rank=rank_sum / int(is_ancestor.sum()),
        mean_average_precision=precision_sum / int(is_ancestor.any(-1).sum()),
    )


def _count_within(distances: Tensor, counted: Tensor) -> Tensor:
    """Entry (u, v): how many counted nodes of row u are at most as far from u as v is."""
    ordered = distances.masked_fill(~counted, torch.inf).sort(-1).values
    return torch.searchsorted(ordered, distances.contiguous(), right=True)


def _check(distances: Tensor, is_ancestor: Tensor) -> None:
    if distances.dim() != 2 or distances.shape[0] != distances.shape[1] or distances.shape != is_ancestor.shape:
        raise ValueError(
            "expected distances and is_ancestor of the same shape (nodes, nodes), got "
            f"{tuple(distances.shape)} and {tuple(is_ancestor.shape)}; give the distances of all pairs"
        )
    if not bool(distances.isfinite().all()):
        raise ValueError(
            "expected finite distances, got NaN or infinity; check that every embedded point is finite before measuring"
        )
    if not bool(is_ancestor.any()):
        raise ValueError("expected at least one (node, ancestor) pair, got none; is_ancestor must mark the closure")
