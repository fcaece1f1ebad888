"""Answers by name: many questions at once, one by one, from an index, and after a change of the weights."""

import math

import pytest
import torch

from hybonet.cli.answers import write
from hybonet.data.triples.triple_data import TripleData
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
from hybonet.tasks.knowledge_graph.predictor import KnowledgeGraphModel
from tests.toy_graph import toy_graph

QUESTIONS = [
    {"head": "n3", "relation": "next"},
    {"relation": "double", "tail": "n4", "head": ""},
    {"head": "n3", "tail": "n4"},
    {"head": "n7", "relation": "double"},
]


@pytest.fixture(params=[0.0, 0.4], ids=["one direction", "both directions"])
def model(request):
    torch.manual_seed(0)
    graph = toy_graph()
    scorer = TripleScorer(graph.num_entities, graph.num_relations, 8, loop_bias=True)
    for bias in (scorer.tail_bias, scorer.loop_bias):
        torch.nn.init.normal_(bias)
    model = KnowledgeGraphModel(scorer, graph)
    model.score_both_directions(request.param)
    return model


def pick(answers, *names):
    return [tuple(getattr(answer, name) for name in names) for answer in answers]


@pytest.mark.parametrize("known", [True, False])
def test_many_at_once_are_one_by_one(model, known):
    together = model.ask_many(QUESTIONS, 6, known=known)
    single = [model.ask(question, 6, known=known) for question in QUESTIONS]
    named = [
        model.tails("n3", "next", 6, known=known),
        model.heads("double", "n4", 6, known=known),
        model.relations("n3", "n4", 6, known=known),
        model.tails("n7", "double", 6, known=known),
    ]
    for ours, one, other in zip(together, single, named, strict=True):
        assert pick(ours, "label", "known") == pick(one, "label", "known") == pick(other, "label", "known")
        assert [a.share for a in ours] == pytest.approx([a.share for a in one], rel=1e-5)


def test_answers_are_the_softmax_of_the_scores(model):
    [answers] = model.ask_many(QUESTIONS[:1], 100)
    head, relation = model.graph.entities.find("n3"), model.graph.relations.find("next")
    expected = torch.softmax(model.scorer(torch.tensor([head]), torch.tensor([relation]))[0], 0)
    assert len(answers) == 20
    for answer in answers:
        assert answer.share == pytest.approx(expected[model.graph.entities.find(answer.label)].item(), rel=1e-5)
    assert [answer.score for answer in answers] == sorted((answer.score for answer in answers), reverse=True)
    assert [answer.label for answer in answers if answer.known] == ["n4"]


def test_known_answers_go_and_keep_their_share(model):
    everything, new = (model.ask_many(QUESTIONS, 100, known=known) for known in (True, False))
    for all_answers, new_answers in zip(everything, new, strict=True):
        assert new_answers == [answer for answer in all_answers if not answer.known]
        assert sum(answer.share for answer in all_answers) == pytest.approx(1.0, rel=1e-5)
    assert [answer.label for answer in new[2]] == ["double"]  # "next" is known between n3 and n4


def test_an_index_gives_the_same_answers_without_probabilities(model):
    pytest.importorskip("faiss")
    if model.scorer.scores_both_directions:
        with pytest.raises(ValueError, match=r"score_both_directions\(0\)"):
            model.index()
        model.score_both_directions(0)
        index = model.index()
        model.score_both_directions(0.4)
        with pytest.raises(ValueError, match=r"score_both_directions\(0\)"):
            model.ask(QUESTIONS[0], index=index)
        return
    for known in (True, False):
        plain = model.ask_many(QUESTIONS, 5, known=known)
        indexed = model.ask_many(QUESTIONS, 5, known=known, index=model.index())
        for ours, theirs in zip(plain, indexed, strict=True):
            assert pick(ours, "label", "known") == pick(theirs, "label", "known")
            assert [a.score for a in ours] == pytest.approx([a.score for a in theirs], rel=1e-4)
        assert all(answer.share is None for answer in indexed[0] + indexed[1])
        assert all(answer.share is not None for answer in indexed[2])  # relations are few, and all seen


def test_a_change_of_weights_is_seen(model):
    model.ask(QUESTIONS[0])
    with torch.no_grad():
        model.scorer.tail_bias[model.graph.entities.find("n11")] += 100.0
    assert model.ask(QUESTIONS[0])[0].label == "n11"
    assert math.isclose(model.ask(QUESTIONS[0])[0].share, 1.0)


