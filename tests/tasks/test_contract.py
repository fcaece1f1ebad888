"""Every task, and several models of each, keep the contract of ``hybonet.testing.check_task``."""

import warnings
from dataclasses import replace
from typing import get_args

import pytest
import torch

import hybonet
from hybonet import KnowledgeGraphModel
from hybonet.data import disease_tree, load_corpus, load_treebank
from hybonet.data.mentions.loading import load_mentions
from hybonet.data.text.parallel_text import Pairs
from hybonet.data.text.translation_data import prepare
from hybonet.tasks.base import spec
from hybonet.tasks.checks import check_figures, check_resumed
from hybonet.tasks.knowledge_graph.models import MuRE, MuRP, RotatE, RotH
from hybonet.tasks.knowledge_graph.settings import KnowledgeGraphSettings
from hybonet.tasks.probing.task import ProbeData, ProbeSplit
from hybonet.testing import check_task
from tests.clamp_rules import assert_no_rule_matters
from tests.toy_graph import toy_graph

FAMILY = [("dog", "canine"), ("wolf", "canine"), ("canine", "mammal"), ("cat", "feline"), ("feline", "mammal")]


def graph():
    return toy_graph()


def tree():
    return disease_tree(120)


def text():
    corpus = load_corpus("toy")
    return prepare(
        replace(
            corpus, splits={name: Pairs(pairs.source[:12], pairs.target[:12]) for name, pairs in corpus.splits.items()}
        ),
        "words",
        100,
    )


def town():
    found = load_mentions("little-town")
    return replace(found, train=found.train[:40], valid=found.valid[:10], test=found.test[:10])


def states():
    trees = load_treebank("toy").test[:6]
    made = torch.randn(sum(map(len, trees)), 2, 6, generator=torch.Generator().manual_seed(0))
    splits = {split: ProbeSplit(trees, made.clone()) for split in ("train", "valid", "test")}
    return ProbeData(splits, None, (0, 1), {"encoder": {"name": "noise"}, "data": {"source": "toy"}})


KG = {"data": graph, "question": {"head": "n3", "relation": "next"}, "dim": 8, "epochs": 3, "batch_size": 20}
GRAPH = {"data": tree, "question": {"node": "7"}, "dim": 8, "epochs": 3, "validate_every": 1}
TEXT = {"data": text, "question": {"sentences": ["the dog sleeps"]}, "dim": 16, "layers": 1, "heads": 2, "steps": 6}
TEXT |= {"batch_tokens": 110, "validate_every": 1, "feedforward": 16}
TOWN = {"data": town, "question": {"sentence": "The [mayor] spoke."}, "dim": 16, "epochs": 2, "batch_size": 10}
CASES = {
    "kg hybonet": ("kg", KG),
    "kg RotatE": ("kg", {**KG, "model": "RotatE", "inverse_weight": 0.3}),
    "kg MuRE": ("kg", {**KG, "model": "MuRE", "sparse_updates": True, "negative_sampling": "shared"}),
    "kg MuRP": ("kg", {**KG, "model": "MuRP"}),
    "graph links": ("graph", {**GRAPH, "inputs": "features"}),
    "graph links, learned inputs": ("graph", {**GRAPH, "inputs": "learned"}),
    "graph classes, batches": ("graph", {**GRAPH, "task": "nc", "batch_size": 40}),
    "graph GCN": ("graph", {**GRAPH, "model": "GCN"}),
    "graph HGCN, learned inputs": ("graph", {**GRAPH, "model": "HGCN", "inputs": "learned"}),
    "hierarchy": ("hierarchy", {"data": lambda: FAMILY, "question": {"node": "dog"}, "dim": 3, "epochs": 3}),
    "translation hybonet": ("translation", TEXT),
    "translation euclidean": ("translation", {**TEXT, "model": "euclidean"}),
    "typing hybonet": ("typing", {**TOWN, "heads": 2, "feedforward": 16}),
    "typing LabelGCN": ("typing", {**TOWN, "model": "LabelGCN"}),
    "probe": ("probe", {"data": states, "dim": 4, "epochs": 3, "batch_size": 2}),
}


