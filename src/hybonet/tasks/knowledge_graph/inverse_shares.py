"""How much the inverse direction counts in the score of a triple, fitted to the validation triples after training.

One weight is chosen for all relations by the MRR of their questions, and another for a relation and its inverse where
their own questions ask for it. Either must be better by more than chance, by the standard error of paired differences.
"""

from __future__ import annotations

import torch
from torch import Tensor

from hybonet.data.triples.triple_data import TripleData
from hybonet.metrics.ranking import KnownAnswers
from hybonet.tasks.knowledge_graph.evaluation import rank_triples
from hybonet.tasks.knowledge_graph.models.triple_model import TripleModel
from hybonet.training import generator_for

#: Weights of the inverse direction that are tried, and the most validation triples that are looked at.
_GRID, _MOST = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7), 3000
#: What a gain must be of its standard error, and the fewest questions of a relation that can show one. There are many
#: relations and weights, of which some are better by chance.
_SURE, _LEAST = 3.0, 50


@torch.no_grad()
def fit_shares(model: TripleModel, graph: TripleData) -> Tensor:
    """Shares for :meth:`TripleModel.score_both_directions`, by the validation triples; ``(2 * num_relations,)``.

    What only the test triples say counts as false here: nothing is fitted to them. The model is left as it was.

    Example:
        >>> from hybonet.data import load_knowledge_graph
        >>> from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
        >>> facts = [(str(a), "next", str((a + step) % 40)) for a in range(40) for step in (1, 2, 3)]
        >>> graph = load_knowledge_graph(facts, valid=0.2, test=0.1)
        >>> fit_shares(TripleScorer(40, 1, 8).eval(), graph).shape
        torch.Size([2])
    """
    relations, before = graph.num_relations, model.shares
    order = torch.randperm(len(graph.valid), generator=generator_for(0, 0, 0))
    triples = graph.valid[order[:_MOST].sort().values]
    told = torch.cat((graph.train, graph.valid))
    inverse = torch.stack((told[:, 2], told[:, 1] + relations, told[:, 0]), dim=1)
    known = KnownAnswers(torch.cat((told, inverse)), 2 * relations)
    asked = torch.cat((triples[:, 1], triples[:, 1] + relations))
    found = []
    for weight in _GRID:
        model.score_both_directions(torch.full((2 * relations,), 1 - weight) if weight else None)
        found.append(rank_triples(model, triples, graph, known).both.rank.double().reciprocal())
    model.score_both_directions(before)
    every = torch.stack(found)
    common = _best(every, 0)
    best = torch.full((2 * relations,), common)
    for relation in asked.unique().tolist():
        own = every[:, asked == relation]
        if own.shape[1] >= _LEAST:
            best[relation] = _best(own, common)
    return 1 - torch.tensor(_GRID)[best]


def _best(figures: Tensor, usual: int) -> int:
    """The row with the highest mean, if it is better than the usual one by more than chance; ``(rows, questions)``."""
    gain = figures - figures[usual]
    error = gain.std(1) / gain.shape[1] ** 0.5
    best = int(gain.mean(1).argmax())
    return best if bool(gain[best].mean() > _SURE * error[best]) else usual
