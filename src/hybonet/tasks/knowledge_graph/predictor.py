"""Questions to a trained knowledge-graph model, asked and answered by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from hybonet.reporting.answers import Answers, Measures
from hybonet.tasks.knowledge_graph.answering import Answering
from hybonet.tasks.knowledge_graph.data import write
from hybonet.tasks.knowledge_graph.inverse_shares import fit_shares
from hybonet.tasks.knowledge_graph.models import AttH, MuRP, RotH
from hybonet.tasks.knowledge_graph.models.tail_search import all_points
from hybonet.tasks.knowledge_graph.models.triple_model import TripleModel, VectorModel
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
from hybonet.tasks.knowledge_graph.options import Evaluate, Predict
from hybonet.tasks.knowledge_graph.plausibility import (
    measure_plausibility,
)
from hybonet.tasks.knowledge_graph.questions import COLUMNS, read_questions
from hybonet.tasks.knowledge_graph.report import LEGEND, answer_tables, evaluation_tables, judgement_table
from hybonet.tasks.knowledge_graph.settings import KnowledgeGraphSettings
from hybonet.tasks.knowledge_graph.task import evaluate, score_with_inverse
from hybonet.tasks.predictor import Embedding
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


class KnowledgeGraphModel(Answering):
    """A trained model with the graph it knows.

    The probability of a triple is fitted to validation triples when a training ends, and lies in its record. Shares are
    the softmax of the scores over all candidates of a question, known ones included.

    Example:
        >>> from hybonet.data.triples.triple_data import TripleData
        >>> graph = TripleData.from_labels([("dog", "is a", "canine"), ("wolf", "is a", "canine")])
        >>> model = KnowledgeGraphModel(TripleScorer(3, 1, 8), graph)
        >>> sorted(answer.label for answer in model.tails("dog", "is a", top=3, known=False))
        ['dog', 'wolf']
    """

    task_name = "kg"

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

    def predict(
        self, question: Mapping[str, str] | Sequence[Mapping[str, str]] | None = None, **options: Any
    ) -> Answers:
        """Rank what a missing head, relation or tail may be, or judge whole triples.

        Args:
            question: a mapping with two or three of ``head``, ``relation`` and ``tail``, or several such; or give these
                as keywords.
            options: of ``hybonet predict``: ``head``, ``relation``, ``tail``, ``top``, ``new``, ``questions``, …

        Example:
            >>> from hybonet.data.triples.triple_data import TripleData
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

    def _notes(self) -> list[str]:
        return [] if self.calibration is not None else [_UNCALIBRATED]

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
        try:
            from hybonet.tasks.knowledge_graph.pykeen import write_pykeen
        except ImportError as error:
            raise ValueError(
                f"the export to PyKEEN needs it installed ({error}); pip install hybonet[pykeen]"
            ) from None
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
            >>> from hybonet.data.triples.triple_data import TripleData
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

    def hyperbolic_scorer(self, wanted: str) -> TripleScorer:
        """The scorer, if it is HyboNet's; a ``ValueError`` says what it is ``wanted`` for if it is another model."""
        if not isinstance(self.scorer, TripleScorer):
            raise ValueError(
                f"expected a hybonet model for {wanted}, got {type(self.scorer).__name__}; train with model=hybonet"
            )
        return self.scorer


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
