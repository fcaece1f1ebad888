"""What the triples of a graph say about its relations."""

from __future__ import annotations

import torch
from torch import Tensor

from hybonet.metrics.ranking import KnownTriples


def answers_per_question(triples: Tensor, num_relations: int) -> tuple[Tensor, Tensor]:
    """For each relation, how many tails a head has and how many heads a tail has, on average; 1 without triples."""
    unique = torch.unique(triples.long(), dim=0)
    count = torch.bincount(unique[:, 1], minlength=num_relations)

    def distinct(column: int) -> Tensor:
        pairs = torch.unique(unique[:, [1, column]], dim=0)
        return torch.bincount(pairs[:, 0], minlength=num_relations).clamp_min(1)

    return (count / distinct(0)).clamp_min(1.0), (count / distinct(2)).clamp_min(1.0)


def direction_shares(triples: Tensor, num_relations: int, power: float = 1.0, inverse: float = 0.5) -> Tensor:
    """Shares of a relation in scores of both directions, larger where its questions have fewer answers.

    With t tails per head and h heads per tail the shares of a relation and of its reciprocal are in proportion to
    (1 - ``inverse``) · h^``power`` and ``inverse`` · t^``power``; asked the other way round, t and h change places.
    ``(2 * num_relations,)``, reciprocal relations included. Power 1 is the weighing of Wang et al. (2014), 0 is none.

    Example:
        >>> import torch
        >>> direction_shares(torch.tensor([[0, 0, 1], [0, 0, 2], [0, 0, 3]]), 1)
        tensor([0.2500, 0.7500])
    """
    tails, heads = (each.double().log() for each in answers_per_question(triples, num_relations))
    lean = power * torch.cat((heads - tails, tails - heads))
    return torch.sigmoid(lean - torch.tensor(inverse, dtype=lean.dtype).logit()).float()  # no power overflows here


def relation_categories(triples: Tensor, num_relations: int, threshold: float = 1.5) -> list[str]:
    """Each relation's kind, 1-1, 1-N, N-1 or N-N: N where a head (tail) has more than ``threshold`` tails (heads).

    Example:
        >>> import torch
        >>> relation_categories(torch.tensor([[0, 0, 1], [0, 0, 2], [0, 0, 3]]), 1)
        ['1-N']
    """
    tails, heads = (each.tolist() for each in answers_per_question(triples, num_relations))
    sides = zip(heads, tails, strict=True)
    return [f"{'N' if left > threshold else '1'}-{'N' if right > threshold else '1'}" for left, right in sides]


def symmetric_share(triples: Tensor, num_entities: int, num_relations: int) -> Tensor:
    """For each relation, the share of its triples that are there the other way round too; 0 for one without triples.

    Example:
        >>> import torch
        >>> symmetric_share(torch.tensor([[0, 0, 1], [1, 0, 0], [0, 1, 1]]), 2, 2)
        tensor([1., 0.])
    """
    heads, relations, tails = triples.long().unbind(1)
    both_ways = KnownTriples(triples, num_entities, num_relations).contain(tails, relations, heads)
    found = torch.bincount(relations, both_ways.float(), minlength=num_relations)
    return found / torch.bincount(relations, minlength=num_relations).clamp_min(1)
