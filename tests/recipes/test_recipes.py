"""Every recipe builds, and trains on a toy graph."""

import pytest
import torch

from hybonet.data import disease_tree
from hybonet.data.triples import TripleData
from hybonet.recipes import recipe, recipes
from hybonet.tasks.graph_learning import GraphLearningTask
from hybonet.tasks.hierarchy_embedding import HierarchySettings
from hybonet.tasks.knowledge_graph import KnowledgeGraphTask
from hybonet.training import Trainer, override


def toy_graph() -> TripleData:
    """Numbers with successor and double: enough structure to rank above chance."""
    facts = [(f"n{i}", "next", f"n{(i + 1) % 20}") for i in range(20)]
    facts += [(f"n{i}", "double", f"n{2 * i % 20}") for i in range(20)]
    return TripleData.from_labels(facts[:30], facts[30:35], facts[35:])


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


def test_relations_are_dense_parameters_of_the_stated_size(tmp_path):
    model = KnowledgeGraphTask(recipe("default").settings, toy_graph()).build_model()
    assert model.relation_weight.shape == (4, 32, 32)
    assert model.entities.weight.dtype == torch.float32
