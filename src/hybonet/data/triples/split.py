"""A seeded split of triples into train, valid and test that leaks nothing and leaves nothing unknown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hybonet.data.triples.redundant_relations import (
    Ids,
    RedundantRelations,
    find_redundant_relations,
    first_rows,
    group_redundant,
)


@dataclass(frozen=True)
class Split:
    """Three ``(n, 3)`` tensors of triples, the redundant relations found, and what people should know.

    Example:
        >>> split_triples(torch.tensor([[0, 0, 1], [1, 0, 2], [2, 0, 0]]), valid=0, test=0).train.shape
        torch.Size([3, 3])
    """

    train: Tensor
    valid: Tensor
    test: Tensor
    redundant: tuple[RedundantRelations, ...]
    notes: tuple[str, ...]


def split_triples(
    triples: Tensor,
    *,
    valid: float = 0.05,
    test: float = 0.05,
    seed: int = 0,
    keep_together: bool = True,
    threshold: float = 0.8,
) -> Split:
    """Hold out triples at random such that every entity and relation stays in train.

    Triples that repeat each other, by an inverse, duplicate or symmetric relation, go to the same side, so that no test
    triple is answered by its copy in train. The same triples and seed give the same split, whatever the rows' order.

    Args:
        triples: ``(n, 3)`` head, relation, tail ids; repeated rows count once.
        valid, test: the shares to hold out; a share that cannot leave train without losing an entity is noted.
        keep_together: False splits repeated triples like any others.
        threshold: the share from which a relation counts as redundant
            (:func:`~hybonet.data.triples.redundant_relations.find_redundant_relations`).

    Example:
        >>> ring = torch.tensor([[i, i % 2, (i + step) % 20] for i in range(20) for step in (1, 2, 3)])
        >>> parts = split_triples(ring, valid=0.1, test=0.2, seed=1)
        >>> len(parts.train), len(parts.valid), len(parts.test)
        (42, 6, 12)
        >>> sorted(set(parts.train[:, [0, 2]].flatten().tolist())) == list(range(20))
        True
    """
    _check(triples, valid, test, seed)
    unique = triples.numpy().astype(np.int64)
    unique = unique[first_rows(unique)]
    redundant = tuple(find_redundant_relations(unique, threshold=threshold))
    group = group_redundant(unique, redundant) if keep_together else np.arange(len(unique))
    wanted_valid, wanted_test = round(valid * len(unique)), round(test * len(unique))
    held = _hold_out(unique, group, wanted_valid + wanted_test, seed)
    sizes = np.bincount(group, minlength=len(unique))
    notes = []
    available = int(sizes[held].sum())
    if available < wanted_valid + wanted_test - int(sizes.max()):
        notes.append(
            f"{available:,} triples held out instead of {wanted_valid + wanted_test:,}: the others are the last of an "
            "entity or relation"
        )
        wanted_test = round(available * test / (valid + test))
    order = held[np.argsort(_scramble(held, seed + 1), kind="stable")]
    in_test = order[np.cumsum(sizes[order]) <= wanted_test]
    part = np.zeros(len(unique), dtype=np.int8)
    part[np.isin(group, held)] = 1
    part[np.isin(group, in_test)] = 2
    for share, name, number in ((valid, "valid", 1), (test, "test", 2)):
        if share and not (part == number).any():
            raise ValueError(
                f"expected a graph of which {share:.0%} can be held out for {name}, got {len(unique):,} triples, "
                f"{available:,} of which can leave train without losing an entity or relation; give more triples, "
                "or a folder with train, valid and test files of your own"
            )
    train, valid_part, test_part = (torch.from_numpy(unique[part == number]) for number in range(3))
    return Split(train, valid_part, test_part, redundant, tuple(notes))


def _hold_out(triples: Ids, group: Ids, wanted: int, seed: int) -> Ids:
    """Groups to hold out, in random order: each leaves at least one triple of its entities and relations behind.

    One after the other, for whether a group may go depends on those that went before.
    """
    sizes = np.bincount(group, minlength=len(triples)).tolist()
    heads, relations, tails = (column.tolist() for column in triples.T)
    left_of_entity = np.bincount(np.concatenate((triples[:, 0], triples[triples[:, 0] != triples[:, 2], 2]))).tolist()
    left_of_relation = np.bincount(triples[:, 1]).tolist()
    candidates = np.flatnonzero(group == np.arange(len(group)))  # a group's number is its first triple's row
    members: dict[int, list[int]] = {}
    for row in np.flatnonzero(np.asarray(sizes)[group] > 1).tolist():
        members.setdefault(int(group[row]), []).append(row)
    held, total = [], 0
    for row in candidates[np.argsort(_scramble(candidates, seed), kind="stable")].tolist():
        if total >= wanted:
            break
        size, head, tail = sizes[row], heads[row], tails[row]
        if total + size > wanted or left_of_entity[head] <= size or left_of_entity[tail] <= size:
            continue
        going = [relations[member] for member in members.get(row, (row,))]
        if any(left_of_relation[relation] <= going.count(relation) for relation in going):
            continue
        for relation in going:
            left_of_relation[relation] -= 1
        left_of_entity[head] -= size
        if tail != head:
            left_of_entity[tail] -= size
        held.append(row)
        total += size
    return np.array(held, dtype=np.int64)


def _scramble(numbers: Ids, seed: int) -> NDArray[np.uint64]:
    """SplitMix64 of each number: a random order that no library's next version changes."""
    with np.errstate(over="ignore"):
        x = numbers.astype(np.uint64) + np.uint64(seed) * np.uint64(0xD1342543DE82EF95)
        x = (x + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


def _check(triples: Tensor, valid: float, test: float, seed: int) -> None:
    if triples.dim() != 2 or triples.shape[1] != 3 or len(triples) == 0 or triples.is_floating_point():
        raise ValueError(
            f"expected an integer tensor of triples (n, 3), got shape {tuple(triples.shape)} of {triples.dtype}; give "
            "one row of head, relation and tail ids a triple"
        )
    if int(triples.min()) < 0:
        raise ValueError(f"expected ids from 0, got {int(triples.min())}; number entities and relations from 0")
    if not (0 <= valid < 1 and 0 <= test < 1 and valid + test < 1):
        raise ValueError(
            f"expected shares valid and test of 0 or more that leave some for train, got {valid} and {test}; "
            "write e.g. valid=0.05, test=0.05"
        )
    if not 0 <= seed < 2**32:
        raise ValueError(f"expected a seed from 0 to 2**32 - 1, got {seed}; choose a smaller one")
