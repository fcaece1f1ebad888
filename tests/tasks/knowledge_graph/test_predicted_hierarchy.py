"""The hierarchy that a model sees: true parents where it learnt them, its own where data is silent, never a circle."""

import pytest
import torch

from hybonet import KnowledgeGraphModel
from hybonet.data.triples.hierarchical import hierarchical_relations
from hybonet.data.triples.triple_data import TripleData
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
from hybonet.tasks.knowledge_graph.predicted_hierarchy import predicted_hierarchy

EDGES = [("a", "top"), ("b", "top"), ("aa", "a"), ("ab", "a"), ("ba", "b"), ("bb", "b"), ("bc", "b")]


class Oracle(TripleScorer):
    """Scores what it is told and nothing else."""

    def __init__(self, graph: TripleData, parents: dict[str, str], certainty: float = 20.0) -> None:
        super().__init__(graph.num_entities, graph.num_relations, 4)
        self.told = torch.zeros(graph.num_entities, graph.num_entities)
        for child, parent in parents.items():
            self.told[graph.entities.find(child), graph.entities.find(parent)] = certainty

    def forward(self, heads, relations, tails=None, *, pool=None):
        assert tails is None
        return self.told[heads].clone() if pool is None else self.told[heads][:, pool]


def graph(edges=EDGES, held_out=()):
    triples = [(child, "is a", parent) for child, parent in edges]
    return TripleData.from_labels(triples, valid=[(c, "is a", p) for c, p in held_out])


def edges_of(found):
    names = found.hierarchy.names
    return {(names[a], names[b]) for a, b in found.hierarchy.edges.tolist()}


def test_a_model_that_knows_its_data_gives_its_hierarchy():
    data = graph()
    found = predicted_hierarchy(KnowledgeGraphModel(Oracle(data, dict(EDGES)), data), ["is a"])
    assert edges_of(found) == set(EDGES)
    assert not found.new.any()
    assert [data.entities[e] for e in found.entities.tolist()] == list(found.hierarchy.names)


def test_a_sure_model_adds_parents_and_held_out_triples_judge_them():
    without = [edge for edge in EDGES if edge != ("b", "top")]
    for guess, true in (("top", 1), ("aa", 0)):
        data = graph(without, held_out=[("b", "top")])
        parents = {**dict(without), "b": guess}
        found = predicted_hierarchy(KnowledgeGraphModel(Oracle(data, parents), data), ["is a"])
        assert ("b", guess) in edges_of(found)
        assert int(found.new.sum()) == 1
        assert found.new_and_true == true


def test_an_unsure_model_adds_nothing():
    many = [*EDGES, *((f"aa{i}", "aa") for i in range(10))]
    data = graph([edge for edge in many if edge != ("b", "top")])
    oracle = Oracle(data, dict(many))
    oracle.told[data.entities.find("b")] = 0.0
    assert not any(
        child == "b" for child, _ in edges_of(predicted_hierarchy(KnowledgeGraphModel(oracle, data), ["is a"]))
    )


@pytest.mark.parametrize("seed", range(5))
def test_any_scores_give_a_forest(seed):
    data = graph()
    oracle = Oracle(data, {})
    oracle.told = torch.randn(oracle.told.shape, generator=torch.Generator().manual_seed(seed)) * 5
    found = predicted_hierarchy(KnowledgeGraphModel(oracle, data), ["is a"])  # from_edges refuses circles
    assert all(len(parents) <= 1 for parents in found.hierarchy.parents)


def test_small_trees_are_left_out():
    large = [(f"n{i}", f"n{i // 3}") for i in range(1, 100)]
    data = graph([*large, ("twig", "stump")])
    found = predicted_hierarchy(KnowledgeGraphModel(Oracle(data, dict(large) | {"twig": "stump"}), data), ["is a"])
    assert "stump" not in found.hierarchy.names
    assert len(found.hierarchy) == 100


def test_the_hierarchical_relation_is_found_or_not():
    data = graph()
    assert hierarchical_relations(data) == ["is a"]
    flat = TripleData.from_labels([(f"person{i}", "lives in", f"town{i % 3}") for i in range(30)])
    assert hierarchical_relations(flat) == []  # one level is no hierarchy
    circle = TripleData.from_labels([(f"n{i}", "next", f"n{(i + 1) % 9}") for i in range(9)])
    assert hierarchical_relations(circle) == []
    with pytest.raises(ValueError, match="is a"):
        predicted_hierarchy(KnowledgeGraphModel(TripleScorer(data.num_entities, 1, 4), data), ["isa"])