def test_both_directions_are_kept_by_a_saved_model(model, tmp_path):
    before = model.ask_many(QUESTIONS, 5)
    model.score_both_directions(0.3, 1.0)
    changed = model.ask_many(QUESTIONS, 5)
    assert pick(changed[0], "score") != pick(before[0], "score")
    model.save_pretrained(tmp_path / "saved")
    again = KnowledgeGraphModel.from_pretrained(tmp_path / "saved").ask_many(QUESTIONS, 5)
    assert [pick(each, "label", "score") for each in again] == [pick(each, "label", "score") for each in changed]
    for wrong in ((1.5,), (-0.1,), (0.4, math.nan)):
        with pytest.raises(ValueError, match="expected a weight of the inverse direction from 0 to below 1"):
            model.score_both_directions(*wrong)


def test_metrics_of_other_answers_are_forgotten(model, tmp_path):
    model.config, model.record = {"settings": {"inverse_weight": 0.7}}, {"made": "up"}
    shares = model.scorer.shares
    model.score_both_directions(0.4 if model.scorer.scores_both_directions else 0.0)
    assert model.record == {"made": "up"}
    assert shares is None or torch.equal(shares, model.scorer.shares)
    model.score_both_directions(0.2)
    assert model.record is None
    assert model.config["settings"] == {"inverse_weight": 0.2, "inverse_power": 0.5}
    model.save_pretrained(tmp_path / "saved")
    assert "in both directions" in (tmp_path / "saved" / "README.md").read_text()


def test_a_change_of_the_scorer_s_directions_is_seen(model):
    before = model.ask(QUESTIONS[0])
    model.scorer.score_both_directions(torch.full((2 * model.graph.num_relations,), 0.2))
    after = model.ask(QUESTIONS[0])
    assert pick(after, "score") != pick(before, "score")
    [judged] = model.judge([{**QUESTIONS[0], "tail": after[0].label}])
    assert (judged.score, judged.tail_rank) == (pytest.approx(after[0].score, rel=1e-5), 1)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"head": "n3"}, "expected two of head, relation and tail, got head"),
        ({"head": "n3", "relation": "next", "tail": "n4"}, "expected two of head, relation and tail, got head, rel"),
        ({"head": "n3", "relatoin": "next"}, "expected two of"),
        ({"head": "nobody", "relation": "next"}, "expected one of 20 entities"),
    ],
)
def test_a_bad_question_is_named_by_its_place(model, question, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        model.ask(question)
    with pytest.raises(ValueError, match=f"question 2: {message}"):
        model.ask_many([QUESTIONS[0], question])


def test_edges(model):
    assert model.ask_many([]) == []
    with pytest.raises(ValueError, match="at least one answer"):
        model.ask(QUESTIONS[0], top=0)


def test_a_judged_triple_has_the_score_and_probability_of_its_answer(model):
    for answer in model.tails("n3", "next", 100):
        [found] = model.judge([{"head": "n3", "relation": "next", "tail": answer.label}])
        assert (found.share, found.score) == pytest.approx((answer.share, answer.score), rel=1e-4)
        assert found.known == answer.known


def test_judged_ranks_are_places_among_what_is_not_known(model):
    asked = [{"head": "n3", "relation": "next", "tail": tail} for tail in ("n4", "n9")]
    known, new = model.judge(asked)
    assert (known.known, new.known) == (True, False)
    unknown = [answer.label for answer in model.tails("n3", "next", 100, known=False)]
    assert new.tail_rank == 1 + unknown.index("n9")
    true, others = model.tails("n3", "next", 100), model.tails("n3", "next", 100, known=False)
    score = next(answer.score for answer in true if answer.label == "n4")
    assert known.tail_rank == 1 + sum(answer.score > score for answer in others)
    heads = [answer.label for answer in model.heads("next", "n9", 100, known=False)]
    assert new.head_rank == 1 + heads.index("n3")


@pytest.mark.parametrize(
    ("triple", "message"),
    [
        ({"head": "n3", "relation": "next"}, "question 1: expected head, relation and tail, got head, relation"),
        ({"head": "n3", "relation": "next", "tail": "m4"}, "question 1: .*'m4'"),
    ],
)
def test_half_a_triple_and_an_unknown_one_are_not_judged(model, triple, message):
    with pytest.raises(ValueError, match=message):
        model.judge([triple])
    assert model.judge([]) == []


def test_names_are_shown_as_they_are_whatever_brackets_they_have(capsys):
    names = ("Mercury [planet]", "[/m/02]", "[bold]Mercury")
    graph = TripleData.from_labels([(names[0], "[is] a", names[1]), (names[2], "[is] a", names[1])])
    model = KnowledgeGraphModel(TripleScorer(3, 1, 8), graph)
    question = {"head": names[0], "relation": "[is] a"}
    write(model.predict(question), "table", None)
    write(model.predict({"head": names[2], "relation": "[is] a", "tail": names[1]}), "table", None)
    shown = capsys.readouterr().out
    assert all(shown.count(name) >= 2 for name in (*names, "[is] a"))
