r"""How well predicted distances and depths give back dependency trees: UUAS, Dspr, Root % and Nspr.

- *UUAS*: the minimum spanning trees of predicted and of gold distances, both over words that are no punctuation;
  the share of gold edges found, over all sentences together.
- *Root*: the share of sentences whose word of least predicted depth, punctuation left out, is the gold root.
- *Dspr*: for every word the Spearman correlation of its predicted and its gold distances to all words of the sentence
  (itself and punctuation included); averaged over the words of all sentences of one length, then over the lengths from
  5 to 50.
- *Nspr*: the Spearman correlation of predicted and gold depths of a sentence, averaged likewise.

Equal distances are taken in the order of the words. A constant row has correlation 0. Sentences of nothing but
punctuation count neither for UUAS nor for Root.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

#: Named in run records, so that a number is never read under another protocol.
PROTOCOL = "Hewitt & Manning 2019: UUAS corpus-level, punctuation excluded; Dspr and Nspr by length, 5 to 50"
#: Sentence lengths over which the correlations are averaged.
LENGTHS = range(5, 51)


@dataclass(frozen=True)
class ProbeScores:
    """The four measures, each at most 1; a correlation is NaN-free: 0 if no sentence has a length from 5 to 50."""

    uuas: float
    dspr: float
    root: float
    nspr: float

    @property
    def mean(self) -> float:
        """The mean of the four, by which layers and epochs are chosen."""
        return round((self.uuas + self.dspr + self.root + self.nspr) / 4, 12)


def spanning_tree(distances: Tensor, left_out: Tensor | None = None) -> Tensor:
    """Edges of minimum spanning trees as a symmetric mask; ``(..., n, n) -> (..., n, n)``.

    The part of the matrix above the diagonal is read. Of equal distances the pair that comes first (by its first word,
    then by its second) goes first, so the tree is unique.

    Args:
        left_out: words that take no part; broadcasts against (..., n).

    Example:
        >>> tree = spanning_tree(torch.tensor([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]))
        >>> tree.triu().nonzero().tolist()
        [[0, 1], [1, 2]]
    """
    shape, n = distances.shape, distances.shape[-1]
    rows, columns = torch.triu_indices(n, n, 1, device=distances.device)
    upper = distances.reshape(-1, n, n)[:, rows, columns]
    count = len(upper)
    # Ranks instead of distances: no two are equal, and the tree is that of any order-preserving change.
    rank = torch.empty_like(upper, dtype=torch.long)
    places = torch.arange(upper.shape[-1], device=distances.device).expand(count, -1)
    rank.scatter_(1, upper.argsort(dim=-1, stable=True), places)
    weight = torch.zeros(count, n, n, dtype=torch.long, device=distances.device)
    weight[:, rows, columns] = rank
    weight = weight + weight.transpose(1, 2)
    never = n * n
    outside = torch.ones(count, n, dtype=torch.bool, device=distances.device)
    if left_out is not None:
        outside = ~left_out.expand(shape[:-1]).reshape(-1, n)
    tree = torch.zeros(count, n, n, dtype=torch.bool, device=distances.device)
    each = torch.arange(count, device=distances.device)
    # Prim's algorithm for all sentences at once: reach[i] is the least weight from the tree to i, from its word via[i].
    first = outside.long().argmax(-1)
    outside[each, first] = False
    reach, via = weight[each, first], first[:, None].expand(count, n).clone()
    for _ in range(n - 1):
        least, chosen = torch.where(outside, reach, never).min(-1)
        found = least < never
        start = via[each, chosen]
        tree[each, start, chosen] |= found
        tree[each, chosen, start] |= found
        outside[each, chosen] &= ~found
        closer = (weight[each, chosen] < reach) & found[:, None]
        reach, via = torch.where(closer, weight[each, chosen], reach), torch.where(closer, chosen[:, None], via)
    return tree.reshape(shape)


def spearman(a: Tensor, b: Tensor) -> Tensor:
    """Spearman correlation along the last dimension, equal values sharing their mean rank; ``(..., n) x2 -> (...)``."""
    x, y = mean_ranks(a), mean_ranks(b)
    x, y = x - x.mean(-1, keepdim=True), y - y.mean(-1, keepdim=True)
    lengths = (x.square().sum(-1) * y.square().sum(-1)).sqrt()
    return torch.where(lengths > 0, (x * y).sum(-1) / torch.where(lengths > 0, lengths, 1.0), 0.0)


def mean_ranks(values: Tensor) -> Tensor:
    """Ranks from 1 along the last dimension, equal values sharing their mean; ``(..., n) -> (..., n)`` in float64."""
    ordered, values = values.sort(-1).values.contiguous(), values.contiguous()
    below, upto = torch.searchsorted(ordered, values), torch.searchsorted(ordered, values, right=True)
    return (below + upto + 1).double() / 2


class ProbeMeter:
    """Adds up the measures of several layers over batches of sentences, each batch of one length."""

    def __init__(self, layers: int) -> None:
        self.layers = layers
        self.edges_found, self.edges = torch.zeros(layers, dtype=torch.double), 0
        self.roots_found, self.roots = torch.zeros(layers, dtype=torch.double), 0
        #: By length: sums over the sentences of each layer's correlations, and how many were added.
        self.of_distances: dict[int, tuple[Tensor, int]] = {}
        self.of_depths: dict[int, tuple[Tensor, int]] = {}

    def add(
        self, distances: Tensor, depths: Tensor, gold_distances: Tensor, gold_depths: Tensor, punctuation: Tensor
    ) -> None:
        """Add sentences of one length.

        Shapes: ``distances (layers, sentences, n, n)``, ``depths (layers, sentences, n)``, ``gold_distances (sentences,
        n, n)``, ``gold_depths (sentences, n)``, ``punctuation (sentences, n)``.
        """
        gold_tree = spanning_tree(gold_distances, punctuation)
        found = spanning_tree(distances, punctuation) & gold_tree
        self.edges_found += found.sum((1, 2, 3)).double() / 2
        self.edges += int(gold_tree.sum()) // 2
        has_words = ~punctuation.all(-1)
        root = depths.masked_fill(punctuation, torch.inf).argmin(-1)
        self.roots_found += ((root == gold_depths.argmin(-1)) & has_words).sum(1).double()
        self.roots += int(has_words.sum())
        n = distances.shape[-1]
        if n in LENGTHS:
            by_word = spearman(distances, gold_distances.expand(distances.shape))
            _accumulate(self.of_distances, n, by_word.mean(-1))
            _accumulate(self.of_depths, n, spearman(depths, gold_depths.expand(depths.shape)))

    def scores(self) -> list[ProbeScores]:
        """The measures of every layer."""
        uuas, root = self.edges_found / max(1, self.edges), self.roots_found / max(1, self.roots)
        dspr, nspr = (_over_lengths(sums, self.layers) for sums in (self.of_distances, self.of_depths))
        columns = (uuas.tolist(), dspr.tolist(), root.tolist(), nspr.tolist())
        return [ProbeScores(*(round(value, 12) for value in row)) for row in zip(*columns, strict=True)]


def _accumulate(sums: dict[int, tuple[Tensor, int]], length: int, values: Tensor) -> None:
    """Add ``(layers, sentences)`` values of one length."""
    before, count = sums.get(length, (torch.zeros(len(values), dtype=torch.double), 0))
    sums[length] = (before + values.sum(1), count + values.shape[1])


def _over_lengths(sums: dict[int, tuple[Tensor, int]], layers: int) -> Tensor:
    if not sums:
        return torch.zeros(layers)
    return torch.stack([total / count for total, count in sums.values()]).mean(0)
