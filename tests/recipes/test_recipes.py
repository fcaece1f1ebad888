"""Every recipe builds, and trains on a toy graph."""

from dataclasses import replace

import pytest
import torch

from hybonet.data import disease_tree, load_corpus, load_treebank
from hybonet.data.text.parallel_text import Pairs
from hybonet.data.text.translation_data import prepare
from hybonet.recipes import recipe, recipes
from hybonet.tasks.graph.task import GraphLearningTask
from hybonet.tasks.hierarchy.task import HierarchySettings
from hybonet.tasks.knowledge_graph.task import KnowledgeGraphTask
from hybonet.tasks.probing.task import ProbeData, ProbeSplit, TreeProbingTask
from hybonet.tasks.translation.decoding import Decoding
from hybonet.tasks.translation.evaluation import evaluate
from hybonet.tasks.translation.task import TranslationTask
from hybonet.training import Trainer, override
from tests.toy_graph import toy_graph


@pytest.mark.parametrize("name", [each.name for each in recipes().values() if each.task == "kg"])
def test_recipe_trains_two_epochs(name, tmp_path):
    settings = override(recipe(name).settings, ["epochs=2", "validate_every=1"])
    result = Trainer(KnowledgeGraphTask(settings, toy_graph()), tmp_path).fit()
    assert len(result.history) == 2
    assert all(parameter.isfinite().all() for parameter in result.model.parameters())
    assert result.history[1]["loss"] < result.history[0]["loss"]


@pytest.mark.parametrize("name", [each.name for each in recipes().values() if each.task == "graph"])
def test_graph_recipe_trains_two_epochs(name, tmp_path):
    settings = override(recipe(name).settings, ["epochs=2", "validate_every=1"])
    result = Trainer(GraphLearningTask(settings, disease_tree(200)), tmp_path).fit()
    assert len(result.history) == 2
    assert all(parameter.isfinite().all() for parameter in result.model.parameters())


@pytest.fixture(scope="module")
def toy_text():
    corpus = load_corpus("toy")
    splits = {name: Pairs(pairs.source[:12], pairs.target[:12]) for name, pairs in corpus.splits.items()}
    return prepare(replace(corpus, splits=splits), "words", 100)


@pytest.mark.parametrize("name", [each.name for each in recipes().values() if each.task == "translation"])
def test_translation_recipe_trains_two_steps(name, toy_text, tmp_path):
    settings = override(recipe(name).settings, ["steps=2", "compile=false", "accumulate=1", "batch_tokens=110"])
    if settings.dim > 64:  # the sizes of large ones are checked by building; two steps of them take their time
        model = TranslationTask(settings, toy_text).build_model()
        assert model.dim == settings.dim
        return
    result = Trainer(TranslationTask(settings, toy_text), tmp_path).fit()
    assert result.best["perplexity"] < 1e6
    assert all(parameter.isfinite().all() for parameter in result.model.parameters())


@pytest.mark.parametrize("model", ["euclidean", "hatt", "convolution", "poincare"])
def test_every_translation_model_trains_and_translates(model, toy_text, tmp_path):
    changes = ["steps=3", f"model={model}", "dim=16", "layers=1", "batch_tokens=110"]
    settings = override(recipe("translation").settings, changes)
    result = Trainer(TranslationTask(settings, toy_text), tmp_path).fit()
    how = Decoding(beam=2, max_length=5)
    assert evaluate(result.model, toy_text, "test", how, settings=settings)["perplexity"] < 1e6


@pytest.mark.parametrize("name", [each.name for each in recipes().values() if each.task == "probe"])
def test_probe_recipe_trains_two_steps(name, tmp_path):
    trees = load_treebank("toy").test[:8]
    states = torch.randn(sum(map(len, trees)), 2, 6, generator=torch.Generator().manual_seed(0))
    splits = {split: ProbeSplit(trees, states) for split in ("train", "valid", "test")}
    settings = override(recipe(name).settings, ["steps=2", "epochs=2", "validate_every=2"])
    result = Trainer(TreeProbingTask(settings, ProbeData(splits, None, (0, 1), {})), tmp_path).fit()
    assert result.history[1]["loss"] < result.history[0]["loss"]
    assert all(parameter.isfinite().all() for parameter in result.model.parameters())


def test_a_recipe_is_for_its_task():
    assert recipe("hierarchy", task="hierarchy").settings == HierarchySettings()
    with pytest.raises(ValueError, match="for train kg, but 'hierarchy' is one for train hierarchy; choose one of def"):
        recipe("hierarchy", task="kg")
    with pytest.raises(ValueError, match="unknown recipe 'defualt'; known: hierarchy"):
        recipe("defualt", task="hierarchy")


def test_the_papers_settings():
    settings = recipe("paper-wn18rr-32").settings
    assert (settings.batch_size, settings.negatives, settings.margin, settings.max_norm) == (1000, 50, 8.0, 1.5)
    assert (settings.epochs, settings.scale, settings.lr, settings.max_grad_norm) == (1000, 3.5, 0.005, 0.5)
    assert settings.optimizer == "riemannian"
    assert recipe("paper-fb15k237-500").published["mrr"] == 0.352
    settings = recipe("paper-airport-nc").settings
    assert (settings.lr, settings.weight_decay, settings.activation, settings.margin) == (0.02, 0.0001, "relu", 2.0)
    assert recipe("paper-airport-nc").published["f1"] == 0.909
    settings = recipe("paper-iwslt14-64").settings
    assert (settings.dim, settings.feedforward, settings.layers, settings.heads) == (64, 256, 6, 4)
    assert (settings.batch_tokens, settings.steps, settings.schedule.warmup) == (10_240, 40_000, 8000)
    assert (settings.dropout, settings.attention_dropout, settings.label_smoothing) == (0.0, 0.1, 0.1)
    assert settings.optimizer == "riemannian"


def test_relations_are_dense_parameters_of_the_stated_size(tmp_path):
    model = KnowledgeGraphTask(recipe("default").settings, toy_graph()).build_model()
    assert model.relation_weight.shape == (4, 32, 32)
    assert model.entities.weight.dtype == torch.float32
