"""Every option of knowledge-graph training changes a result, and does what its name says."""

import math
from typing import get_args

import pytest
import torch

from hybonet import KnowledgeGraphModel
from hybonet.data.triples.triple_data import TripleData
from hybonet.tasks.knowledge_graph.losses import regularisation
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
from hybonet.tasks.knowledge_graph.settings import Baseline, KnowledgeGraphSettings
from hybonet.tasks.knowledge_graph.task import Batch, KnowledgeGraphTask, evaluate
from hybonet.tasks.run import start
from hybonet.training import Trainer
from tests.toy_graph import toy_graph

BASE = {"dim": 8, "epochs": 1, "batch_size": 32, "lr": 0.02}
OWN = {"negative_sampling": "per_triple", "negatives": 5}


def first_loss(**changes):
    """The loss of the first batch."""
    siblings = [(f"child{i}", "is a", f"parent{i % 3}") for i in range(20)]
    data = TripleData.from_labels([*siblings, ("parent0", "is a", "root")], valid=siblings[:1])
    task = KnowledgeGraphTask(KnowledgeGraphSettings(**{**BASE, **changes}), data)
    torch.manual_seed(0)
    model = task.build_model()
    with torch.autocast("cpu", torch.bfloat16, enabled=task.settings.precision == "bfloat16"):
        loss = task.loss(model, next(iter(task.batches(0, 0))))
    loss.backward()
    return loss.item()


@pytest.mark.parametrize(
    ("base", "change"),
    [
        ({}, {"loss": "bce"}),
        ({}, {"loss": "self_adversarial"}),
        ({}, OWN),
        ({}, {"negative_sampling": "shared", "negatives": 7}),
        (OWN, {"negatives": 6}),
        ({}, {"filter_negatives": True}),
        (OWN, {"filter_negatives": True, "negatives": 200}),
        ({"negative_sampling": "shared", "negatives": 200}, {"filter_negatives": True}),
        ({}, {"bernoulli": True}),
        ({}, {"label_smoothing": 0.1}),
        ({"loss": "bce"}, {"label_smoothing": 0.1}),
        ({}, {"logit_scale": 0.5}),
        ({"model": "RotH"}, {"logit_scale": 0.5}),
        (OWN, {"logit_scale": 0.5}),
        ({"loss": "self_adversarial"}, {"adversarial_temperature": 0.0}),
        ({}, {"regularizer": "l2", "regularization": 0.1}),
        ({}, {"regularizer": "n3", "regularization": 0.1}),
        ({}, {"model": "hybonet-tangent"}),
        ({}, {"dropout": 0.5}),
        ({}, {"K": -2.0}),
        ({}, {"init_std": 0.01}),
        ({}, {"max_norm": 0.1}),
        ({}, {"scale": 5.0}),
        ({"loss": "bce"}, {"margin": 1.0}),
        ({"loss": "bce", "model": "TransE"}, {"margin": 1.0}),
    ],
    ids=str,
)
def test_every_option_changes_the_loss(base, change):
    before, after = first_loss(**base), first_loss(**{**base, **change})
    assert before == first_loss(**base)
    assert math.isfinite(after)
    assert after != before


