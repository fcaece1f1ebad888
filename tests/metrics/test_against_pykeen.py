"""Our filtered ranking is PyKEEN's: same scores, same figures."""

import numpy as np
import pytest
import torch
from torch import nn

from hybonet.data.triples.triple_data import TripleData
from hybonet.data.vocabulary import Vocabulary
from hybonet.metrics.ranking import ranking_metrics
from hybonet.tasks.knowledge_graph.task import rank_split

pytest.importorskip("pykeen")
from pykeen.evaluation import RankBasedEvaluator

from hybonet.interop.pykeen import PykeenModel, triples_factory

ENTITIES, RELATIONS = 25, 3
#: Our names of PyKEEN's metrics.
NAMES = {
    "mrr": "inverse_harmonic_mean_rank",
    "hits@1": "hits_at_1",
    "hits@3": "hits_at_3",
    "hits@10": "hits_at_10",
    "mean_rank": "arithmetic_mean_rank",
    "adjusted_mean_rank": "adjusted_arithmetic_mean_rank",
    "adjusted_mean_rank_index": "adjusted_arithmetic_mean_rank_index",
    "count": "count",
}


class TableOfScores(nn.Module):
    """Small whole numbers as scores, so that most of them are ties; each direction has a table of its own."""

    def __init__(self, levels):
        super().__init__()
        shape = (ENTITIES, 2 * RELATIONS, ENTITIES)
        table = torch.randint(levels, shape, generator=torch.Generator().manual_seed(levels)).float()
        self.num_entities, self.num_relations = ENTITIES, RELATIONS
        self.register_buffer("table", table)

    def forward(self, heads, relations):
        return self.table[heads, relations]


@pytest.fixture(scope="module")
def graph():
    generator = torch.Generator().manual_seed(0)
    every = torch.cartesian_prod(torch.arange(ENTITIES), torch.arange(RELATIONS), torch.arange(ENTITIES))
    triples = every[torch.randperm(len(every), generator=generator)[:700]]  # dense: filtering changes most ranks
    entities = Vocabulary(tuple(f"e{i}" for i in range(ENTITIES)))
    relations = Vocabulary(tuple(f"r{i}" for i in range(RELATIONS)), kind="relation")
    return TripleData(entities, relations, triples[:550], triples[550:600], triples[600:])


@pytest.mark.parametrize("levels", [1, 4, 10**6])
def test_ranks_candidates_and_figures_equal_pykeens(graph, levels):
    scorer = TableOfScores(levels)
    evaluator = RankBasedEvaluator(filtered=True, clear_on_finalize=False)
    theirs = evaluator.evaluate(
        PykeenModel(scorer, triples_factory(graph)),
        graph.test,
        batch_size=32,
        additional_filter_triples=[graph.train, graph.valid],
        use_tqdm=False,
    )
    for ties in ("realistic", "optimistic", "pessimistic"):
        split = rank_split(scorer, graph, "test", ties=ties)
        for ours, side in ((split.tails, "tail"), (split.heads, "head")):
            assert ours.rank.tolist() == np.concatenate(evaluator.ranks[side, ties]).tolist()
            assert ours.candidates.tolist() == np.concatenate(evaluator.num_candidates[side]).tolist()
        for ours, side in ((split.both, "both"), (split.tails, "tail"), (split.heads, "head")):
            for name, value in ranking_metrics(ours).items():
                if ties == "realistic" or not name.startswith("adjusted"):  # PyKEEN adjusts realistic ranks alone
                    expected = theirs.get_metric(f"{side}.{ties}.{NAMES[name]}")
                    # Ranks are equal; PyKEEN averages realistic ones in float32.
                    assert value == pytest.approx(expected, rel=1e-6, abs=1e-6), (side, ties, name)
