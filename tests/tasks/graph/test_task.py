"""Graph learning through the one loop: what is learned, what may not be known, and what is kept."""

import json
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from sklearn.metrics import average_precision_score, roc_auc_score

import hybonet.training.loop
from hybonet import GraphModel
from hybonet.data import disease_tree, load_graph
from hybonet.geometry import Lorentz
from hybonet.metrics.calibration import class_calibration, link_calibration
from hybonet.optim import RiemannianAdam
from hybonet.tasks.graph import predictor as graph_answers
from hybonet.tasks.graph.evaluation import link_measures
from hybonet.tasks.graph.task import GraphLearningTask, GraphSettings
from hybonet.tasks.run import Run, start
from hybonet.training import Interrupted, Reporter, Trainer

TREE = disease_tree(300, seed=1)


@pytest.fixture(scope="module")
def links(tmp_path_factory):
    """A short training of links."""
    folder = tmp_path_factory.mktemp("links") / "run"
    start(
        folder, "graph", GraphSettings(epochs=60, validate_every=20, loss="margin", margin=10.0, lr=0.02), TREE
    ).train()
    return folder


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    """A short training of classes, some of which are unknown."""
    folder = tmp_path_factory.mktemp("classes") / "run"
    labels = TREE.labels.clone()
    labels[:5] = -1
    start(
        folder, "graph", GraphSettings(task="nc", epochs=40, validate_every=20, lr=0.02), replace(TREE, labels=labels)
    ).train()
    return folder


def test_training_knows_no_edge_that_is_held_out():
    task = GraphLearningTask(GraphSettings(), TREE)
    held = {tuple(pair) for part in (task.links.valid, task.links.test) for pair in part.tolist()}
    assert not held & {tuple(pair) for pair in task.edge_index.T.tolist()}
    (batch,) = task.batches(0, 0)
    drawn = {tuple(sorted(pair)) for pair in batch.pairs.tolist()}
    negatives = torch.cat((task.links.valid_negatives, task.links.test_negatives)).tolist()
    assert not drawn & held
    assert not drawn & {tuple(pair) for pair in negatives}
    assert len(batch.pairs) == 2 * len(task.links.train)


def test_links_are_learned(links):
    record = json.loads((links / "record.json").read_text())
    assert record["test"]["roc_auc"] > 0.65  # 0.5 is chance
    assert record["protocol"] == "standard"
    assert record["split"] == {"train": 256, "valid": 14, "test": 29}
    assert record["data"]["sha256"] == TREE.sha256


def test_measures_are_scikit_learns():
    positive, negative = torch.randn(30).round(decimals=1) + 0.5, torch.randn(40).round(decimals=1)
    scores, truth = torch.cat((positive, negative)), [1] * 30 + [0] * 40
    found = link_measures(positive, negative)
    assert found["roc_auc"] == pytest.approx(roc_auc_score(truth, scores))
    assert found["average_precision"] == pytest.approx(average_precision_score(truth, scores))


@pytest.mark.parametrize("block", [1 << 24, 1000])
def test_missing_links_are_the_nearest_pairs_without_an_edge(links, block, monkeypatch):
    monkeypatch.setattr(graph_answers, "_BLOCK", block)  # all nodes at once, or some at a time
    model = GraphModel.from_pretrained(links)
    squares = model.model.manifold.csqdist(model.points.double(), model.points.double())
    squares[torch.ones_like(squares).tril().bool()] = torch.inf
    squares[model.graph.edges[:, 0], model.graph.edges[:, 1]] = torch.inf
    nearest = squares.flatten().topk(8, largest=False).values
    found = model.missing_links(8)
    torch.testing.assert_close(
        torch.tensor([link.squared_distance for link in found]).double(), nearest, rtol=1e-3, atol=1e-3
    )
    assert not any(link.known for link in found)
    own = model.links(found[0].node, top=299)
    assert len(own) == 299
    assert sum(link.known for link in own) == int((model.graph.edges == int(found[0].node)).sum())
    assert found[0].other in {link.other for link in model.links(found[0].node, top=20, known=False)}
    with pytest.raises(ValueError, match="expected a model of classes, got one trained with --task lp"):
        model.classify()