def test_directions_change_what_is_ranked_and_not_what_is_learned(tmp_path):

    siblings = [(f"child{i}", "is a", f"parent{i % 3}") for i in range(20)]
    data = TripleData.from_labels(siblings[4:], valid=siblings[:2], test=siblings[2:4])
    models, records = {}, {}
    for other, power in ((0.0, 0.5), (0.4, 0.0), (0.4, 1.0)):
        folder = tmp_path / f"{other}-{power}"
        settings = KnowledgeGraphSettings(**BASE, inverse_weight=other, inverse_power=power)
        run = start(folder, "kg", settings, data)
        run.train()
        models[other, power], records[other, power] = run.model(), run.record
    weights = [model.state_dict() for model in models.values()]
    assert all(torch.equal(each[name], weights[0][name]) for each in weights for name in weights[0])
    figures = [record["test"]["both"]["mrr"] for record in records.values()]
    assert len(set(figures)) == 3
    assert "test_one_direction" not in records[0.0, 0.5]
    assert all(records[each]["test_one_direction"]["mrr"] == figures[0] for each in ((0.4, 0.0), (0.4, 1.0)))
    assert all(model.eval().scores_both_directions == bool(other) for (other, _), model in models.items())


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("regularizer", ["l2", "n3"])
def test_penalties_pull_entities_inwards_beyond_the_max_norm_too(regularizer, sparse):
    """Beyond it the loss sees the bound and not the length, so that the penalty must be of what is stored."""
    scorer = TripleScorer(5, 1, 4, max_norm=0.5)
    scorer.entities.sparse = sparse
    with torch.no_grad():
        scorer.entities.weight.copy_(scorer.manifold.random_normal(5, 4, std=3.0))
    regularisation([scorer.penalised(torch.arange(5))], 2 if regularizer == "l2" else 3).backward()
    gradient = scorer.entities.weight.grad.to_dense()
    assert ((gradient * scorer.entities.weight)[:, 1:].sum(1) > 0.1).all()
    assert not gradient[:, 0].any()


@pytest.mark.parametrize("model", ["hybonet", "hybonet-tangent", "TuckER", "RotH"])
@pytest.mark.parametrize("loss", ["bce", "softmax", "self_adversarial"])
@pytest.mark.parametrize("sampling", ["per_triple", "shared", "all"])
def test_half_precision_gives_nearly_the_same_loss(model, loss, sampling):
    changes = {"model": model, "loss": loss, "negative_sampling": sampling, "dropout": 0.0}
    half = first_loss(**changes, precision="bfloat16")
    assert half == pytest.approx(first_loss(**changes), rel=0.03)


@pytest.mark.parametrize("sampling", ["per_triple", "shared", "all"])
def test_processes_together_have_the_gradient_of_one(sampling):
    """Shares of a batch may be unequal, or empty."""
    changes = {
        "negative_sampling": sampling,
        "negatives": 9,
        "batch_size": 3,
        "regularizer": "n3",
        "regularization": 0.1,
    }
    task = KnowledgeGraphTask(KnowledgeGraphSettings(**{**BASE, **changes}), toy_graph())
    torch.manual_seed(0)
    model = task.build_model().double()
    gradients = []
    for world in (1, 2, 4):
        model.zero_grad()
        for rank in range(world):
            (task.loss(model, next(iter(task.batches(0, 0, rank, world)))) / world).backward()
        gradients.append([p.grad.clone() for p in model.parameters() if p.grad is not None])
    for alone, *together in zip(*gradients, strict=True):
        for other in together:
            torch.testing.assert_close(alone, other, rtol=1e-6, atol=1e-9)


def test_sparse_updates_are_for_one_process():
    settings = KnowledgeGraphSettings(**{**BASE, "negative_sampling": "shared", "sparse_updates": True})
    task = KnowledgeGraphTask(settings, toy_graph())
    with pytest.raises(ValueError, match="expected sparse_updates=false with several processes"):
        next(iter(task.batches(0, 0, 1, 2)))


@pytest.mark.parametrize(("loss", "trained"), [("softmax", False), ("bce", True)])
def test_what_a_loss_does_not_see_is_not_trained(loss, trained):
    """Softmax is blind to what all answers of a question have in common: its bias would follow rounding alone."""
    for model in ("hybonet", "MuRE", "RotH"):
        settings = KnowledgeGraphSettings(**{**BASE, "loss": loss, "model": model})
        assert KnowledgeGraphTask(settings, toy_graph()).build_model().head_bias.requires_grad == trained


def test_curvature_is_trained_if_asked(tmp_path):
    settings = KnowledgeGraphSettings(**{**BASE, "learn_curvature": True, "epochs": 2, "lr": 0.05})
    result = Trainer(KnowledgeGraphTask(settings, toy_graph()), tmp_path).fit()
    assert result.model.manifold.curvature != pytest.approx(-1.0, abs=1e-3)


