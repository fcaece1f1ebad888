"""Scores of all entities block by block are those of the forward pass."""

from typing import get_args

import pytest
import torch

from hybonet.tasks.knowledge_graph import models as baselines
from hybonet.tasks.knowledge_graph.models import triple_model
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
from hybonet.tasks.knowledge_graph.settings import Baseline


@pytest.mark.parametrize("name", ["TripleScorer", *get_args(Baseline)])
@pytest.mark.parametrize(("scores", "questions"), [(1, 3), (100, 5), (1 << 20, 256)])
def test_blocks_are_the_rows_of_all_scores(name, scores, questions, monkeypatch):
    monkeypatch.setattr(triple_model, "_SCORES", scores)
    monkeypatch.setattr(triple_model, "_QUESTIONS", questions)
    torch.manual_seed(0)
    if name == "TripleScorer":
        model = TripleScorer(40, 3, 8, loop_bias=True, dtype=torch.float64)
        torch.nn.init.normal_(model.loop_bias)
    else:
        model = getattr(baselines, name)(40, 3, 32).double()
    model.eval()
    heads, relations = torch.randint(40, (17,)), torch.randint(6, (17,))
    blocks = [block.clone() for block in model.all_scores(heads, relations)]
    torch.testing.assert_close(torch.cat(blocks), model(heads, relations))
    assert max(len(block) for block in blocks) <= max(1, scores // 40)


def test_no_questions_no_scores():
    nobody = torch.zeros(0, dtype=torch.long)
    blocks = list(TripleScorer(40, 3, 8).all_scores(nobody, nobody))
    assert sum(len(block) for block in blocks) == 0
