"""What the knowledge-graph task is made of; see :class:`hybonet.tasks.base.Parts`."""

from __future__ import annotations

from typing import Any

from hybonet.data.triples.triple_data import TripleData
from hybonet.tasks.knowledge_graph.candidates import AFTERWARDS, candidates, edges_of, guess, twin
from hybonet.tasks.knowledge_graph.data import TrainingGraph, load, read, write
from hybonet.tasks.knowledge_graph.evaluation import radius_and_depth
from hybonet.tasks.knowledge_graph.inverse_shares import fit_shares
from hybonet.tasks.knowledge_graph.models.triple_model import TripleModel
from hybonet.tasks.knowledge_graph.options import DataOptions
from hybonet.tasks.knowledge_graph.pictures import pictures
from hybonet.tasks.knowledge_graph.plausibility import fit_plausibility, measure_plausibility
from hybonet.tasks.knowledge_graph.predictor import KnowledgeGraphModel
from hybonet.tasks.knowledge_graph.recipes import RECIPES
from hybonet.tasks.knowledge_graph.report import after_training, headline, next_command
from hybonet.tasks.knowledge_graph.settings import KnowledgeGraphSettings
from hybonet.tasks.knowledge_graph.task import KnowledgeGraphTask, evaluate
from hybonet.tasks.recipes import recipe
from hybonet.training import FitResult

settings, predictor = KnowledgeGraphSettings, KnowledgeGraphModel
tune_note = (
    "The search knows no test triples. hybonet train leaves them, too, out of the rankings, so its validation figures "
    "are higher."
)
not_searched = dict.fromkeys(
    ("distillation_weight", "distillation_answers", "teacher_logit_scale"),
    "a search has no teachers to learn from; leave it out",
)


def task(chosen: KnowledgeGraphSettings, data: TrainingGraph | TripleData) -> KnowledgeGraphTask:
    """What the training loop trains."""
    if isinstance(data, TripleData):
        return KnowledgeGraphTask(chosen, data)
    built = KnowledgeGraphTask(chosen, data.graph, data.teacher)
    built.teachers = list(data.teachers)
    return built


def measures(trained: KnowledgeGraphTask, result: FitResult) -> dict[str, Any]:
    """Validation and test, by the standard protocol and by that of the paper's code, and by one direction alone."""
    found: dict[str, Any] = {"valid": result.best}
    data, model = trained.data, result.model
    assert isinstance(model, TripleModel)
    if trained.settings.fit_inverse:
        shares = fit_shares(model, data)
        model.score_both_directions(shares)
        found |= {"valid": {**result.best, **trained.validate(model)}, "inverse_shares": shares.tolist()}
    fitted = fit_plausibility(model, data)
    if fitted is not None:
        found["calibration"] = fitted.as_dict()
    if (radius := radius_and_depth(model, data)) is not None:
        found["radius"] = radius
    if len(data.test):
        found["test"] = evaluate(model, data, "test")
        if fitted is not None:
            found["test"]["calibration"] = measure_plausibility(fitted, model, data, "test")
        found["test_paper_code"] = evaluate(model, data, "test", protocol="paper_code")["both"]
        if model.shares is not None:
            shares = model.shares
            model.score_both_directions(None)
            found["test_one_direction"] = evaluate(model, data, "test")["both"]
            model.score_both_directions(shares)
    if trained.teacher is not None:
        found["teachers"] = trained.teachers
    return found


def choose_recipe(name: str | None, changes: list[str], options: DataOptions, data: Any) -> tuple[str, list[str]]:
    """The recipe to start from; one that learns from trained runs needs some."""
    chosen = name or "default"
    if recipe(chosen, "kg").distilled and not options.teacher:
        raise ValueError(
            f"expected --teacher RUN with the recipe {chosen}, which learns from trained runs; give one or more, or "
            "choose another recipe"
        )
    return chosen, changes
