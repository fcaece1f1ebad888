"""A few held-out questions with the model's answers, chosen without looking at them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from hybonet.data.triples.triple_data import SplitName, TripleData
from hybonet.metrics.ranking import filtered_ranks
from hybonet.tasks.knowledge_graph.answering import Answer
from hybonet.tasks.knowledge_graph.predictor import KnowledgeGraphModel


@dataclass(frozen=True)
class Example:
    """A question as words, the best answers that the training data does not say already, and what is true."""

    question: str
    answers: list[Answer]
    #: Labels that answer the question in the graph as a whole.
    true: frozenset[str]
    #: Name and filtered rank of the held-out answer.
    truth: tuple[str, int]


def example_triples(graph: TripleData, split: SplitName = "test", count: int = 10) -> list[tuple[int, int, int]]:
    """Triples of a split about the entities people know best, those with most training triples.

    Relations have their share: as many of the triples as of the whole split, within rounding. An entity is asked about
    once.

    Example:
        >>> graph = TripleData.from_labels([("a", "r", "b"), ("a", "r", "c")], test=[("b", "r", "c"), ("a", "r", "a")])
        >>> [graph.entities[head] for head, _, _ in example_triples(graph)]
        ['a', 'b']
    """
    triples = graph.triples(split)
    left = _shares(torch.bincount(triples[:, 1], minlength=graph.num_relations), count)
    degree = torch.bincount(graph.train[:, [0, 2]].flatten(), minlength=graph.num_entities)
    chosen: list[tuple[int, int, int]] = []
    for row in degree[triples[:, 0]].argsort(descending=True, stable=True).tolist():
        head, relation, tail = triples[row].tolist()
        if left[relation] and head not in (h for h, _, _ in chosen):
            left[relation] -= 1
            chosen.append((head, relation, tail))
    return chosen


def _shares(counts: Tensor, total: int) -> list[int]:
    """Whole numbers in proportion to counts, ``total`` in all: rounded down, and the largest remainders up."""
    exact = counts.double() * total / counts.sum().clamp_min(1)
    whole = exact.floor().long()
    missing = min(total, int(counts.sum())) - int(whole.sum())
    whole[(exact - whole).argsort(descending=True, stable=True)[:missing]] += 1
    return whole.tolist()


def held_out_examples(
    model: KnowledgeGraphModel, split: SplitName = "test", count: int = 10, top: int = 3
) -> list[Example]:
    """Ask the model the questions of :func:`example_triples`."""
    graph = model.graph
    everything = graph.triples("all")
    examples = []
    for head, relation, tail in example_triples(graph, split, count):
        known = everything[(everything[:, 0] == head) & (everything[:, 1] == relation)][:, 2]
        question = f"{graph.entities.name(head)} {graph.relations.name(relation)} …"
        answers = model.tails(graph.entities[head], graph.relations[relation], top, known=False)
        rank = _filtered_rank(model, head, relation, tail, known)
        true = frozenset(graph.entities[t] for t in known.tolist())
        examples.append(Example(question, answers, true, (graph.entities.name(tail), rank)))
    return examples


@torch.no_grad()
def _filtered_rank(model: KnowledgeGraphModel, head: int, relation: int, tail: int, known: Tensor) -> int:
    scores = model.scorer(torch.tensor([head]), torch.tensor([relation]))
    rows = torch.zeros_like(known)
    return int(filtered_ranks(scores, torch.tensor([tail]), (rows, known)).rank)
