"""A model that learns from the answers of trained ones."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from hybonet.data.triples.triple_data import TripleData
from hybonet.tasks.knowledge_graph.data import TEACHER, TrainingGraph, load
from hybonet.tasks.knowledge_graph.distillation import TeacherAnswers, ask_teachers
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
from hybonet.tasks.knowledge_graph.options import DataOptions
from hybonet.tasks.knowledge_graph.settings import KnowledgeGraphSettings
from hybonet.tasks.knowledge_graph.task import KnowledgeGraphTask
from hybonet.tasks.run import Run, start
from hybonet.training import Interrupted, Reporter
from tests.toy_graph import toy_graph

SETTINGS = KnowledgeGraphSettings(dim=8, epochs=3, batch_size=32, lr=0.02)


@pytest.fixture(scope="module", params=[0.0, 0.3], ids=["one direction", "both directions"])
def teacher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("teacher") / "run"
    start(folder, "kg", SETTINGS.model_copy(update={"inverse_weight": request.param}), toy_graph()).train()
    return folder


def graph_of(teacher: Path) -> TripleData:
    return Run(teacher).data.graph


def taught(teacher: Path, settings: KnowledgeGraphSettings, graph: TripleData) -> TrainingGraph:
    """What ``train kg --teacher`` trains on."""
    return load(graph, settings, DataOptions(teacher=[teacher]))


def asked(teacher: Path, **changes: object) -> TeacherAnswers:
    graph = graph_of(teacher)
    options = {"logit_scale": torch.ones(graph.num_relations), "answers": 4, **changes}
    return ask_teachers([Run(teacher).model()] * 2, graph, **options)


def test_answers_are_the_best_scored_entities(teacher: Path) -> None:
    graph, answers = graph_of(teacher), asked(teacher)
    heads, relations, _ = graph.with_reciprocals("train").unbind(1)
    entities, probability = answers.of(heads, relations)
    scores = Run(teacher).model()(heads, relations)  # the mean of two equal teachers
    best = scores.topk(4, dim=1)
    assert torch.equal(entities, best.indices)
    torch.testing.assert_close(probability, best.values.softmax(1))


def test_a_student_comes_closer_to_its_teacher_than_one_without(teacher: Path) -> None:
    graph, answers = graph_of(teacher), asked(teacher)
    heads, relations, _ = graph.with_reciprocals("train").unbind(1)
    entities, probability = answers.of(heads, relations)

    def agreement(task: KnowledgeGraphTask) -> float:
        torch.manual_seed(1)
        model: TripleScorer = task.build_model()
        optimizer = task.build_optimizer(model)
        for epoch in range(10):
            for batch in task.batches(epoch, 0):
                optimizer.zero_grad()
                task.loss(model, batch).backward()
                optimizer.step()
        chosen = model(heads, relations).detach().log_softmax(1).gather(1, entities)
        return float((probability * chosen).sum(1).mean())

    student = KnowledgeGraphTask(SETTINGS, graph, answers)
    assert agreement(student) > agreement(KnowledgeGraphTask(SETTINGS, graph)) + 0.1


@pytest.mark.parametrize("change", [{"distillation_weight": 0.9}, {"label_smoothing": 0.2}], ids=str)
def test_options_change_the_loss(teacher: Path, change: dict[str, float]) -> None:
    def first(settings: KnowledgeGraphSettings) -> float:
        task = KnowledgeGraphTask(settings, graph_of(teacher), asked(teacher))
        torch.manual_seed(0)
        return float(task.loss(task.build_model(), next(iter(task.batches(0, 0)))).detach())

    assert first(SETTINGS) != first(SETTINGS.model_copy(update=change))


def test_options_change_the_answers(teacher: Path) -> None:
    plain, sharp = asked(teacher), asked(teacher, logit_scale=torch.full((graph_of(teacher).num_relations,), 3.0))
    assert torch.equal(plain.entities, sharp.entities)
    assert bool((sharp.probability[:, 0] > plain.probability[:, 0]).all())


def test_a_run_keeps_the_answers_names_the_teachers_and_resumes_bit_for_bit(teacher: Path, tmp_path: Path) -> None:
    class StopsOnce(Reporter):
        def epoch(self, *_: object) -> None:
            raise KeyboardInterrupt

    for name in ("whole", "stopped"):
        start(tmp_path / name, "kg", SETTINGS, taught(teacher, SETTINGS, toy_graph()))
    Run(tmp_path / "whole").train()
    with pytest.raises((KeyboardInterrupt, Interrupted)):
        Run(tmp_path / "stopped").train(reporter=StopsOnce())
    Run(tmp_path / "stopped").train(resume=True)
    whole, stopped = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "stopped"))
    assert all(torch.equal(whole[key], stopped[key]) for key in whole)
    assert (tmp_path / "whole" / TEACHER).exists()
    (named,) = Run(tmp_path / "whole").record["teachers"]
    assert named["run"] == teacher.name
    assert named["valid_mrr"] == Run(teacher).record["valid"]["mrr"]
    (tmp_path / "stopped" / TEACHER).unlink()  # going on without would be another training
    with pytest.raises(ValueError, match=f"{TEACHER}: expected a safetensors file, found none"):
        Run(tmp_path / "stopped").train(resume=True)


def test_what_cannot_be_learned_from_is_refused(teacher: Path) -> None:
    other = replace(toy_graph(), train=toy_graph().train[1:])
    with pytest.raises(ValueError, match="same graph"):
        taught(teacher, SETTINGS, other)
    own = SETTINGS.model_copy(update={"negative_sampling": "per_triple"})
    with pytest.raises(ValueError, match="negative_sampling=per_triple"):
        taught(teacher, own, toy_graph())
    with pytest.raises(ValueError, match="--teacher RUN with distillation_weight"):
        load(toy_graph(), SETTINGS.model_copy(update={"distillation_weight": 0.9}), DataOptions())
