"""The split: nothing leaks, nothing is left unknown, and it is the same every time."""

import time

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hybonet.data import find_redundant_relations, split_triples
from hybonet.data.triples.redundant_relations import triple_keys

triples_of_small_graphs = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 3), st.integers(0, 12)), min_size=30, max_size=150
)


def random_graph(triples: int, entities: int, relations: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    columns = [torch.randint(0, size, (triples,), generator=generator) for size in (entities, relations, entities)]
    return torch.stack(columns, dim=1)


def as_set(triples: torch.Tensor) -> set[tuple[int, ...]]:
    return {tuple(row) for row in triples.tolist()}


@settings(max_examples=60, deadline=None)
@given(rows=triples_of_small_graphs, seed=st.integers(0, 5))
def test_parts_are_disjoint_complete_and_known_in_train(rows: list[tuple[int, int, int]], seed: int) -> None:
    triples = torch.tensor(rows)
    try:
        parts = split_triples(triples, valid=0.1, test=0.1, seed=seed)
    except ValueError:  # nothing can be held out
        return
    train, valid, test = as_set(parts.train), as_set(parts.valid), as_set(parts.test)
    assert train | valid | test == as_set(triples)
    assert len(train) + len(valid) + len(test) == len(as_set(triples))
    assert valid
    assert test
    assert set(parts.train[:, [0, 2]].flatten().tolist()) == set(triples[:, [0, 2]].flatten().tolist())
    assert set(parts.train[:, 1].tolist()) == set(triples[:, 1].tolist())


@settings(max_examples=30, deadline=None)
@given(rows=triples_of_small_graphs, seed=st.integers(0, 2**31))
def test_the_rows_order_does_not_matter(rows: list[tuple[int, int, int]], seed: int) -> None:
    one = torch.tensor(rows)
    other = torch.cat((one.flip(0), one[:5]))
    for triples in (one, other):
        try:
            parts = split_triples(triples, valid=0.1, test=0.1, seed=seed)
        except ValueError:
            return
        if triples is one:
            first = parts
    assert torch.equal(first.train, parts.train)
    assert torch.equal(first.valid, parts.valid)
    assert torch.equal(first.test, parts.test)


def test_the_split_is_pinned() -> None:
    """A new version of a library must not change anyone's split."""
    triples = torch.tensor([(i % 19, i % 3, (i * i) % 23) for i in range(200)])
    parts = split_triples(triples, valid=0.02, test=0.02, seed=7)
    assert parts.valid.tolist() == [[2, 2, 6], [15, 0, 9], [15, 1, 1], [17, 0, 1]]
    assert parts.test.tolist() == [[6, 2, 12], [13, 2, 18], [16, 0, 16], [17, 1, 18]]


def test_shares_are_met_and_seeds_differ() -> None:
    triples = random_graph(5000, 200, 5)
    unique = len(as_set(triples))
    parts = split_triples(triples, valid=0.05, test=0.1, seed=0)
    assert (len(parts.valid), len(parts.test)) == (round(0.05 * unique), round(0.1 * unique))
    assert as_set(split_triples(triples, valid=0.05, test=0.1, seed=1).test) != as_set(parts.test)
    assert len(split_triples(triples, valid=0.0, test=0.1).valid) == 0


def family(pairs: int = 100) -> torch.Tensor:
    """parent (0) and child (1), which are inverses, knows (2), which is symmetric, and likes (3), which is neither."""
    generator = torch.Generator().manual_seed(3)
    rows = []
    for _ in range(pairs):
        a, b, c, d = torch.randint(0, 40, (4,), generator=generator).tolist()
        rows += [(a, 0, 40 + b), (40 + b, 1, a), (a, 2, 80 + c), (80 + c, 2, a), (a, 3, d)]
    return torch.tensor(rows)


def test_triples_that_repeat_each_other_stay_together() -> None:
    parts = split_triples(family(), valid=0.1, test=0.1)
    assert {(pair.kind, pair.first, pair.second) for pair in parts.redundant} == {
        ("inverse", 0, 1),
        ("symmetric", 2, 2),
    }
    other = {0: 1, 1: 0, 2: 2}
    for part in (parts.train, parts.valid, parts.test):
        here = as_set(part)
        for head, relation, tail in here:
            if relation in other:
                assert (tail, other[relation], head) in here


def test_triples_that_repeat_each_other_part_if_asked() -> None:
    parts = split_triples(family(), valid=0.1, test=0.1, keep_together=False)
    train = as_set(parts.train)
    assert any((tail, 2, head) in train for head, relation, tail in as_set(parts.test) if relation == 2)
    assert parts.redundant


def test_duplicate_relations_are_found_and_named() -> None:
    rows = [(i, 0, i + 50) for i in range(50)] + [(i, 1, i + 50) for i in range(45)]
    (pair,) = find_redundant_relations(np.array(rows))
    assert (pair.kind, pair.matches, pair.share) == ("duplicate", 45, 0.9)
    assert pair.describe(["plays", "plays in"]) == (
        "'plays' and 'plays in' are duplicates of each other on 90 % of their triples"
    )


def test_chance_is_not_redundancy() -> None:
    assert find_redundant_relations(random_graph(3000, 60, 4).unique(dim=0).numpy()) == []
    assert find_redundant_relations(np.array([[0, 0, 1], [1, 1, 0]])) == [], "one match may be chance"
    assert find_redundant_relations(np.array([[i, 0, i] for i in range(9)])) == [], "loops are no inverses"


def test_many_relations_between_two_entities() -> None:
    """Redundancy is judged by pairs of triples: a hundred relations on one entity pair must not hurt."""
    rows = [(a, r, b) for r in range(100) for a, b in ((0, 1), (1, 0), (2, 3), (3, 2))]
    assert len(find_redundant_relations(np.array(rows))) == 100 + 2 * (100 * 99 // 2)


def test_a_shortage_is_noted() -> None:
    star = torch.tensor([[0, 0, i] for i in range(1, 50)] + [[1, 0, i] for i in range(2, 8)])
    parts = split_triples(star, valid=0.3, test=0.3)
    assert len(parts.valid) + len(parts.test) == 7
    assert parts.notes == ("7 triples held out instead of 32: the others are the last of an entity or relation",)


@pytest.mark.parametrize(
    ("triples", "options", "message"),
    [
        (
            torch.zeros(0, 3, dtype=torch.long),
            {},
            r"expected an integer tensor of triples .* got shape \(0, 3\)",
        ),
        (torch.zeros(4, 2, dtype=torch.long), {}, r"got shape \(4, 2\)"),
        (torch.zeros(4, 3), {}, r"got shape \(4, 3\) of torch.float32"),
        (torch.tensor([[0, 0, -1]]), {}, r"expected ids from 0, got -1"),
        (random_graph(50, 5, 2), {"valid": 0.6, "test": 0.5}, r"expected shares .* got 0.6 and 0.5"),
        (random_graph(50, 5, 2), {"valid": -0.1}, r"expected shares .* got -0.1"),
        (random_graph(50, 5, 2), {"seed": -1}, r"expected a seed from 0 .* got -1"),
        (torch.tensor([[0, 0, 1], [1, 0, 2]]), {"test": 0.5, "valid": 0.0}, r"2 triples, 0 of which can leave train"),
    ],
)
def test_bad_requests_are_explained(triples: torch.Tensor, options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        split_triples(triples, **options)


def test_a_million_triples_take_seconds() -> None:
    triples = random_graph(1_000_000, 100_000, 500)
    begin = time.perf_counter()
    split_triples(triples)
    assert time.perf_counter() - begin < 10


@pytest.mark.parametrize("seed", range(5))
def test_a_relation_of_one_triple_or_of_one_pair_stays_in_train(seed: int) -> None:
    every = torch.tensor([(head, 0, tail) for head in range(12) for tail in range(12)])
    parts = split_triples(torch.cat((every, torch.tensor([(0, 1, 5)]))), valid=0.3, test=0.3, seed=seed)
    assert 1 in parts.train[:, 1]
    # Relation 1 is the inverse of 0 where there is one: it goes with it, and the last of it stays.
    pairs = ((0, 5), (7, 2), (3, 9))
    rare, some = (torch.tensor(rows) for rows in ([(t, 1, h) for h, t in pairs], [(h, 0, t) for h, t in pairs]))
    others = torch.tensor([(head, 2, tail) for head in range(12) for tail in range(12)])
    parts = split_triples(torch.cat((rare, some, others)), valid=0.45, test=0.45, seed=seed)
    assert {0, 1, 2} <= set(parts.train[:, 1].tolist())


def test_triples_that_cannot_be_numbered_are_refused() -> None:
    with pytest.raises(ValueError, match="expected a graph whose triples can be numbered in 63 bits"):
        triple_keys(np.zeros((1, 3), dtype=np.int64), 2**31, 2)
