"""Hierarchies: closure, depths, cycles, the shipped data."""

import hashlib
import random
from importlib import resources
from pathlib import Path

import pytest
import torch

from hybonet.data import Hierarchy, load_hierarchy

DIAMOND = [("a", "root"), ("b", "root"), ("c", "a"), ("c", "b"), ("d", "c"), ("d", "root")]


def reachable(edges: list[tuple[str, str]], node: str) -> set[str]:
    """Ancestors by repeated search, the slow way."""
    found: set[str] = set()
    frontier = {node}
    while frontier:
        frontier = {parent for child, parent in edges if child in frontier} - found
        found |= frontier
    return found


def random_edges(seed: int, nodes: int = 40) -> list[tuple[str, str]]:
    rng = random.Random(seed)
    names = [f"n{i}" for i in range(nodes)]
    rng.shuffle(names)
    return [(names[i], names[rng.randrange(i)]) for i in range(1, nodes) for _ in range(rng.choice((1, 1, 2)))]


@pytest.mark.parametrize("edges", [DIAMOND, random_edges(0), random_edges(1)])
def test_closure_is_reachability(edges: list[tuple[str, str]]) -> None:
    hierarchy = Hierarchy.from_edges(edges)
    pairs = {(hierarchy.names[u], hierarchy.names[v]) for u, v in hierarchy.closure.tolist()}
    assert pairs == {(name, above) for name in hierarchy.names for above in reachable(edges, name)}
    assert hierarchy.is_ancestor.nonzero().tolist() == hierarchy.closure.tolist()


def test_depth_is_the_shortest_way_to_a_root() -> None:
    hierarchy = Hierarchy.from_edges(DIAMOND)
    assert dict(zip(hierarchy.names, hierarchy.depths.tolist(), strict=True)) == {
        "a": 1, "b": 1, "c": 2, "d": 1, "root": 0,
    }  # fmt: skip
    assert [hierarchy.names[root] for root in hierarchy.roots.tolist()] == ["root"]


def test_order_of_the_edges_changes_nothing() -> None:
    one, other = Hierarchy.from_edges(DIAMOND), Hierarchy.from_edges(reversed(DIAMOND))
    assert one.names == other.names
    assert torch.equal(one.edges, other.edges)
    assert one.sha256 == other.sha256


@pytest.mark.parametrize(
    ("edges", "cycle"),
    [
        ([("a", "b"), ("b", "a")], ["'a' -> 'b' -> 'a'"]),
        ([("x", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("c", "top")], ["'a' -> 'b' -> 'c' -> 'a'"]),
    ],
)
def test_a_cycle_is_shown(edges: list[tuple[str, str]], cycle: list[str]) -> None:
    with pytest.raises(ValueError, match="without cycles") as caught:
        Hierarchy.from_edges(edges, source="loop.csv")
    assert "loop.csv" in str(caught.value)
    assert "remove one of these edges" in str(caught.value)
    assert any(way in str(caught.value) for way in cycle)


def test_no_edges_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one edge, got none"):
        Hierarchy.from_edges([])


def test_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "family.csv"
    path.write_text("dog,canine\nwolf,canine\n")
    hierarchy = load_hierarchy(path)
    assert hierarchy.names == ("canine", "dog", "wolf")
    assert hierarchy.source == str(path)
    assert hierarchy.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_missing_sources_are_explained(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="did you mean 'wordnet_mammals'"):
        load_hierarchy("wordnet_mamals")
    with pytest.raises(ValueError, match=r"neither a path nor a name; check the path.*wordnet_mammals"):
        load_hierarchy(tmp_path / "absent.tsv")
    with pytest.raises(ValueError, match="is a folder"):
        load_hierarchy(tmp_path)


def test_shipped_mammals() -> None:
    mammals = load_hierarchy("wordnet_mammals")
    # The counts of Nickel and Kiela's mammal subtree.
    assert (len(mammals), len(mammals.closure)) == (1180, 6540)
    assert [mammals.names[root] for root in mammals.roots.tolist()] == ["mammal.n.01"]
    dog = mammals.find("dog")
    assert dog is not None
    above = {mammals.names[node] for node in mammals.is_ancestor[dog].nonzero().flatten().tolist()}
    assert above == {"canine.n.02", "carnivore.n.01", "placental.n.01", "mammal.n.01"}


def test_the_licence_ships_with_the_data() -> None:
    text = resources.files("hybonet.data").joinpath("shipped", "WORDNET_LICENSE.txt").read_text(encoding="utf-8")
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in text
