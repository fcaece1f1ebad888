"""Questions to a trained knowledge-graph model, asked and answered by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from hybonet.data.triples.triple_data import TripleData
from hybonet.data.vocabulary import Vocabulary
from hybonet.metrics.ranking import KnownAnswers
from hybonet.tasks.knowledge_graph.evaluation import rank_triples
from hybonet.tasks.knowledge_graph.models.tail_search import ScoreSearch, TailSearch
from hybonet.tasks.knowledge_graph.models.triple_model import TripleModel
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
from hybonet.tasks.knowledge_graph.pretrained import write_pretrained
from hybonet.tasks.knowledge_graph.run import read_graph, read_model
from hybonet.tasks.knowledge_graph.task import score_with_inverse
from hybonet.tasks.pretrained import record_if_known
from hybonet.tasks.run_folder import read_config

if TYPE_CHECKING:
    from hybonet.tasks.knowledge_graph.models.faiss_search import FaissTailSearch

#: A question in numbers: head, relation and tail, with None for the one that is asked for.
_Question = tuple[int | None, int | None, int | None]


@dataclass(frozen=True)
class Answer:
    """One answer: a name, its probability among all candidates, and whether the triple was in the training data.

    The probability is None where only the best scores are known (:meth:`KGModel.index`).
    """

    label: str
    name: str
    probability: float | None
    score: float
    known: bool

    def as_dict(self) -> dict[str, Any]:
        """For JSON and CSV."""
        return asdict(self)


@dataclass(frozen=True)
class Judgement:
    """What a model thinks of a triple.

    Ranks are among all entities in the place of the tail and of the head, those left out that the training data has
    there; 1 is the best. The probability is the tail's, among all entities.
    """

    head: str
    relation: str
    tail: str
    tail_rank: float
    head_rank: float
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

    Args:
        scorer: the model.
        graph: what its numbers stand for, and which triples it was trained on.
        config: anything worth keeping about it, such as the settings of its training.
        record: its metrics, as ``record.json`` of a run has them.

    Example:
        >>> graph = TripleData.from_labels([("dog", "is a", "canine"), ("wolf", "is a", "canine")])
        >>> model = KGModel(TripleScorer(3, 1, 8), graph)
        >>> sorted(answer.label for answer in model.tails("dog", "is a", top=3, known=False))
        ['dog', 'wolf']
    """

    def __init__(
        self,
        scorer: TripleModel,
        graph: TripleData,
        *,
        config: Mapping[str, Any] | None = None,
        record: Mapping[str, Any] | None = None,
    ) -> None:
        self.scorer, self.graph = scorer.eval(), graph
        self.config, self.record = dict(config or {}), record
        self._known = KnownAnswers(graph.with_reciprocals("train"), 2 * graph.num_relations)
        self._tails: tuple[Any, TailSearch | ScoreSearch] | None = None

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> KGModel:
        """A model from a folder on disk: of :meth:`save_pretrained`, or of a run made by ``hybonet train kg``."""
        folder = Path(folder)
        graph = read_graph(folder)
        scorer = read_model(folder, graph)
        return cls(scorer, graph, config=read_config(folder, "kg"), record=record_if_known(folder))

    @classmethod
    def load(cls, folder: str | Path) -> KGModel:
        """The best model of a run made by ``hybonet train kg``; the same as :meth:`from_pretrained`."""
        return cls.from_pretrained(folder)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write a new folder with what use needs and nothing else, in the layout that the Hugging Face hub knows.

        ``config.json``, ``model.safetensors``, the graph with its labels, ``README.md`` (a model card), and
        ``record.json`` if the metrics are known. It appears complete or not at all.

        Example:
            >>> import tempfile
            >>> graph = TripleData.from_labels([("dog", "is a", "canine"), ("wolf", "is a", "canine")])
            >>> folder = Path(tempfile.mkdtemp()) / "animals"
            >>> KGModel(TripleScorer(3, 1, 8), graph).save_pretrained(folder)
            >>> KGModel.from_pretrained(folder).graph
            TripleData('triples': 3 entities, 1 relations, 2 / 0 / 0 triples)
        """
        write_pretrained(Path(folder), self.hyperbolic_scorer("a saved model"), self.graph, self.config, self.record)

    def __repr__(self) -> str:
        return f"KGModel({type(self.scorer).__name__}, {self.graph!r})"

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
            >>> graph = TripleData.from_labels([("dog", "is a", "canine"), ("wolf", "is a", "canine")])
            >>> model = KGModel(TripleScorer(3, 1, 8), graph)
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
            >>> graph = TripleData.from_labels([("dog", "is a", "canine"), ("wolf", "is a", "canine")])
            >>> model = KGModel(TripleScorer(3, 1, 8), graph)
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
        heads, asked, tails = numbers.unbind(1)
        ranks = rank_triples(self.scorer, numbers, self.graph, self._known)
        total = self._search().best(heads, asked, 1, None).log_total
        assert total is not None
        scores = self.scorer(heads, asked, tails)
        row, members = self._known.of(heads, asked)
        known = torch.isin(torch.arange(len(rows)), row[members == tails[row]])
        columns = (ranks.tails.rank, ranks.heads.rank, (scores - total).exp().clamp(max=1.0), scores, known)
        return [
            Judgement(entities[h], relations[r], entities[t], *values)
            for (h, r, t), *values in zip(rows, *(column.tolist() for column in columns), strict=True)
        ]

    def score_both_directions(self, inverse_weight: float, inverse_power: float = 0.5) -> None:
        """Score triples in both directions from now on, as the settings of these names do; in one with 0.

        A record of other answers is forgotten: ``hybonet evaluate`` measures the saved model anew.

        Example:
            >>> graph = TripleData.from_labels([("dog", "is a", "canine"), ("wolf", "is a", "canine")])
            >>> model = KGModel(TripleScorer(3, 1, 8), graph)
            >>> model.score_both_directions(0.4)
            >>> model.scorer.scores_both_directions
            True
        """
        before = self.scorer.shares
        score_with_inverse(self.scorer, self.graph, inverse_weight, inverse_power)
        after = self.scorer.shares
        same = torch.equal(before, after) if before is not None and after is not None else before is after
        if not same:
            self.record = None  # its metrics are those of other answers
        if "settings" in self.config:
            now = {"inverse_weight": inverse_weight, "inverse_power": inverse_power}
            self.config["settings"] = {**self.config["settings"], **now}

    def index(self) -> FaissTailSearch:
        """A faiss index of all entities (extra ``faiss``) for :meth:`ask_many`.

        It finds the same answers with the same scores, but sees only the best of them: what all scores add up to is
        unknown, so ``Answer.probability`` is None. Models that read triples both ways have no such index.
        """
        self._refuse_both_directions()
        from hybonet.tasks.knowledge_graph.models.faiss_search import FaissTailSearch

        return FaissTailSearch(self.hyperbolic_scorer("an index"))

    def _refuse_both_directions(self) -> None:
        if self.scorer.scores_both_directions:
            raise ValueError(
                "expected a model that scores in one direction for an index, got one with inverse_weight, whose "
                "candidates lie elsewhere for each relation; ask without the index, or in one direction: "
                "score_both_directions(0), or --inverse-weight 0"
            )

    def hyperbolic_scorer(self, wanted: str) -> TripleScorer:
        """The scorer, if it is HyboNet's; a ``ValueError`` says what it is ``wanted`` for if it is another model."""
        if not isinstance(self.scorer, TripleScorer):
            raise ValueError(
                f"expected a hybonet model for {wanted}, got {type(self.scorer).__name__}; train with model=hybonet"
            )
        return self.scorer

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
            raise ValueError(f"expected at least one answer a question, got top={top}; give a positive number")
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

    def _search(self) -> TailSearch | ScoreSearch:
        """Prepared with the first question, and again if weights, or the number of directions, have changed since."""
        scorer = self.scorer
        weights = [(parameter.data_ptr(), parameter._version) for parameter in scorer.parameters()]
        state = (weights, scorer.scores_both_directions)
        if self._tails is None or self._tails[0] != state:
            if isinstance(scorer, TripleScorer) and not scorer.scores_both_directions:
                self._tails = (state, TailSearch(scorer))
            else:
                self._tails = (state, ScoreSearch(scorer))
        return self._tails[1]

    def _entities(
        self, questions: Tensor, top: int, known: bool, search: TailSearch | ScoreSearch | FaissTailSearch
    ) -> list[list[Answer]]:
        heads, relations = questions.unbind(1)
        rows, members = self._known.of(heads, relations)
        best = search.best(heads, relations, top, None if known else (rows, members))
        pair = self.graph.num_entities * torch.arange(len(heads))
        in_training = torch.isin(best.entities + pair[:, None], members + pair[rows])
        probability: Any = [[None] * best.scores.shape[1]] * len(heads)
        if best.log_total is not None:
            probability = (best.scores - best.log_total[:, None]).exp().tolist()
        columns = zip(best.entities.tolist(), probability, best.scores.tolist(), in_training.tolist(), strict=True)
        return [_answers(self.graph.entities, *row) for row in columns]

    @torch.no_grad()
    def _relations(self, head: int, tail: int, top: int, known: bool) -> list[Answer]:
        every = torch.arange(self.graph.num_relations)
        heads, tails = torch.full_like(every, head), torch.full_like(every, tail)
        scores = self.scorer(heads, every, tails)
        probability = torch.softmax(scores, 0)
        rows, members = self._known.of(heads, every)
        in_training = torch.isin(every, rows[members == tail])
        if not known:
            scores = scores.masked_fill(in_training, -torch.inf)
        best = scores.topk(min(top, len(every)))
        columns = (probability[best.indices], best.values, in_training[best.indices])
        return _answers(self.graph.relations, best.indices.tolist(), *(column.tolist() for column in columns))


def _answers(
    vocabulary: Vocabulary,
    numbers: list[int],
    probabilities: Sequence[float | None],
    scores: list[float],
    known: list[bool],
) -> list[Answer]:
    """Without places that no candidate fills: their score is minus infinity."""
    return [
        Answer(vocabulary[number], vocabulary.name(number), probability, score, member)
        for number, probability, score, member in zip(numbers, probabilities, scores, known, strict=True)
        if score > -torch.inf
    ]