def test_classes_have_probabilities(classes, tmp_path):
    model = GraphModel.from_pretrained(classes)
    answers = model.classify()
    assert len(answers) == 300
    assert [answer.truth is None for answer in answers[:6]] == [True] * 5 + [False]
    assert all(sum(answer.probabilities.values()) == pytest.approx(1.0) for answer in answers)
    assert all(answer.probability == max(answer.probabilities.values()) for answer in answers)
    model.save_pretrained(tmp_path / "model")
    assert GraphModel.from_pretrained(tmp_path / "model").classify(["3"]) == model.classify(["3"])
    assert not (tmp_path / "model" / "checkpoint.safetensors").exists()


def test_calibration_is_the_most_likely_one():
    torch.manual_seed(0)
    near, far = torch.rand(200) * 40, 20 + torch.rand(200) * 40
    fitted = link_calibration(near, far)
    square, truth = torch.cat((near, far)), torch.cat((torch.ones(200), torch.zeros(200)))

    def loss(radius, temperature):
        return float(F.binary_cross_entropy_with_logits((radius - square) / temperature, truth))

    best = loss(**fitted)
    assert 20 < fitted["radius"] < 40
    for change in (0.9, 1.1):
        assert best < loss(fitted["radius"] * change, fitted["temperature"])
        assert best < loss(fitted["radius"], fitted["temperature"] * change)
    logits = torch.randn(100, 3) * 50
    assert class_calibration(logits, torch.randint(3, (100,)))["temperature"] > 50
    perfect = link_calibration(torch.zeros(5), torch.ones(5))  # no best exists: finite all the same
    assert perfect["temperature"] > 0


def test_weight_decay_is_not_on_biases_scales_and_points():
    task = GraphLearningTask(GraphSettings(task="nc", weight_decay=0.1), TREE)
    model = task.build_model()
    optimizer = task.build_optimizer(model)
    assert isinstance(optimizer, RiemannianAdam)
    decayed = {id(p) for group in optimizer.param_groups if group["weight_decay"] for p in group["params"]}
    names = {name for name, parameter in model.named_parameters() if id(parameter) in decayed}
    assert names == {"layers.0.lin.weight", "layers.1.lin.weight"}


@pytest.mark.parametrize(("loss", "learned"), [("cross_entropy", True), ("margin", False)])
def test_a_decoder_learns_by_cross_entropy_alone(loss, learned):
    """By margins its temperature would shrink until every margin is kept."""
    task = GraphLearningTask(GraphSettings(loss=loss, learn_decoder=True), TREE)
    names = {name for name, _ in task.build_model().named_parameters()}
    assert any("temperature" in name for name in names) == learned


class StopAfter(Reporter):
    """Asks a training to stop after some epochs."""

    def __init__(self, trainer_box, epochs):
        self.box, self.epochs = trainer_box, epochs

    def epoch(self, row, monitor, best):
        if row["epoch"] == self.epochs:
            self.box[0].stop.signal = "test"


@pytest.mark.parametrize("graph", [TREE, replace(TREE, features=None)], ids=["given", "learned"])
@pytest.mark.parametrize("changes", [{"dropout": 0.3}, {"batch_size": 64, "fan_out": 2}])
def test_a_stopped_training_goes_on_bit_for_bit(tmp_path, changes, graph):
    settings = GraphSettings(epochs=6, validate_every=2, learn_decoder=True, **changes)
    task = GraphLearningTask(settings, graph)
    for name in ("whole", "parts"):
        (tmp_path / name).mkdir()
    whole = Trainer(task, tmp_path / "whole").fit()
    box = []
    box.append(Trainer(task, tmp_path / "parts", reporter=StopAfter(box, 3)))
    with pytest.raises(Interrupted):
        box[0].fit()
    parts = Trainer(task, tmp_path / "parts").fit(resume=True)
    assert whole.history[-1]["loss"] == parts.history[-1]["loss"]
    assert [row.get("auc_ap") for row in whole.history] == [row.get("auc_ap") for row in parts.history]
    for name, tensor in whole.model.state_dict().items():
        assert torch.equal(tensor, parts.model.state_dict()[name]), name


