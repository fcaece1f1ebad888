"""Scores of a triple in both directions."""

import pytest
import torch

from hybonet.tasks.knowledge_graph import models as baselines
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer

ENTITIES, RELATIONS = 23, 3
HEADS, ASKED = torch.tensor([0, 4, 4, 9, 22]), torch.tensor([0, 1, 5, 5, 2])
SHARES = torch.tensor([0.9, 0.6, 0.5, 0.3, 0.8, 1.0])
MODELS = ["TripleScorer", "TransE", "DistMult", "ComplEx", "ConvE", "RotatE", "TuckER", "MuRE", "MuRP", "RotH", "AttH"]


def scorer(name):
    torch.manual_seed(0)
    if name == "TripleScorer":
        model = TripleScorer(ENTITIES, RELATIONS, 8, loop_bias=True, symmetric=[1])
    else:
        model = getattr(baselines, name)(ENTITIES, RELATIONS, 8)
    with torch.no_grad():  # biases start at zero, and some points so near to it that only biases would count
        for parameter in model.parameters():
            if parameter is not model.entities.weight or name != "TripleScorer":
                parameter.normal_(std=0.3)
    return model.eval()


def expected(model, heads, relations, tails):
    """The formula, one triple at a time, by the scores of one direction."""
    scores = torch.empty(tails.shape)
    for row, (h, r) in enumerate(zip(heads.tolist(), relations.tolist(), strict=True)):
        for column, t in enumerate(tails[row].tolist()):
            other = (r + RELATIONS) % (2 * RELATIONS)
            one = model.one_direction(torch.tensor([h]), torch.tensor([r]), torch.tensor([t]))
            back = model.one_direction(torch.tensor([t]), torch.tensor([other]), torch.tensor([h]))
            scores[row, column] = SHARES[r] * one + (1 - SHARES[r]) * back
    return scores


@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_candidates_has_the_mean_of_both_directions(name):
    model = scorer(name)
    every = torch.arange(ENTITIES).expand(len(HEADS), -1)
    with torch.no_grad():
        wanted = expected(model, HEADS, ASKED, every)
        model.score_both_directions(SHARES)
        pool = torch.tensor([0, 3, 4, 22])
        found = {
            "all": model(HEADS, ASKED),
            "own": model(HEADS, ASKED, every),
            "one": model(HEADS, ASKED, every[:, 4])[:, None],
            "pool": model(HEADS, ASKED, pool=pool),
            "both": model(HEADS, ASKED, every[:, :2], pool=pool),
            "one and pool": model(HEADS, ASKED, every[:, 1], pool=pool),
            "blocks": torch.cat([block.clone() for block in model.all_scores(HEADS, ASKED)]),
        }
    columns = {"one": [4], "pool": pool.tolist(), "both": [0, 1, *pool.tolist()], "one and pool": [1, *pool.tolist()]}
    for kind, scores in found.items():
        part = wanted[:, columns.get(kind, list(range(ENTITIES)))]
        torch.testing.assert_close(scores, part, rtol=1e-4, atol=1e-4, msg=lambda text, kind=kind: f"{kind}: {text}")


def test_blocks_of_any_size_are_mixed_with_their_own_relation(monkeypatch):
    model = scorer("TripleScorer")
    model.score_both_directions(SHARES)
    heads, relations = torch.randint(ENTITIES, (40,)), torch.randint(2 * RELATIONS, (40,)).sort().values
    whole = torch.cat([block.clone() for block in model.all_scores(heads, relations)])
    monkeypatch.setattr("hybonet.tasks.knowledge_graph.models.triple_model._SCORES", 3 * ENTITIES)
    small = [block.clone() for block in model.all_scores(heads, relations)]
    assert len(small) > 10
    torch.testing.assert_close(torch.cat(small), whole)


def test_training_knows_one_direction_only():
    model = scorer("TripleScorer")
    one = model(HEADS, ASKED)
    model.score_both_directions(SHARES)
    assert not torch.allclose(model(HEADS, ASKED), one)
    torch.testing.assert_close(model.train()(HEADS, ASKED), one)
    model.eval().score_both_directions(None)
    torch.testing.assert_close(model(HEADS, ASKED), one)


@pytest.mark.parametrize("name", ["TripleScorer", "DistMult", "MuRE", "RotH"])
def test_scores_under_autocast(name):
    model = scorer(name)
    model.score_both_directions(SHARES)
    exact = model(HEADS, ASKED)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = model(HEADS, ASKED)
    torch.testing.assert_close(rounded.float(), exact, rtol=0.05, atol=0.1)


@pytest.mark.parametrize(
    ("shares", "message"),
    [(torch.ones(3), "6 in all, got shape"), (torch.full((6,), 1.5), "from 0 to 1"), (SHARES / 0, "from 0 to 1")],
)
def test_shares_that_are_none_are_refused(shares, message):
    with pytest.raises(ValueError, match=message):
        scorer("TripleScorer").score_both_directions(shares)


def test_the_configuration_keeps_the_shares():
    model = scorer("TripleScorer")
    model.score_both_directions(SHARES)
    again = TripleScorer.from_config(model.config()).eval()
    again.load_state_dict(model.state_dict())
    torch.testing.assert_close(again(HEADS, ASKED), model(HEADS, ASKED))