@pytest.mark.parametrize("model", [*get_args(Baseline), "hybonet-tangent"])
def test_every_model_learns_and_answers(model, tmp_path):
    changes = {"model": model, "dim": 32, "epochs": 40, "batch_size": 40, "lr": 0.05, "validate_every": 40}
    data = toy_graph()
    settings = KnowledgeGraphSettings(**changes)
    result = Trainer(KnowledgeGraphTask(settings, data), tmp_path).fit()
    assert evaluate(result.model, data, "train")["both"]["mrr"] > 0.5
    answers = KnowledgeGraphModel(result.model, data).tails(data.entities[0], data.relations[0], top=3)
    assert len(answers) == 3
    assert sum(answer.share for answer in answers) <= 1 + 1e-5


def graph_of(triples):
    return TripleData.from_labels(triples, valid=triples[:1])


@pytest.mark.parametrize("sampling", ["per_triple", "shared", "all"])
@pytest.mark.parametrize("loss", ["bce", "softmax"])
def test_filtered_candidates_are_left_out_and_no_others(sampling, loss):
    """With all entities as candidates, moving a known right answer changes nothing, moving a wrong one does."""
    data = graph_of([("a", "r", "b"), ("a", "r", "c"), ("d", "r", "e")])
    settings = KnowledgeGraphSettings(
        dim=4, loss=loss, negative_sampling=sampling, negatives=5, filter_negatives=True, label_smoothing=0.1
    )
    task = KnowledgeGraphTask(settings, data)
    a, b, c, d = (data.entities.find(name) for name in "abcd")
    everyone = torch.arange(data.num_entities)
    shown = {"per_triple": everyone[None], "shared": everyone, "all": None}[sampling]
    batch = Batch(torch.tensor([a]), torch.tensor([0]), torch.tensor([b]), shown, weight=1.0)
    torch.manual_seed(0)
    model = task.build_model()

    def loss_with(entity):
        with torch.no_grad():
            model.tail_bias.zero_()
            model.tail_bias[entity] = 1.0
            return task.loss(model, batch).item()

    assert loss_with(c) == pytest.approx(_plain(task, model, batch))
    assert loss_with(d) != pytest.approx(_plain(task, model, batch))


def _plain(task, model, batch):
    with torch.no_grad():
        model.tail_bias.zero_()
        return task.loss(model, batch).item()


def test_relations_without_loops_learn_so(tmp_path):
    """A symmetric relation maps an entity close to itself; the loop bias takes it out of the answers."""
    pairs = [(f"a{i}", f"b{i}") for i in range(20)]
    data = TripleData.from_labels(
        [(x, "twin", y) for a, b in pairs for x, y in ((a, b), (b, a))], valid=[("a0", "twin", "b0")]
    )
    firsts = []
    for name, loops in (("with", True), ("without", False)):
        settings = KnowledgeGraphSettings(dim=8, epochs=30, batch_size=20, lr=0.05, loop_bias=loops, validate_every=30)
        (tmp_path / name).mkdir()
        model = Trainer(KnowledgeGraphTask(settings, data), tmp_path / name).fit().model
        with torch.no_grad():
            every = torch.arange(data.num_entities)
            scores = model(every, torch.zeros_like(every))
        firsts.append((scores.argmax(1) == every).float().mean().item())
        if loops:
            assert (model.loop_bias < -1).all()
    assert firsts[0] <= firsts[1]


def test_bernoulli_weights_favour_the_direction_with_few_answers():
    data = graph_of([(f"child{i}", "is a", "parent") for i in range(4)])
    task = KnowledgeGraphTask(KnowledgeGraphSettings(dim=4, bernoulli=True), data)
    forwards, backwards = task.relation_weights.tolist()  # a child has 1 parent, a parent 4 children
    assert forwards == pytest.approx(2 * 4 / 5)
    assert backwards == pytest.approx(2 * 1 / 5)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"regularizer": "n3"}, "regularizer and regularization together"),
        ({"regularization": 0.1}, "regularizer and regularization together"),
        ({"loss": "self_adversarial", "label_smoothing": 0.1}, "label_smoothing=0"),
    ],
)
def test_options_that_would_do_nothing_are_refused(changes, said):
    with pytest.raises(ValueError, match=said):
        KnowledgeGraphSettings(**changes)


