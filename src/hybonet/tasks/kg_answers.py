"""Questions to a trained knowledge-graph model, asked and answered by name."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from hybonet.data.triples import TripleData
from hybonet.metrics.ranking import KnownAnswers
from hybonet.models import TripleScorer
from hybonet.tasks.kg_run import read_graph, read_model


@dataclass(frozen=True)
class Answer:
    """One answer: a name, its probability among all candidates, and whether the triple was in the training data."""

    label: str
    name: str
    probability: float
    score: float
    known: bool

    def as_dict(self) -> dict[str, Any]:
        """For JSON and CSV."""
        return asdict(self)


class KGModel:
    """A trained model with the graph it knows.

    Probabilities are the softmax of the scores over all candidates of a question; they add up to one over all entities
    (or relations), known ones included.

    Example:
        >>> graph = TripleData.from_labels([("dog", "is a", "canine"), ("wolf", "is a", "canine")])
        >>> model = KGModel(TripleScorer(3, 1, 8), graph)
        >>> sorted(answer.label for answer in model.tails("dog", "is a", top=3, known=False))
        ['dog', 'wolf']
    """

    def __init__(self, scorer: TripleScorer, graph: TripleData) -> None:
        self.scorer, self.graph = scorer.eval(), graph
        self._known = KnownAnswers(graph.with_reciprocals("train"), 2 * graph.num_relations)

    @classmethod
    def load(cls, folder: str | Path) -> KGModel:
        """The best model of a run made by ``hybonet train kg``."""
        graph = read_graph(Path(folder))
        return cls(read_model(Path(folder), graph), graph)

    def tails(self, head: str, relation: str, top: int = 10, *, known: bool = True) -> list[Answer]:
        """What (head, relation, ?) may be; without ``known``, only what the training data does not say already."""
        return self._entities(self.graph.entities.find(head), self.graph.relations.find(relation), top, known)

    def heads(self, relation: str, tail: str, top: int = 10, *, known: bool = True) -> list[Answer]:
        """What (?, relation, tail) may be."""
        reciprocal = self.graph.relations.find(relation) + self.graph.num_relations
        return self._entities(self.graph.entities.find(tail), reciprocal, top, known)

    @torch.no_grad()
    def relations(self, head: str, tail: str, top: int = 10) -> list[Answer]:
        """How head and tail may be related."""
        count = self.graph.num_relations
        first, second = self.graph.entities.find(head), self.graph.entities.find(tail)
        every = torch.arange(count)
        scores = self.scorer(torch.full((count,), first), every, torch.full((count,), second))
        rows, answers = self._known.of(torch.full((count,), first), every)
        known = set(rows[answers == second].tolist())
        probability = torch.softmax(scores, 0)
        vocabulary = self.graph.relations
        return [
            Answer(vocabulary[i], vocabulary.name(i), probability[i].item(), scores[i].item(), i in known)
            for i in scores.topk(min(top, count)).indices.tolist()
        ]

    @torch.no_grad()
    def _entities(self, entity: int, relation: int, top: int, known: bool) -> list[Answer]:
        question = (torch.tensor([entity]), torch.tensor([relation]))
        scores = self.scorer(*question)[0]
        probability = torch.softmax(scores, 0)
        _, answers = self._known.of(*question)
        members = set(answers.tolist())
        if not known:
            scores[answers] = -torch.inf
        best = scores.topk(min(top, len(scores)))
        vocabulary = self.graph.entities
        return [
            Answer(vocabulary[i], vocabulary.name(i), probability[i].item(), score, i in members)
            for i, score in zip(best.indices.tolist(), best.values.tolist(), strict=True)
            if score > -torch.inf
        ]

    def ask(self, question: dict[str, str], top: int = 10, *, known: bool = True) -> list[Answer]:
        """Answer a question given as a mapping with two of ``head``, ``relation`` and ``tail``."""
        given = {key: value for key, value in question.items() if value}
        match sorted(given):
            case ["head", "relation"]:
                return self.tails(given["head"], given["relation"], top, known=known)
            case ["relation", "tail"]:
                return self.heads(given["relation"], given["tail"], top, known=known)
            case ["head", "tail"]:
                return self.relations(given["head"], given["tail"], top)
        raise ValueError(
            f"expected two of head, relation and tail, got {', '.join(sorted(given)) or 'none'}; leave out the one you "
            "ask for"
        )
