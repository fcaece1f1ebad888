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
#: Distances measured together: bounds the memory for sorted copies.
_AT_ONCE = 10_000_000


@dataclass(frozen=True)
class Reconstruction:
    """The two numbers of the protocol; 1.0 is perfect for both.

    Example:
        >>> Reconstruction(mean_rank=1.2, mean_average_precision=0.9).mean_rank
        1.2
    """

    mean_rank: float
    mean_average_precision: float


class ReconstructionMeter:
    """Collects what some nodes find around them, a part of the nodes at a time."""

    def __init__(self) -> None:
        self.pairs, self.nodes, self.rank_sum, self.precision_sum = 0, 0, 0.0, 0.0

    def add(self, nodes: Tensor, distances: Tensor, is_ancestor: Tensor) -> None:
        """What nodes ``(n,)`` find: ``distances`` to all others and which are above, ``(n, all nodes)`` both."""
        for some in torch.arange(len(nodes), device=nodes.device).split(max(1, _AT_ONCE // distances.shape[1])):
            self._add(nodes[some], distances[some], is_ancestor[some])

    def _add(self, nodes: Tensor, distances: Tensor, above: Tensor) -> None:
        counts = above.sum(-1)
        # Ancestors stand first in each row, and where there are fewer than the most, others follow.
        place = above.byte().topk(int(counts.max()), sorted=False).indices
        is_pair = above.gather(1, place)
        ordered, order = distances.sort(-1)
        at = distances.gather(1, place)
        within = torch.searchsorted(ordered, at, right=True)
        # Counts the ancestor itself, so it is the number of hits when the list is cut there.
        hits = above.gather(1, order).cumsum(-1).gather(1, within - 1)
        unrelated = within - hits - (distances.gather(1, nodes[:, None]) <= at).long()
        precision = hits.double() / (hits + unrelated).clamp_min(1) * is_pair
        self.rank_sum += ((1 + unrelated) * is_pair).sum().item()
        self.precision_sum += (precision.sum(-1) / counts.clamp_min(1)).sum().item()
        self.pairs += int(counts.sum())
        self.nodes += int((counts > 0).sum())

    def result(self) -> Reconstruction:
        """The averages."""
        return Reconstruction(
            mean_rank=self.rank_sum / self.pairs, mean_average_precision=self.precision_sum / self.nodes
        )


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
    meter = ReconstructionMeter()
    meter.add(torch.arange(len(distances), device=distances.device), distances, is_ancestor)
    return meter.result()


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