@pytest.mark.parametrize("case", CASES)
def test_every_task_keeps_the_contract(case):
    task, arguments = CASES[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        check_task(task, **{**arguments, "data": arguments["data"]()})


def models(task):
    """Every model that the settings of a task know."""

    def names(kind):
        return [name for each in get_args(kind) for name in (names(each) or [each])]

    return names(spec(task).implementation.settings.model_fields["model"].annotation)


#: Settings of every model of every task, by task, sizes and what is asked of it.
MODELS = {
    f"{task} {model}{note}": (task, {**sizes, "model": model, **more})
    for task, sizes, variants in (
        ("kg", {**KG, "epochs": 2}, {"": {}}),
        ("graph", {**GRAPH, "epochs": 2}, {" lp": {"inputs": "learned"}, " nc": {"task": "nc"}}),
        ("translation", {**TEXT, "steps": 2}, {"": {}}),
        ("typing", {**TOWN, "epochs": 1}, {"": {}}),
    )
    for model in models(task)
    for note, more in variants.items()
}


@pytest.mark.parametrize("case", MODELS)
def test_every_model_measures_what_its_record_says_and_goes_on_as_it_would(case, tmp_path, monkeypatch):
    monkeypatch.setattr("hybonet.tasks.run.find_spec", lambda name: None)  # curves take half of the time
    task, arguments = MODELS[case]
    chosen = {name: value for name, value in arguments.items() if name not in ("data", "question")}
    data = arguments["data"]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = hybonet.train(task, data, out=tmp_path / "run", reporter=False, **chosen)
        check_figures(model)
        check_resumed(model, data, chosen, tmp_path)
        _check_clamps(model.run.task)


def _check_clamps(task):
    """Gradients of the loss are those of every torch."""
    model, batch = task.build_model(), next(iter(task.batches(1, 0)))

    def loss():
        torch.manual_seed(0)
        return task.loss(model, batch)

    assert_no_rule_matters(loss, [parameter for parameter in model.parameters() if parameter.requires_grad])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("KGModel", "KnowledgeGraphModel"),
        ("NetworkModel", "GraphModel"),
        ("MTModel", "TranslationModel"),
        ("MentionTyper", "TypingModel"),
    ],
)
def test_old_names_warn_and_are_the_new_ones(old, new):
    with pytest.warns(DeprecationWarning, match=f"hybonet.{old} is now hybonet.{new}"):
        found = getattr(hybonet, old)
    assert found is getattr(hybonet, new)


def test_a_baseline_without_settings_cannot_be_saved_and_says_so(tmp_path):
    model = KnowledgeGraphModel(RotatE(20, 2, 8), toy_graph())
    with pytest.raises(ValueError, match=r"expected settings in the config of a RotatE to save.*; give"):
        model.save_pretrained(tmp_path / "saved")
    assert not (tmp_path / "saved").exists()
    settings = KnowledgeGraphSettings(model="RotatE", dim=8, margin=9.0)
    model.config["settings"] = settings.model_dump()
    model.save_pretrained(tmp_path / "saved")
    assert KnowledgeGraphModel.load(tmp_path / "saved").tails("n1", "next") == model.tails("n1", "next")


@pytest.mark.parametrize(("kind", "chart"), [(MuRE, None), (MuRP, "refused"), (RotH, "refused")])
def test_vectors_are_those_that_are_compared_or_refused(kind, chart):
    model = KnowledgeGraphModel(kind(20, 2, 8), toy_graph())
    if chart == "refused":
        with pytest.raises(ValueError, match=f"expected a hybonet model for vectors, got {kind.__name__}"):
            model.vectors()
        return
    found = model.vectors()
    assert (found.chart, found.K) == (None, None)
    assert (found.values == model.scorer.entities.weight.detach().numpy()).all()
    with pytest.raises(ValueError, match="whose vectors are Euclidean"):
        model.vectors("poincare")
