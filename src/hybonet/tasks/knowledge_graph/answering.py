"""Answers and judgements of a trained scorer, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from hybonet.data.triples.triple_data import TripleData
from hybonet.data.vocabulary import Vocabulary
from hybonet.metrics.calibration import Judged
from hybonet.metrics.ranking import KnownAnswers
from hybonet.tasks.knowledge_graph.evaluation import rank_triples
from hybonet.tasks.knowledge_graph.models.tail_search import Search, search_for
from hybonet.tasks.knowledge_graph.models.triple_model import TripleModel
from hybonet.tasks.knowledge_graph.plausibility import plausibility, triple_features
from hybonet.tasks.predictor import CalibratedPredictor

if TYPE_CHECKING:
    from hybonet.tasks.knowledge_graph.models.faiss_search import FaissTailSearch

#: A question in numbers: head, relation and tail, with None for the one that is asked for.
_Question = tuple[int | None, int | None, int | None]


@dataclass(frozen=True)
class Answer(Judged):
    """One answer to a question.

    Attributes:
        label, name: what it is called.
        probability: that the triple is true, as the validation triples say with false ones beside them
            (:mod:`~hybonet.tasks.knowledge_graph.plausibility`); None where nothing was fitted to them, and of an
            :meth:`~hybonet.tasks.knowledge_graph.predictor.KnowledgeGraphModel.index`.
        share: of the answer in the softmax over all candidates, which adds up to one; None of an index.
        score: what answers are ranked by.
        known: whether the training triples have it.
    """

    label: str
    name: str
    probability: float | None
    share: float | None
    score: float
    known: bool


@dataclass(frozen=True)
class Judgement(Judged):
    """What a model thinks of a triple.

    Ranks are among all entities in the place of the tail and of the head, those left out that the training data has
    there; 1 is the best. Probability and verdict are those of an :class:`Answer`; the share is the tail's, among all
    entities.
    """

    head: str
    relation: str
    tail: str
    tail_rank: float
    head_rank: float
    probability: float | None
    share: float
    score: float
    known: bool


class Answering(CalibratedPredictor):
    """What a knowledge-graph model is asked, and how it answers.

    Args:
        scorer: trained.
        graph: what it was trained on, whose triples are known.
        config, record: of :class:`~hybonet.tasks.predictor.Predictor`.
    """

    def __init__(
        self,
        scorer: TripleModel,
        graph: TripleData,
        *,
        config: Mapping[str, Any] | None = None,
        record: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(scorer, config=config, record=record)
        self.scorer, self.graph = scorer, graph
        self._known = KnownAnswers(graph.with_reciprocals("train"), 2 * graph.num_relations)
        self._tails: tuple[Any, Search] | None = None

    def tails(self, head: str, relation: str, top: int = 10, *, known: bool = True) -> list[Answer]:
        """What (head, relation, ?) may be; without ``known``, only what the training data does not say already."""
        return self._answer([(self.graph.entities.find(head), self.graph.relations.find(relation), None)], top, known)[
            0
        ]

    def heads(self, relation: str, tail: str, top: int = 10, *, known: bool = True) -> list[Answer]:
        """What (?, relation, tail) may be."""
        return self._answer([(None, self.graph.relations.find(relation), self.graph.entities.find(tail))], top, known)[
            0
        ]

    def relations(self, head: str, tail: str, top: int = 10, *, known: bool = True) -> list[Answer]:
        """How head and tail may be related."""
        return self._answer([(self.graph.entities.find(head), None, self.graph.entities.find(tail))], top, known)[0]

    def ask(
        self, question: Mapping[str, str], top: int = 10, *, known: bool = True, index: FaissTailSearch | None = None
    ) -> list[Answer]:
        """Answer a question given as a mapping with two of ``head``, ``relation`` and ``tail``."""
        return self._answer([self._numbers(question)], top, known, index)[0]

    def ask_many(
        self,
        questions: Sequence[Mapping[str, str]],
        top: int = 10,
        *,
        known: bool = True,
        index: FaissTailSearch | None = None,
    ) -> list[list[Answer]]:
        """Answers to many questions at once, as :meth:`ask` gives them one by one.

        Args:
            questions: mappings with two of ``head``, ``relation`` and ``tail``.
            top: how many answers a question.
            known: with False, only what the training data does not say already.
            index: where to look for entities, from :meth:`index`; answers then have no probability.

        Example:
            >>> from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
            >>> from hybonet.tasks.knowledge_graph.predictor import KnowledgeGraphModel
            >>> graph = TripleData.from_labels([("dog", "is a", "canine"), ("wolf", "is a", "canine")])
            >>> model = KnowledgeGraphModel(TripleScorer(3, 1, 8), graph)
            >>> answers = model.ask_many([{"head": "dog", "relation": "is a"}, {"head": "dog", "tail": "wolf"}])
            >>> [len(each) for each in answers]
            [3, 1]
        """
        numbers = []
        for place, question in enumerate(questions, 1):
            try:
                numbers.append(self._numbers(question))
            except ValueError as error:
                raise ValueError(f"question {place}: {error}") from None
        return self._answer(numbers, top, known, index)

    @torch.no_grad()
    def judge(self, triples: Sequence[Mapping[str, str]]) -> list[Judgement]:
        """How likely whole triples are: given ones to check, or those of a graph to find its mistakes.

        Args:
            triples: mappings with ``head``, ``relation`` and ``tail``.

        Example:
            >>> from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
            >>> from hybonet.tasks.knowledge_graph.predictor import KnowledgeGraphModel
            >>> graph = TripleData.from_labels([("dog", "is a", "canine"), ("wolf", "is a", "canine")])
            >>> model = KnowledgeGraphModel(TripleScorer(3, 1, 8), graph)
            >>> [(each.tail, each.known) for each in model.judge([{"head": "dog", "relation": "is a", "tail": "wolf"}])]
            [('wolf', False)]
        """
        if not triples:
            return []
        entities, relations = self.graph.entities, self.graph.relations
        rows = []
        for place, triple in enumerate(triples, 1):
            try:
                if any(not triple.get(key) for key in ("head", "relation", "tail")):
                    raise ValueError(f"expected head, relation and tail, got {', '.join(sorted(triple)) or 'none'}")
                rows.append(
                    (entities.find(triple["head"]), relations.find(triple["relation"]), entities.find(triple["tail"]))
                )
            except ValueError as error:
                raise ValueError(f"question {place}: {error}") from None
        numbers = torch.tensor(rows)
        ranks = rank_triples(self.scorer, numbers, self.graph, self._known)
        features = triple_features(self._search(), numbers, self.graph.num_relations)
        shares = features[:, 2].exp().clamp(max=1.0).tolist()
        found = self.calibration
        probability = [None] * len(rows) if found is None else found(features, numbers[:, 1]).tolist()
        known = self.knows(numbers)
        ranked = (ranks.tails.rank.tolist(), ranks.heads.rank.tolist())
        columns = (*ranked, probability, shares, features[:, 0].tolist(), known.tolist())
        return [
            Judgement(entities[h], relations[r], entities[t], *values)
            for (h, r, t), *values in zip(rows, *columns, strict=True)
        ]

    def knows(self, triples: Tensor) -> Tensor:
        """Which of ``triples (n, 3)``, in numbers, the training data has; ``(n,)``."""
        head, relation, tail = triples.unbind(1)
        row, members = self._known.of(head, relation)
        return torch.isin(torch.arange(len(triples)), row[members == tail[row]])

    @torch.no_grad()
    def plausible(self, triples: Tensor) -> Tensor | None:
        """The probability of each of ``triples (n, 3)``, in numbers; None without a calibration."""
        if (found := self.calibration) is None:
            return None
        return plausibility(found, self._search(), triples, self.graph.num_relations)

    def _refuse_both_directions(self) -> None:
        if self.scorer.scores_both_directions:
            raise ValueError(
                "expected a model that scores in one direction for an index, got one with inverse_weight, whose "
                "candidates lie elsewhere for each relation; ask without the index, or in one direction: "
                "score_both_directions(0), or --inverse-weight 0"
            )

    def _numbers(self, question: Mapping[str, str]) -> _Question:
        given = {key: value for key, value in question.items() if value}
        if len(given) != 2 or not given.keys() <= {"head", "relation", "tail"}:
            raise ValueError(
                f"expected two of head, relation and tail, got {', '.join(sorted(given)) or 'none'}; leave out the one "
                "you ask for"
            )
        entities, relations = self.graph.entities, self.graph.relations
        return (
            entities.find(given["head"]) if "head" in given else None,
            relations.find(given["relation"]) if "relation" in given else None,
            entities.find(given["tail"]) if "tail" in given else None,
        )

    def _answer(
        self, questions: list[_Question], top: int, known: bool, index: FaissTailSearch | None = None
    ) -> list[list[Answer]]:
        if index is not None:
            self._refuse_both_directions()
        if top < 1:
            raise ValueError(f"expected at least one answer per question, got top={top}; give a positive number")
        answers: dict[int, list[Answer]] = {}
        entities: dict[int, tuple[int, int]] = {}
        for place, (head, relation, tail) in enumerate(questions):
            if relation is None:
                assert head is not None
                assert tail is not None
                answers[place] = self._relations(head, tail, top, known)
            elif head is not None:
                entities[place] = (head, relation)
            elif tail is not None:
                entities[place] = (tail, relation + self.graph.num_relations)
        if entities:
            found = self._entities(torch.tensor(list(entities.values())), top, known, index or self._search())
            answers |= dict(zip(entities, found, strict=True))
        return [answers[place] for place in range(len(questions))]

    def _search(self) -> Search:
        """Prepared with the first question, and again if weights, or the number of directions, have changed since."""
        scorer = self.scorer
        weights = [(parameter.data_ptr(), parameter._version) for parameter in scorer.parameters()]
        state = (weights, scorer.scores_both_directions)
        if self._tails is None or self._tails[0] != state:
            self._tails = (state, search_for(scorer))
        return self._tails[1]

    def _entities(
        self, questions: Tensor, top: int, known: bool, search: Search | FaissTailSearch
    ) -> list[list[Answer]]:
        heads, relations = questions.unbind(1)
        rows, members = self._known.of(heads, relations)
        best = search.best(heads, relations, top, None if known else (rows, members))
        pair = self.graph.num_entities * torch.arange(len(heads))
        in_training = torch.isin(best.entities + pair[:, None], members + pair[rows])
        share: Any = [[None] * best.scores.shape[1]] * len(heads)
        probability = share
        if best.log_total is not None:
            share = (best.scores - best.log_total[:, None]).exp().clamp(max=1.0).tolist()
            probability = self._probabilities(heads, relations, best.entities)
        columns = (best.entities.tolist(), probability, share, best.scores.tolist(), in_training.tolist())
        return [_answers(self.graph.entities, *row) for row in zip(*columns, strict=True)]

    def _probabilities(self, heads: Tensor, relations: Tensor, answers: Tensor) -> Any:
        """Of the triples that answers ``(B, top)`` make with their questions, reciprocal relations included."""
        asked, by = (each[:, None].expand_as(answers).flatten() for each in (heads, relations))
        back, given = by >= self.graph.num_relations, answers.flatten()
        ends = torch.where(back, given, asked), torch.where(back, asked, given)
        found = self.plausible(torch.stack((ends[0], by % self.graph.num_relations, ends[1]), dim=1))
        return [[None] * answers.shape[1]] * len(answers) if found is None else found.view_as(answers).tolist()

    @torch.no_grad()
    def _relations(self, head: int, tail: int, top: int, known: bool) -> list[Answer]:
        every = torch.arange(self.graph.num_relations)
        heads, tails = torch.full_like(every, head), torch.full_like(every, tail)
        scores = self.scorer(heads, every, tails)
        share = torch.softmax(scores, 0)
        rows, members = self._known.of(heads, every)
        in_training = torch.isin(every, rows[members == tail])
        if not known:
            scores = scores.masked_fill(in_training, -torch.inf)
        best = scores.topk(min(top, len(every)))
        triples = torch.stack((heads, every, tails), dim=1)[best.indices]
        found = self.plausible(triples)
        columns = (share[best.indices], best.values, in_training[best.indices])
        probability = [None] * len(triples) if found is None else found.tolist()
        return _answers(
            self.graph.relations, best.indices.tolist(), probability, *(column.tolist() for column in columns)
        )


def _answers(
    vocabulary: Vocabulary,
    numbers: list[int],
    probabilities: Sequence[float | None],
    shares: Sequence[float | None],
    scores: list[float],
    known: list[bool],
) -> list[Answer]:
    """Without places that no candidate fills: their score is minus infinity."""
    return [
        Answer(vocabulary[number], vocabulary.name(number), probability, share, score, member)
        for number, probability, share, score, member in zip(numbers, probabilities, shares, scores, known, strict=True)
        if score > -torch.inf
    ]
