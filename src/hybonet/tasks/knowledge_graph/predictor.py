"""Questions to a trained knowledge-graph model, asked and answered by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from hybonet.data.triples.triple_data import TripleData
from hybonet.data.vocabulary import Vocabulary
from hybonet.metrics.calibration import Calibration, verdict
from hybonet.metrics.ranking import KnownAnswers
from hybonet.reporting.answers import Answers, Measures
from hybonet.tasks.knowledge_graph.data import write
from hybonet.tasks.knowledge_graph.evaluation import rank_triples
from hybonet.tasks.knowledge_graph.inverse_shares import fit_shares
from hybonet.tasks.knowledge_graph.models import AttH, MuRP, RotH
from hybonet.tasks.knowledge_graph.models.tail_search import Search, all_points, search_for
from hybonet.tasks.knowledge_graph.models.triple_model import TripleModel, VectorModel
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
from hybonet.tasks.knowledge_graph.options import Evaluate, Predict
from hybonet.tasks.knowledge_graph.plausibility import (
    measure_plausibility,
    plausibility,
    triple_features,
)
from hybonet.tasks.knowledge_graph.questions import COLUMNS, read_questions
from hybonet.tasks.knowledge_graph.report import LEGEND, answer_tables, evaluation_tables, judgement_table
from hybonet.tasks.knowledge_graph.settings import KnowledgeGraphSettings
from hybonet.tasks.knowledge_graph.task import evaluate, score_with_inverse
from hybonet.tasks.predictor import Embedding, Predictor
from hybonet.tasks.run_folder import CONFIG, source_name
from hybonet.tasks.vector_files import Chart

if TYPE_CHECKING:
    from hybonet.tasks.knowledge_graph.models.faiss_search import FaissTailSearch
    from hybonet.tasks.run import Run

#: Share of the entities from which on it is said that they all have the largest radius.
_AT_BOUND = 0.9
_UNCALIBRATED = (
    "no calibration, so no probability: these scores were not fitted to validation triples; train again, or ask "
    "without --inverse-weight"
)
#: A question in numbers: head, relation and tail, with None for the one that is asked for.
_Question = tuple[int | None, int | None, int | None]


@dataclass(frozen=True)
class Answer:
    """One answer to a question.

    Attributes:
        label, name: what it is called.
        probability: that the triple is true, as the validation triples say with false ones beside them
            (:mod:`~hybonet.tasks.knowledge_graph.plausibility`); None where nothing was fitted to them, and of an
            :meth:`~KnowledgeGraphModel.index`.
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

    @property
    def verdict(self) -> str:
        """``known``, ``new`` (probability one half or more) or ``unlikely``."""
        return verdict(self.known, self.probability)

    def as_dict(self) -> dict[str, Any]:
        """For JSON and CSV."""
        return {**asdict(self), "verdict": self.verdict}


@dataclass(frozen=True)
class Judgement:
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

    @property
    def verdict(self) -> str:
        """``known``, ``new`` or ``unlikely``."""
        return verdict(self.known, self.probability)

    def as_dict(self) -> dict[str, Any]:
        """For JSON and CSV."""
        return {**asdict(self), "verdict": self.verdict}