def both_ways():
    """Pairs of friends, most of them known from both sides, and parents, known from one."""
    friends = [(f"a{i}", "friend", f"b{i}") for i in range(20)]
    back = [(tail, relation, head) for head, relation, tail in friends[2:]]
    return graph_of([*friends, *back, *[(f"a{i}", "child of", "p") for i in range(20)]])


def test_symmetric_relations_are_found_in_the_training_triples():
    data = both_ways()
    task = KnowledgeGraphTask(KnowledgeGraphSettings(**BASE, symmetric_logit_scale=2.0, tie_symmetric=True), data)
    friend = list(data.relations).index("friend")
    assert task.logit_scale[friend] == 2
    assert task.logit_scale[1 - friend] == 1
    assert task.build_model().symmetric == (friend,)
    assert KnowledgeGraphTask(KnowledgeGraphSettings(**BASE), data).build_model().symmetric == ()


def test_what_is_known_one_way_of_a_symmetric_relation_is_known_the_other_way(tmp_path):
    data = both_ways()
    settings = KnowledgeGraphSettings(**BASE | {"epochs": 60, "validate_every": 60}, tie_symmetric=True)
    model = KnowledgeGraphModel(Trainer(KnowledgeGraphTask(settings, data), tmp_path).fit().model, data)
    assert model.tails("b0", "friend", top=1)[0].label == "a0"  # only a0 friend b0 was there


@pytest.mark.parametrize("model", ["hybonet", "MuRE", "ConvE", "RotatE"])
@pytest.mark.parametrize("sampling", ["per_triple", "shared"])
def test_sparse_updates_move_the_entities_of_a_batch_and_no_others(model, sampling):
    """Points or vectors, and the biases as well; the loss and its gradients are those of a dense training."""
    data = toy_graph()
    settings = {
        "model": model,
        "dim": 32,
        "batch_size": 4,
        "negative_sampling": sampling,
        "negatives": 3,
        "loss": "bce",
    }
    gradients, losses = [], []
    for sparse in (False, True):
        task = KnowledgeGraphTask(KnowledgeGraphSettings(**settings, sparse_updates=sparse), data)
        torch.manual_seed(0)
        network = task.build_model()
        optimizer = task.build_optimizer(network)
        before = {name: value.clone() for name, value in network.state_dict().items()}
        batch = next(iter(task.batches(0, 0)))
        loss = task.loss(network, batch)
        loss.backward()
        losses.append(loss.item())
        grads = {name: parameter.grad for name, parameter in network.named_parameters() if parameter.grad is not None}
        gradients.append({name: grad.to_dense() if grad.is_sparse else grad for name, grad in grads.items()})
        optimizer.step()
    assert losses[0] == pytest.approx(losses[1])
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradients[1][name], gradient)
    touched = torch.cat((batch.heads, batch.tails, batch.candidates.flatten())).unique()
    rest = torch.ones(data.num_entities, dtype=torch.bool)
    rest[touched] = False
    assert rest.any()
    by_entity = [name for name, value in before.items() if value.shape[:1] == (data.num_entities,)]
    assert len(by_entity) == (3 if model != "RotatE" else 1)
    for name in by_entity:
        assert grads[name].is_sparse, name
        assert torch.equal(network.state_dict()[name][rest], before[name][rest]), name
        assert not torch.equal(network.state_dict()[name], before[name]), name


def test_an_epoch_has_every_triple_once_each_way():
    data = toy_graph()
    task = KnowledgeGraphTask(KnowledgeGraphSettings(batch_size=7), data)
    seen = [
        triple
        for b in task.batches(0, 0)
        for triple in zip(*(c.tolist() for c in (b.heads, b.relations, b.tails)), strict=True)
    ]
    assert sorted(seen) == sorted(map(tuple, data.with_reciprocals("train").tolist()))
    assert seen != sorted(seen)
