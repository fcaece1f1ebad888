"""A few held-out questions with the model's answers, chosen without looking at them."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from hybonet.data.triples import SplitName, TripleData
from hybonet.tasks.kg_answers import Answer, KGModel

_OF_A_RELATION = 2  # at most, so that one frequent relation does not fill the table


@dataclass(frozen=True)
class Example:
    """A question as words, the best answers that the training data does not say already, and what is true."""

    question: str
    answers: list[Answer]
    #: Labels that answer the question in the graph as a whole.
    true: frozenset[str]


def example_triples(graph: TripleData, split: SplitName = "test", count: int = 10) -> list[tuple[int, int]]:
    """Questions (head, relation) of a split about the entities people know best: those with most triples.

    Example:
        >>> graph = TripleData.from_labels([("a", "r", "b"), ("a", "r", "c")], test=[("b", "r", "c"), ("a", "r", "a")])
        >>> [graph.entities[head] for head, _ in example_triples(graph)]
        ['a', 'b']
    """
    triples = graph.triples(split)
    degree = torch.bincount(graph.train[:, [0, 2]].flatten(), minlength=graph.num_entities)
    chosen: list[tuple[int, int]] = []
    for row in degree[triples[:, 0]].argsort(descending=True, stable=True).tolist():
        head, relation, _ = triples[row].tolist()
        seldom = sum(r == relation for _, r in chosen) < _OF_A_RELATION
        if seldom and head not in (h for h, _ in chosen) and len(chosen) < count:
            chosen.append((head, relation))
    return chosen


def held_out_examples(model: KGModel, split: SplitName = "test", count: int = 10, top: int = 3) -> list[Example]:
    """Ask the model the questions of :func:`example_triples`."""
    graph = model.graph
    everything = graph.triples("all")
    examples = []
    for head, relation in example_triples(graph, split, count):
        rows = everything[(everything[:, 0] == head) & (everything[:, 1] == relation)]
        question = f"{graph.entities.name(head)} {graph.relations.name(relation)} …"
        answers = model.tails(graph.entities[head], graph.relations[relation], top, known=False)
        examples.append(Example(question, answers, frozenset(graph.entities[t] for t in rows[:, 2].tolist())))
    return examples
