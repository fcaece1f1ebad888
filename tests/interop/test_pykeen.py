"""A scorer in PyKEEN's clothes: its evaluator and its predictions say what ours say."""

import pytest
import torch

from hybonet.optim import RiemannianAdam
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
from hybonet.tasks.knowledge_graph.predictor import KnowledgeGraphModel
from hybonet.tasks.knowledge_graph.task import evaluate
from tests.toy_graph import toy_graph

pytest.importorskip("pykeen")
from pykeen.evaluation import RankBasedEvaluator
from pykeen.pipeline import pipeline
from pykeen.predict import predict_target
from pykeen.triples.triples_factory import KGInfo

from hybonet.interop.pykeen import PykeenModel, triples_factory
from hybonet.tasks.knowledge_graph.pykeen import HyboNet


@pytest.fixture(scope="module")
def graph():
    return toy_graph()


@pytest.fixture(scope="module")
def scorer(graph):
    torch.manual_seed(0)
    scorer = TripleScorer(graph.num_entities, graph.num_relations, 8, dropout=0.5)
    for bias in (scorer.head_bias, scorer.tail_bias, scorer.relation_bias):
        torch.nn.init.normal_(bias)
    return scorer.eval()


def test_pykeens_evaluator_gives_our_metrics(graph, scorer):
    ours = evaluate(scorer, graph, "test")
    theirs = RankBasedEvaluator().evaluate(
        PykeenModel(scorer, triples_factory(graph)),
        triples_factory(graph, "test").mapped_triples,
        batch_size=8,
        additional_filter_triples=[graph.train, graph.valid],
        use_tqdm=False,
    )
    for ours_side, their_side in (("both", "both"), ("tails", "tail"), ("heads", "head")):
        for ours_name, their_name in (("mrr", "inverse_harmonic_mean_rank"), ("hits@3", "hits_at_3")):
            expected = theirs.get_metric(f"{their_side}.realistic.{their_name}")
            assert ours[ours_side][ours_name] == pytest.approx(expected, rel=1e-6)


def test_pykeens_predictions_are_our_answers(graph, scorer):
    adapter, factory = PykeenModel(scorer, triples_factory(graph)), triples_factory(graph)
    model = KnowledgeGraphModel(scorer, graph)
    tails = predict_target(adapter, head="n3", relation="next", triples_factory=factory).df
    assert tails["tail_label"].tolist() == [answer.label for answer in model.tails("n3", "next", top=100)]
    heads = predict_target(adapter, relation="double", tail="n4", triples_factory=factory).df
    assert heads["head_label"].tolist() == [answer.label for answer in model.heads("double", "n4", top=100)]
    relations = predict_target(adapter, head="n3", tail="n4", triples_factory=factory).df
    assert relations["relation_label"].tolist() == [answer.label for answer in model.relations("n3", "n4")]


def test_given_candidates_are_columns_of_all(graph, scorer):
    model = PykeenModel(scorer, triples_factory(graph))
    pairs, some = torch.tensor([[3, 0], [5, 1]]), torch.tensor([7, 2])
    torch.testing.assert_close(model.score_t(pairs, tails=some), model.score_t(pairs)[:, some])
    each = torch.tensor([[1, 2], [3, 4]])
    torch.testing.assert_close(model.score_h(pairs.flip(1), heads=each), model.score_h(pairs.flip(1)).gather(1, each))
    ends = torch.tensor([[3, 4], [5, 9]])
    torch.testing.assert_close(model.score_r(ends, relations=torch.tensor([1])), model.score_r(ends)[:, 1:])
    triples = torch.tensor([[3, 0, 4], [5, 0, 9]])
    torch.testing.assert_close(model.score_hrt(triples), model.score_r(ends)[:, :1])


def test_graphs_that_do_not_fit_are_refused(scorer):
    with pytest.raises(ValueError, match="got 20 and 5"):
        PykeenModel(scorer, KGInfo(num_entities=20, num_relations=5, create_inverse_triples=False))


def test_the_pipeline_trains_a_scorer_that_both_measure_alike(graph):
    result = pipeline(
        training=triples_factory(graph, inverse=True),
        testing=triples_factory(graph, "test"),
        model=HyboNet,
        model_kwargs={"dim": 8},
        optimizer=RiemannianAdam,
        optimizer_kwargs={"lr": 0.03},
        training_loop="lcwa",
        epochs=15,
        training_kwargs={"batch_size": 16, "use_tqdm": False},
        evaluation_kwargs={"batch_size": 8, "use_tqdm": False, "additional_filter_triples": [graph.train, graph.valid]},
        random_seed=0,
        device="cpu",
    )
    scorer = result.model.scorer.eval()
    assert result.losses[-1] < 0.5 * result.losses[0]
    assert scorer.manifold.check_point(scorer.entities.points())
    ours, learned = evaluate(scorer, graph, "test"), evaluate(scorer, graph, "train")
    for ours_side, their_side in (("both", "both"), ("tails", "tail"), ("heads", "head")):
        assert learned[ours_side]["mrr"] > 0.5  # heads, too, are found
        expected = result.get_metric(f"{their_side}.realistic.inverse_harmonic_mean_rank")
        assert ours[ours_side]["mrr"] == pytest.approx(expected, rel=1e-5)


def test_the_pipeline_needs_inverse_triples(graph):
    with pytest.raises(ValueError, match="expected triples with their inverses"):
        HyboNet(triples_factory=triples_factory(graph))
