"""The probability of a triple: what it is fitted to, what it says, and that a saved model says the same."""

import pytest
import torch

import hybonet
from hybonet.data import load_knowledge_graph
from hybonet.metrics import roc_auc
from hybonet.metrics.ranking import KnownTriples
from hybonet.tasks.knowledge_graph.models.tail_search import search_for
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
from hybonet.tasks.knowledge_graph.plausibility import contrast, fit_plausibility, triple_features

RINGS = [(f"n{a}", f"step {step}", f"n{(a + step) % 60}") for a in range(60) for step in (1, 2, 3)]
RINGS += [(f"n{a}", "hub", f"n{a % 3}") for a in range(60)]


@pytest.fixture(scope="module")
def graph():
    return load_knowledge_graph(RINGS, valid=0.15, test=0.1)


@pytest.fixture(scope="module")
def model(graph, tmp_path_factory):
    out = tmp_path_factory.mktemp("rings") / "run"
    return hybonet.train("kg", graph, out=out, recipe="default", epochs=25, dim=16, batch_size=50, reporter=False)


@pytest.mark.parametrize("split", ["valid", "test"])
def test_false_triples_are_false_and_of_twice_the_weight(graph, split):
    torch.manual_seed(0)
    cases = contrast(search_for(TripleScorer(60, 4, 8)), graph, split)
    told = graph.train if split == "valid" else graph.triples("all")
    known = KnownTriples(torch.cat((told, graph.triples(split))), graph.num_entities, graph.num_relations)
    assert torch.equal(known.contain(*cases.triples.unbind(1)), cases.truth)
    true, false = (float(cases.weight[cases.truth == kind].sum()) for kind in (True, False))
    assert 2 * true == pytest.approx(false) == 2 * len(graph.triples(split))
    own = graph.triples(split)[cases.case]
    assert int((own == cases.triples).sum(1).min()) == 2  # one end is another, or none


def test_features_are_scores_and_shares_of_both_directions(graph):
    torch.manual_seed(0)
    scorer = TripleScorer(60, 4, 8)
    triples = graph.test[:5]
    found = triple_features(search_for(scorer), triples, 4)
    head, relation, tail = triples.unbind(1)
    there, back = scorer(head, relation), scorer(tail, relation + 4)
    place = torch.arange(len(triples))
    expected = torch.stack(
        (there[place, tail], back[place, head], there.log_softmax(1)[place, tail], back.log_softmax(1)[place, head]), 1
    )
    assert torch.allclose(found.float(), expected, atol=1e-4)


def test_probabilities_hold_on_triples_that_were_not_fitted(model):
    measured = model.evaluate()["calibration"]
    assert measured == model.record["test"]["calibration"]
    assert measured["ece"] < 0.2
    assert measured["brier"] < 0.2  # one third everywhere is .22
    cases = contrast(search_for(model.scorer), model.graph, "test")
    assert roc_auc(model.plausible(cases.triples), cases.truth) > 0.7


def test_many_right_answers_are_all_probable(model):
    answers = model.heads("hub", "n1", top=15)
    assert max(answer.share for answer in answers) < 0.3
    known = [answer for answer in answers if answer.known]
    assert len(known) > 5
    assert min(answer.probability for answer in known) > 0.5
    assert {answer.verdict for answer in known} == {"known"}
    others = [answer for answer in model.heads("hub", "n1", top=60) if not answer.known]
    assert {answer.verdict for answer in others} <= {"new", "unlikely"}
    assert all((answer.probability >= 0.5) == (answer.verdict == "new") for answer in others)


def test_a_triple_has_one_probability_however_it_is_asked(model):
    whole = model.judge([{"head": "n4", "relation": "step 1", "tail": "n5"}])[0].probability
    asked = (
        next(each for each in model.tails("n4", "step 1", top=60) if each.label == "n5"),
        next(each for each in model.heads("step 1", "n5", top=60) if each.label == "n4"),
        next(each for each in model.relations("n4", "n5") if each.label == "step 1"),
    )
    assert [each.probability for each in asked] == pytest.approx([whole] * 3, abs=1e-5)


def test_a_saved_model_says_the_same_and_one_without_calibration_says_so(model, tmp_path):
    model.save_pretrained(tmp_path / "saved")
    saved, question = hybonet.load(tmp_path / "saved"), {"head": "n4", "relation": "step 1"}
    assert saved.predict(**question) == model.predict(**question)
    saved.record = None
    bare = saved.predict(**question)
    assert bare[0]["probability"] is None
    assert bare[0]["share"] > 0
    assert "no calibration" in bare.notes[0]
    assert "share" in str(bare)
    other = hybonet.load(tmp_path / "saved").predict(**question, inverse_weight=0.3)
    assert other[0]["probability"] is None  # it was fitted to other scores


def test_too_few_triples_are_fitted_to_nothing():
    few = load_knowledge_graph(RINGS[:60], valid=0.05, test=0.05)
    assert fit_plausibility(TripleScorer(few.num_entities, few.num_relations, 8), few) is None
