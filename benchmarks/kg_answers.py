"""The ten best of a million tails: `TailSearch` against all scores with `topk`, and against faiss's flat index.

    python -m benchmarks.kg_answers --entities 20000      # a quick look; `make bench` takes a million

Times are a question's. `TailSearch` and the naive side give probabilities as well, faiss the best scores alone. All
sides have the entities' points prepared, and one number of threads.
"""

from __future__ import annotations

import argparse

import torch

from benchmarks.timing import Job, Ratio, medians, times_faster
from hybonet.tasks.knowledge_graph.models.faiss_search import FaissTailSearch
from hybonet.tasks.knowledge_graph.models.tail_search import TailSearch, all_points
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer

ENTITIES, DIM, RELATIONS, TOP = 1_000_000, 32, 20, 10
REPEATS = {1: 20, 256: 3}


def run(entities: int = ENTITIES) -> list[Ratio]:
    import faiss

    faiss.omp_set_num_threads(torch.get_num_threads())
    torch.manual_seed(0)
    scorer = TripleScorer(entities, RELATIONS, DIM).eval()
    torch.nn.init.normal_(scorer.tail_bias)
    ours, index, points = TailSearch(scorer), FaissTailSearch(scorer), all_points(scorer)
    rows = []
    for batch, repeats in REPEATS.items():
        heads, relations = torch.randint(entities, (batch,)), torch.randint(2 * RELATIONS, (batch,))
        jobs: dict[str, Job] = {
            "ours": lambda h=heads, r=relations: ours.best(h, r, TOP),
            "naive": lambda h=heads, r=relations: all_scores(scorer, points, h, r),
            "faiss": lambda h=heads, r=relations: index.best(h, r, TOP),
        }
        t = {name: value / batch for name, value in medians(jobs, repeats=repeats, warmup=1).items()}
        case = f"{entities:,}×{DIM}, {batch} at once, a question"
        rows += [
            times_faster("TailSearch / all scores, topk", case, t["ours"], t["naive"]),
            times_faster(
                "TailSearch / faiss IndexFlatIP", f"{case}; faiss without probabilities", t["ours"], t["faiss"]
            ),
        ]
    return rows


@torch.no_grad()
def all_scores(scorer: TripleScorer, points: torch.Tensor, heads: torch.Tensor, relations: torch.Tensor) -> object:
    """The plain way: every score of every question in memory."""
    query, offset = scorer.queries(heads, relations)
    scores = torch.addmm(scorer.tail_bias, query, points.T) + offset[:, None]
    return scores.topk(TOP), scores.logsumexp(1)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time of the best tails among many entities.")
    parser.add_argument("--entities", type=int, default=ENTITIES)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    for row in run(arguments.entities):
        print(f"{row.topic}, {row.case}: {row.ours:.3f} against {row.peer:.3f} ms, {row.ratio:.2f}× faster")


if __name__ == "__main__":
    main()
