r"""How well distances alone give back a hierarchy: the reconstruction protocol of Nickel and Kiela (2017).

For every pair (u, v) of the transitive closure, v an ancestor of u, rank v by its distance to u among the nodes that are
*not* ancestors of u (its descendants and itself included in the first case, excluded in the second: u is never its own
competitor). Other ancestors of u do not count, so the best rank is 1.

- *mean rank*: the average over all pairs (u, v);
- *mean average precision*: for each node u with an ancestor, the average precision of listing all other nodes by distance
  with u's ancestors as the relevant ones; then the average over those nodes.

Equal distances count against the embedding: an unrelated node as near as the ancestor ranks before it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

#: Named in run records, so that a number is never read under another protocol.
PROTOCOL = "Nickel & Kiela 2017 reconstruction: ancestors ranked among non-ancestors, ties count against"


@dataclass(frozen=True)
class Reconstruction:
    """The two numbers of the protocol; 1.0 is perfect for both."""

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
    unrelated = ~is_ancestor
    unrelated.fill_diagonal_(False)
    u, v = is_ancestor.nonzero(as_tuple=True)
    closer_unrelated = _count_within(distances, unrelated)[u, v]
    # Counts the ancestor itself, so it is the number of hits when the list is cut at v.
    hits = _count_within(distances, is_ancestor)[u, v]
    precision = hits.double() / (hits + closer_unrelated)
    ancestors = is_ancestor.sum(-1)
    summed = torch.zeros(len(distances), dtype=torch.float64, device=precision.device).index_add_(0, u, precision)
    described = ancestors > 0
    return Reconstruction(
        mean_rank=(1 + closer_unrelated).double().mean().item(),
        mean_average_precision=(summed[described] / ancestors[described]).mean().item(),
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
