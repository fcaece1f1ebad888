"""Ranks of a split are the same whether scores are made row by row or in tiles."""

import pytest
import torch

from hybonet import kernels
from hybonet.data import load_knowledge_graph
from hybonet.tasks.knowledge_graph import models as baselines
from hybonet.tasks.knowledge_graph.evaluation import rank_split
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
from hybonet.tasks.knowledge_graph.task import score_with_inverse


@pytest.mark.skipif(not kernels.available(), reason="numba is not installed (extra 'fast')")
@pytest.mark.parametrize("protocol", ["standard", "paper_code"])
@pytest.mark.parametrize("inverse_weight", [0.0, 0.4])
@pytest.mark.parametrize("name", ["hybonet", "hybonet without loops", "DistMult", "ConvE", "MuRE"])
def test_tiles_and_rows_give_the_same_ranks(name, inverse_weight, protocol):
    data = load_knowledge_graph("wordnet")
    torch.manual_seed(0)
    counts = data.num_entities, data.num_relations
    if name.startswith("hybonet"):
        model = TripleScorer(*counts, 8, loop_bias=name == "hybonet", dtype=torch.float64)
        if model.loop_bias is not None:
            torch.nn.init.normal_(model.loop_bias)
    else:
        model = getattr(baselines, name)(*counts, 32).double()
    score_with_inverse(model.eval(), data, inverse_weight, 0.5)
    with kernels.switched(on=True):
        tiled = rank_split(model, data, "test", protocol=protocol)
    with kernels.switched(on=False):
        whole = rank_split(model, data, "test", protocol=protocol)
    for one, other in ((tiled.tails, whole.tails), (tiled.heads, whole.heads)):
        assert torch.equal(one.rank, other.rank)
        assert torch.equal(one.candidates, other.candidates)