def test_short_epochs_do_not_each_write_a_checkpoint(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(hybonet.training.loop, "_BETWEEN_EPOCHS", 1000.0)
    save = hybonet.training.loop.save_checkpoint
    monkeypatch.setattr(hybonet.training.loop, "save_checkpoint", lambda *a: (written.append(1), save(*a)))
    task = GraphLearningTask(GraphSettings(epochs=5, checkpoint_seconds=2000.0), TREE)
    Trainer(task, tmp_path).fit()
    assert len(written) == 1  # the last


def test_released_protocol_repeats_airport_nodes_and_says_so():
    graph = load_graph("disease-small")
    many = replace(graph, labels=graph.labels + 2 * (torch.arange(600) % 2), classes=("a", "b", "c", "d"))
    settings = GraphSettings(task="nc", protocol="paper_code")
    assert GraphLearningTask(settings, many).describe()["test_nodes_repeated_in_train"] > 0.2
    standard = GraphLearningTask(GraphSettings(task="nc"), many).describe()
    assert standard["test_nodes_repeated_in_train"] == 0.0
    assert standard["measure"] == "micro F1"


def test_a_run_holds_its_graph(classes, links):
    for folder in (classes, links):
        graph = Run(folder).data
        assert torch.equal(graph.edges, TREE.edges)
        assert torch.equal(graph.features, TREE.features)
        assert graph.classes == TREE.classes
    with pytest.raises(ValueError, match="holds files; go on with --resume"):
        start(links, "graph", GraphSettings(), TREE)


def test_a_graph_without_features_learns_its_own(tmp_path):
    bare = replace(TREE, features=None)
    task = GraphLearningTask(GraphSettings(epochs=2, validate_every=1), bare)
    assert task.describe()["inputs"] == "learned"
    Trainer(task, tmp_path).fit()
    degrees = GraphLearningTask(GraphSettings(inputs="degrees"), bare)
    assert degrees.x.shape == (300, 7)
    assert int(degrees.x[:, :6].argmax(1)[0]) == min(5, int((degrees.links.train == 0).sum()))


def test_measures_of_learned_features_are_of_the_present_model(tmp_path):
    """Neither the first validation's features nor those of another model's file."""
    start(tmp_path / "run", "graph", GraphSettings(epochs=6, validate_every=1), replace(TREE, features=None)).train()
    record = json.loads((tmp_path / "run/record.json").read_text())
    model = GraphModel.load(tmp_path / "run")
    assert model.evaluate()["test"] == record["test"]
    assert model.calibration == record["calibration"]


def test_what_cannot_be_trained_is_said():
    with pytest.raises(ValueError, match="expected labels to learn classes from"):
        GraphLearningTask(GraphSettings(task="nc"), replace(TREE, labels=None, classes=()))
    with pytest.raises(ValueError, match="expected features with inputs=features, got none"):
        GraphLearningTask(GraphSettings(inputs="features"), replace(TREE, features=None))
    with pytest.raises(ValueError, match="the graph is too small for the split"):
        GraphLearningTask(GraphSettings(), disease_tree(10))
    with pytest.raises(ValueError, match="model=hybonet has, got 'heads', which is one of hybonet-attention, GAT;"):
        GraphSettings(heads=2)


def test_one_class_alone_is_refused():
    labels = TREE.labels.clamp(max=0)
    labels[:5] = -1
    with pytest.raises(ValueError, match="expected labels of at least two classes, got 'healthy' alone"):
        GraphLearningTask(GraphSettings(task="nc"), replace(TREE, labels=labels))


@pytest.mark.parametrize("model", ["hybonet", "HGCN", "GCN"])
def test_a_card_tells_the_space_and_its_learned_curvature(tmp_path, model):
    task = GraphLearningTask(GraphSettings(model=model, **({"learn_curvature": True} if model == "HGCN" else {})), TREE)
    network = task.build_model()
    if model == "HGCN":
        network.manifold = Lorentz(-0.5, learnable=True)
    GraphModel(network, task).save_pretrained(tmp_path / "model")
    card = (tmp_path / "model/README.md").read_text()
    assert ("- hyperbolic" in card) == (model != "GCN")
    space = {"hybonet": "(K = -1)", "HGCN": "(K = -0.5, learned)", "GCN": ""}[model]
    assert space in card
    assert ("in hyperbolic space" in card) == (model != "GCN")


def test_heads_that_do_not_divide_the_points_are_told_by_the_names_of_the_settings():
    with pytest.raises(ValueError, match=r"expected dim \(16\) to be a multiple of heads, got heads=3; choose heads=2"):
        GraphSettings.checked({"model": "hybonet-attention", "heads": 3})
