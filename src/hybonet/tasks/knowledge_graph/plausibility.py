"""How likely a triple is to be true: features of triples, and the calibration that is fitted to validation triples.

It answers for a mixture in which every true triple has two false ones beside it: a random corruption of it, and a wrong
answer that the model ranks among its ten best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from hybonet.data.triples.triple_data import SplitName, TripleData
from hybonet.metrics.calibration import Calibration, fit_calibration, reliability
from hybonet.metrics.ranking import KnownAnswers
from hybonet.tasks.knowledge_graph.models.tail_search import Search, search_for
from hybonet.tasks.knowledge_graph.models.triple_model import TripleModel
from hybonet.training import generator_for

#: Triples that are looked at, drawn with a seed if there are more.
_MOST = 4000
#: Fewer validation triples than this say too little.
LEAST = 20
#: For each question about a true triple, so many random wrong answers and so many of those ranked highest.
_RANDOM, _HARD, _TOP = 2, 2, 10


@dataclass(frozen=True)
class Contrast:
    """Triples of a split with false ones beside them.

    Attributes:
        triples: ``(n, 3)``.
        truth: ``(n,)``.
        weight: ``(n,)``: true triples, random and hard false ones have equal weight in all.
        case: ``(n,)``: the number of the true triple.
    """

    triples: Tensor
    truth: Tensor
    weight: Tensor
    case: Tensor


@torch.no_grad()
def contrast(search: Search, graph: TripleData, split: SplitName, seed: int = 0) -> Contrast:
    """True triples of a split with random and with hard false ones, in both directions.

    For the validation triples, what only the test triples say counts as false: nothing is fitted to them.
    """
    generator = generator_for(seed, 0, 0)
    every = graph.triples(split)
    true = every[torch.randperm(len(every), generator=generator)[:_MOST].sort().values]
    count, relations = graph.num_entities, graph.num_relations
    told = torch.cat([graph.triples(part) for part in ("train", "valid", *(("test",) if split == "test" else ()))])
    inverse = torch.stack((told[:, 2], told[:, 1] + relations, told[:, 0]), dim=1)
    known = KnownAnswers(torch.cat((told, inverse)), 2 * relations)
    head, relation, tail = true.unbind(1)
    asked = torch.cat((head, tail)), torch.cat((relation, relation + relations))
    answer, number = torch.cat((tail, head)), torch.arange(len(true)).repeat(2)
    rows, members = known.of(*asked)
    top = min(_TOP, count)
    hard = search.best(*asked, top, (rows, members))
    chosen = torch.rand(hard.entities.shape, generator=generator).argsort(1)[:, :_HARD]
    wrong = torch.cat(
        (hard.entities.cpu().gather(1, chosen), torch.randint(count, (len(answer), _RANDOM), generator=generator)),
        dim=1,
    )
    taken = torch.isin(wrong + count * torch.arange(len(wrong))[:, None], members + count * rows)
    taken[:, : chosen.shape[1]] |= hard.scores.cpu().gather(1, chosen) == -torch.inf
    row, column = (~taken).nonzero(as_tuple=True)
    is_hard = column < chosen.shape[1]
    away = (number[row], wrong[row, column])
    false = true[away[0]].clone()
    back = row >= len(true)
    false[torch.arange(len(false)), torch.where(back, 0, 2)] = away[1]
    sizes = torch.stack((is_hard.sum(), (~is_hard).sum())).clamp_min(1)
    weight = len(true) / sizes[(~is_hard).long()]
    return Contrast(
        torch.cat((true, false)),
        torch.arange(len(true) + len(false)) < len(true),
        torch.cat((torch.ones(len(true)), weight)),
        torch.cat((torch.arange(len(true)), away[0])),
    )


@torch.no_grad()
def triple_features(search: Search, triples: Tensor, relations: int) -> Tensor:
    """Scores of each triple from head to tail and back, and the log shares that they are of all scores.

    Both directions: what is plausible of a triple does not depend on which end is asked for. ``(n, 3) -> (n, 4)``.
    """
    head, relation, tail = triples.unbind(1)
    scores, shares = [], []
    for asked, by, answer in ((head, relation, tail), (tail, relation + relations, head)):
        scores.append(search.scorer(asked, by, answer).double())
        shares.append(scores[-1] - _log_total(search, asked, by).to(scores[-1]))
    return torch.stack((*scores, *shares), dim=1).cpu()


def _log_total(search: Search, heads: Tensor, relations: Tensor) -> Tensor:
    """Log of the sum of exp of all scores of each question, which is asked once."""
    pairs, place = torch.stack((heads, relations), dim=1).unique(dim=0, return_inverse=True)
    total = search.best(pairs[:, 0], pairs[:, 1], 1).log_total
    assert total is not None
    return total[place]


def fit_plausibility(scorer: TripleModel, graph: TripleData) -> Calibration | None:
    """What turns features of triples into probabilities, by the validation triples; None where they are too few.

    Example:
        >>> from hybonet.data import load_knowledge_graph
        >>> from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
        >>> facts = [(str(a), "next", str((a + step) % 40)) for a in range(40) for step in (1, 2, 3)]
        >>> graph = load_knowledge_graph(facts, valid=0.2, test=0.1)
        >>> fit_plausibility(TripleScorer(40, 1, 8), graph).weights.shape
        torch.Size([1, 5])
    """
    if len(graph.valid) < LEAST:
        return None
    search = search_for(scorer)
    cases = contrast(search, graph, "valid")
    if bool(cases.truth.all()):
        return None
    features = triple_features(search, cases.triples, graph.num_relations)
    return fit_calibration(features, cases.truth, group=cases.triples[:, 1], weight=cases.weight, case=cases.case)


def plausibility(calibration: Calibration, search: Search, triples: Tensor, relations: int) -> Tensor:
    """The probability of each of ``triples (n, 3)`` to be true; ``(n,)``."""
    return calibration(triple_features(search, triples, relations), triples[:, 1])


def measure_plausibility(
    calibration: Calibration, scorer: TripleModel, graph: TripleData, split: SplitName
) -> dict[str, Any]:
    """How far the probabilities of a split's triples, and of false ones beside them, are from the truth."""
    search = search_for(scorer)
    cases = contrast(search, graph, split)
    return reliability(plausibility(calibration, search, cases.triples, graph.num_relations), cases.truth, cases.weight)