class KnowledgeGraphModel(Predictor):
    """A trained model with the graph it knows.

    The probability of a triple is fitted to validation triples when a training ends, and lies in its record. Shares are
    the softmax of the scores over all candidates of a question, known ones included.

    Example:
        >>> graph = TripleData.from_labels([("dog", "is a", "canine"), ("wolf", "is a", "canine")])
        >>> model = KnowledgeGraphModel(TripleScorer(3, 1, 8), graph)
        >>> sorted(answer.label for answer in model.tails("dog", "is a", top=3, known=False))
        ['dog', 'wolf']
    """

    task_name = "kg"

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

    @classmethod
    def of_run(cls, run: Run) -> KnowledgeGraphModel:
        graph = run.data.graph
        return cls(_scorer_of(run), graph, config=run.config)

    def saved(self, folder: Path) -> dict[str, Any]:
        if isinstance(self.scorer, TripleScorer):
            return {"model": self.scorer.config(), "graph": write(folder, self.graph)}
        if "settings" not in self.config:  # of which the folder's reader would build it
            raise ValueError(
                f"expected settings in the config of a {type(self.scorer).__name__} to save, got none; give "
                "KnowledgeGraphModel(..., config={'settings': settings.model_dump()})"
            )
        return {"graph": write(folder, self.graph)}

    def __repr__(self) -> str:
        return f"KnowledgeGraphModel({type(self.scorer).__name__}, {self.graph!r})"

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

    def predict(
        self, question: Mapping[str, str] | Sequence[Mapping[str, str]] | None = None, **options: Any
    ) -> Answers:
        """Rank what a missing head, relation or tail may be, or judge whole triples.

        Args:
            question: a mapping with two or three of ``head``, ``relation`` and ``tail``, or several such; or give these
                as keywords.
            options: of ``hybonet predict``: ``head``, ``relation``, ``tail``, ``top``, ``new``, ``questions``, …

        Example:
            >>> graph = TripleData.from_labels([("dog", "is a", "canine"), ("wolf", "is a", "canine")])
            >>> model = KnowledgeGraphModel(TripleScorer(3, 1, 8), graph)
            >>> len(model.predict(head="dog", relation="is a", top=2))
            2
        """
        asked = Predict.checked(options)
        one = {name: value for name in COLUMNS if (value := getattr(asked, name))}
        several = [question] if isinstance(question, Mapping) else question
        if sum(map(bool, (one, asked.questions, several))) != 1:
            raise ValueError("expected either two or three of --head, --relation and --tail, or a file of --questions")
        questions, unknown = several or [one], list[str]()
        if asked.questions:
            questions, unknown = self._with_known_names(read_questions(asked.questions), asked.questions)
        whole = all(len(each) == len(COLUMNS) for each in questions)
        if whole and (asked.new or asked.faiss):
            raise ValueError(
                f"expected a question for --{'new' if asked.new else 'faiss'}, got whole triples to judge; leave it "
                "out, or leave out the head, relation or tail that you ask for"
            )
        self._score_as_asked(asked.inverse_weight, asked.inverse_power)
        try:
            found = self._judged(questions) if whole else self._answered(questions, asked)
        except ValueError as error:
            # One question has no number; of a file, the message names file and question.
            text = f"{asked.questions}, {error}" if asked.questions else str(error).removeprefix("question 1: ")
            raise ValueError(text) from None
        found.notes = [*unknown, *found.notes]
        return found

    def _with_known_names(self, questions: list[dict[str, str]], file: Path) -> tuple[list[dict[str, str]], list[str]]:
        """The questions of a file whose names are known, and what is wrong with the others; one at least must be."""
        kept, unknown = [], []
        for place, question in enumerate(questions, 1):
            try:
                for key, label in question.items():
                    (self.graph.relations if key == "relation" else self.graph.entities).find(label)
                kept.append(question)
            except ValueError as error:
                unknown.append(f"{file}, question {place}: {error}")
        if not kept:
            raise ValueError(unknown[0])
        return kept, [f"{each}; it is left out" for each in unknown]

    def _judged(self, questions: Sequence[Mapping[str, str]]) -> Answers:
        rows = [each.as_dict() for each in self.judge(questions)]
        columns = [*COLUMNS, "tail_rank", "head_rank", "probability", "share", "score", "known", "verdict"]
        return Answers(rows, columns=columns, tables=lambda: [judgement_table(rows)], notes=self._notes())

    def _answered(self, questions: Sequence[Mapping[str, str]], asked: Predict) -> Answers:
        index = self.index() if asked.faiss else None
        found = self.ask_many(questions, asked.top, known=not asked.new, index=index)
        answered = [
            (dict(question), [each.as_dict() for each in own]) for question, own in zip(questions, found, strict=True)
        ]
        rows = (
            {**{name: question.get(name, "") for name in COLUMNS}, "rank": rank, **answer}
            for question, own in answered
            for rank, answer in enumerate(own, 1)
        )
        columns = [*COLUMNS, "rank", "label", "name", "probability", "share", "score", "known", "verdict"]
        notes = () if asked.faiss else self._notes()
        return Answers(rows, columns=columns, tables=lambda: answer_tables(answered), notes=notes)

    @property
    def calibration(self) -> Calibration | None:
        """What turns scores into probabilities; None of a model whose record has none, or that scores otherwise now."""
        try:
            content = (self.record or {}).get("calibration")
        except ValueError:  # a damaged record hinders no answer
            return None
        return None if content is None else Calibration.from_dict(content)

    def _notes(self) -> list[str]:
        return [] if self.calibration is not None else [_UNCALIBRATED]

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

    def evaluate(self, **options: Any) -> Measures:
        """Filtered ranking: overall, by direction, by relation and by kind of relation."""
        asked = Evaluate.checked(options)
        if not len(self.graph.triples(asked.split)):
            where = "" if self.run is None else f" of {self.run.folder}"
            raise ValueError(f"expected {asked.split} triples, but the graph{where} has none; choose another --split")
        directions = self._score_as_asked(asked.inverse_weight, asked.inverse_power)
        measured = evaluate(self.scorer, self.graph, asked.split, protocol=asked.protocol, ties=asked.ties)
        result = {**directions, **measured}
        if (found := self.calibration) is not None:
            result["calibration"] = measure_plausibility(found, self.scorer, self.graph, asked.split)
        return Measures(result, tables=lambda: _evaluation(result))

    def embedding(self) -> Embedding:
        scorer, entities = self.scorer, self.graph.entities
        names = [entities.name(number) for number in range(len(entities))]
        if isinstance(scorer, VectorModel) and not isinstance(scorer, (MuRP, RotH, AttH)):  # whose vectors are of balls
            return Embedding(list(entities), names, scorer.points().detach(), None)
        scorer = self.hyperbolic_scorer("vectors")
        return Embedding(list(entities), names, all_points(scorer), scorer.manifold)

    def export(self, output: str | Path, **options: Any) -> str:
        said, note = super().export(output, **options), self.radius_note()
        return f"{said}\n{note}" if note else said

    @torch.no_grad()
    def radius_note(self) -> str:
        """What is to be said of points of equal radius; nothing of others."""
        scorer = self.scorer
        if not isinstance(scorer, TripleScorer) or scorer.entities.max_norm is None:
            return ""
        radius = scorer.manifold.dist0(all_points(scorer))
        at_bound = float((radius >= radius.max() * (1 - 1e-4)).double().mean())
        if at_bound < _AT_BOUND:
            return ""
        return (
            f"Note: {at_bound:.0%} of the entities have the same radius, {float(radius.max()):.3f}, that of "
            f"max_norm={scorer.entities.max_norm:g}: it does not say how general they are. A training with "
            "--set radius_order=10 makes it do so."
        )

    def export_as(self, to: str, output: Path, chart: Chart | None, *, safe_csv: bool = False) -> str:
        if to != "pykeen":
            return super().export_as(to, output, chart, safe_csv=safe_csv)
        from hybonet.tasks.knowledge_graph.pykeen_export import write_pykeen

        write_pykeen(self, output, chart)
        return f"Triples and embeddings for PyKEEN: {output}"

    def card_text(self) -> str:
        graph, scorer, sizes = self.graph, self.scorer, self.graph.statistics()
        if isinstance(scorer, TripleScorer):
            kind = (
                "A knowledge-graph model in hyperbolic space (the Lorentz model, K = "
                f"{scorer.manifold.curvature:.6g}): {sizes['entities']:,} entities as points with {scorer.dim} ambient "
                f"coordinates, and a Lorentz linear map for each of {sizes['relations']:,} relations and its inverse."
            )
        else:
            kind = (
                f"{type(scorer).__name__} of a knowledge graph: {sizes['entities']:,} entities with "
                f"{scorer.entities.weight.shape[1]} numbers each, {sizes['relations']:,} relations and their inverses."
            )
        text = (
            f"{kind} It was trained on {sizes['train']:,} triples of `{source_name(graph.source)}`, which are in this "
            "folder."
        )
        if note := self.radius_note():
            text += f"\n\n{note}"
        if scorer.scores_both_directions:
            text += "\n\nTriples are scored in both directions, from head to tail and back; "
            text += "`score_both_directions(0)` answers in one."
        return text

    def card_example(self) -> str:
        head, relation, _ = self.graph.train[0].tolist()
        asked = f'head="{self.graph.entities[head]}", relation="{self.graph.relations[relation]}"'
        return f"print(model.predict({asked}, top=5))  # labels or names, as in entities.tsv and relations.tsv"

    def _score_as_asked(self, other: float | None, power: float | None) -> dict[str, float]:
        """Read as options say, or else as the run's own settings do; how it reads, as far as that is known."""
        given = {
            name: value for name, value in (("inverse_weight", other), ("inverse_power", power)) if value is not None
        }
        own, fields = self.config.get("settings", {}), KnowledgeGraphSettings.model_fields
        names = ("inverse_weight", "inverse_power")
        if not given:
            return {name: own[name] for name in names if name in own}
        asked = {name: given.get(name, own.get(name, fields[name].default)) for name in names}
        if not asked["inverse_weight"] and power is not None:
            found = "the run has none of its own" if other is None else "got --inverse-weight 0"
            raise ValueError(
                "expected an inverse weight with --inverse-power, which changes nothing without one, and "
                f"{found}; give --inverse-weight 0.3, say, or leave --inverse-power out"
            )
        self.score_both_directions(**asked)
        return asked

    def score_both_directions(self, inverse_weight: float, inverse_power: float = 0.5) -> None:
        """Score triples in both directions from now on, as the settings of these names do; in one with 0.

        A record of other answers is forgotten: ``hybonet evaluate`` measures the saved model anew.

        Example:
            >>> graph = TripleData.from_labels([("dog", "is a", "canine"), ("wolf", "is a", "canine")])
            >>> model = KnowledgeGraphModel(TripleScorer(3, 1, 8), graph)
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
            if self.config["settings"].get("fit_inverse"):
                now["fit_inverse"] = False
            self.config["settings"] = {**self.config["settings"], **now}

    def index(self) -> FaissTailSearch:
        """A faiss index of all entities (extra ``faiss``) for :meth:`ask_many`.

        It finds the same answers with the same scores, but sees only the best of them: what all scores add up to is
        unknown, so shares and probabilities are None. Models that read triples both ways have no such index.
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


def _scorer_of(run: Run) -> TripleModel:
    """The best model of a run, or a saved one; one of HyboNet says itself how it is built."""
    if "model" not in run.config:
        scorer = run.model()
        if getattr(run.settings, "fit_inverse", False):
            scorer.score_both_directions(_fitted_shares(run, scorer))
        return scorer
    try:
        return run.load_into(TripleScorer.from_config(run.config["model"]))
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{run.folder / CONFIG}: expected the settings of a TripleScorer under model, but {error}; restore the file"
        ) from None


def _fitted_shares(run: Run, scorer: TripleModel) -> Tensor:
    """What was fitted after the training; where there is no record of it, it is fitted again."""
    try:
        return torch.tensor((run.record or {})["inverse_shares"])
    except (ValueError, KeyError):
        return fit_shares(scorer, run.data.graph)


def _evaluation(result: Mapping[str, Any]) -> Iterable[Any]:
    from rich.text import Text

    for table in evaluation_tables(dict(result)):
        yield table
        yield ""
    yield Text(LEGEND, style="dim")
