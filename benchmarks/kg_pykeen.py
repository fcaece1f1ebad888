"""Training and evaluation on WN18RR against PyKEEN, in one run, sides alternating.

    python -m benchmarks.kg_pykeen --json benchmarks/results/kg_pykeen.json

Training: our scorer with the recipe ``paper-wn18rr-32`` (32 coordinates, batches of 1,000 with 50 random tails each,
binary cross-entropy), with both of our optimisers, against PyKEEN's MuRE with 32 coordinates in its own sLCWA loop: as
many triples and negatives per batch, inverse triples, BCE with logits, torch's Adam. Neither side clips gradients. What
is timed are single batches inside each side's loop, data included, some of each side in turn; the median, times the
batches of an epoch, is an epoch.

Evaluation: filtered ranks of the test triples, both sides, of one and the same scorer: :func:`rank_split` against
PyKEEN's ``RankBasedEvaluator`` through :mod:`hybonet.interop.pykeen`, at the batch size that suits it best of some.
Both must give the same mean reciprocal rank.
"""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import time
import warnings
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.environment import environment
from benchmarks.kg_steps import Steps
from hybonet.data import load_knowledge_graph
from hybonet.data.triples.triple_data import TripleData
from hybonet.metrics.ranking import ranking_metrics
from hybonet.recipes import recipe
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
from hybonet.tasks.knowledge_graph.task import rank_split

RECIPE = "paper-wn18rr-32"
EVALUATION_BATCHES = (32, 64, 128, 256)
TRAINING_TARGET, EVALUATION_TARGET = 4.0, 10.0


class PykeenSteps:
    """PyKEEN's own loop on as many triples as so many batches need; the entities are all there."""

    def __init__(self, data: TripleData, batches: int) -> None:
        from pykeen.losses import BCEWithLogitsLoss
        from pykeen.models import MuRE
        from pykeen.training import SLCWATrainingLoop, TrainingCallback
        from pykeen.triples import TriplesFactory

        settings = recipe(RECIPE).settings
        whole = TriplesFactory(
            data.train,
            entity_to_id={label: number for number, label in enumerate(data.entities)},
            relation_to_id={label: number for number, label in enumerate(data.relations)},
            create_inverse_triples=True,
        )
        # The first batch is not timed; inverse triples make two of each.
        chosen = torch.randperm(len(data.train), generator=torch.Generator().manual_seed(0))
        self.part = whole.clone_and_exchange_triples(data.train[chosen[: (batches + 1) * settings.batch_size // 2]])
        self.batch_size = settings.batch_size
        model = MuRE(
            triples_factory=whole, embedding_dim=settings.dim, loss=BCEWithLogitsLoss(), random_seed=settings.seed
        )
        self.loop = SLCWATrainingLoop(
            model=model,
            triples_factory=whole,
            optimizer=torch.optim.Adam(model.parameters(), lr=settings.lr),
            negative_sampler_kwargs={"num_negs_per_pos": settings.negatives},
        )

        class Clock(TrainingCallback):
            ends: list[float]

            def post_batch(self, **_: Any) -> None:
                self.ends.append(time.perf_counter())

        self.clock, self.epochs = Clock, 0

    def seconds(self) -> list[float]:
        """Times of the batches after the first."""
        clock = self.clock()
        clock.ends = []
        self.epochs += 1
        self.loop.train(
            self.part,
            num_epochs=self.epochs,
            batch_size=self.batch_size,
            continue_training=self.epochs > 1,
            callbacks=clock,
            use_tqdm=False,
            use_tqdm_batch=False,
            pin_memory=False,
        )
        return [end - start for start, end in zip(clock.ends, clock.ends[1:], strict=False)]


def training(data: TripleData, batches: int, rounds: int) -> list[dict[str, Any]]:
    settings = recipe(RECIPE).settings.model_copy(update={"max_grad_norm": None})
    ours = {name: Steps(settings.model_copy(update={"optimizer": name}), data) for name in ("chart", "riemannian")}
    peer = PykeenSteps(data, batches)
    times: dict[str, list[float]] = {name: [] for name in (*ours, "pykeen")}
    for steps in ours.values():
        steps.seconds(3)
    peer.seconds()
    for _ in range(rounds):
        for name, steps in ours.items():
            times[name] += steps.seconds(batches)
        times["pykeen"] += peer.seconds()
    per_epoch = next(iter(ours.values())).task.batches_per_epoch()
    median = {name: statistics.median(values) for name, values in times.items()}
    return [
        {
            "optimizer": name,
            "batches_timed": len(times[name]),
            "batches_timed_pykeen": len(times["pykeen"]),
            "batches_an_epoch": per_epoch,
            "step_seconds": median[name],
            "epoch_seconds": median[name] * per_epoch,
            "pykeen_step_seconds": median["pykeen"],
            "pykeen_epoch_seconds": median["pykeen"] * per_epoch,
            "times_faster": median["pykeen"] / median[name],
            "target": TRAINING_TARGET,
        }
        for name in ours
    ]


def evaluation(data: TripleData, rounds: int) -> dict[str, Any]:
    from pykeen.evaluation import RankBasedEvaluator

    from hybonet.interop.pykeen import PykeenModel, triples_factory

    torch.manual_seed(0)
    scorer = TripleScorer(data.num_entities, data.num_relations, recipe(RECIPE).settings.dim).eval()
    wrapped = PykeenModel(scorer, triples_factory(data))

    def ours() -> float:
        return ranking_metrics(rank_split(scorer, data, "test").both)["mrr"]

    def theirs(batch_size: int) -> float:
        results = RankBasedEvaluator(filtered=True).evaluate(
            wrapped,
            data.test,
            batch_size=batch_size,
            additional_filter_triples=[data.train, data.valid],
            use_tqdm=False,
        )
        return results.get_metric("both.realistic.inverse_harmonic_mean_rank")

    mrr, peer_mrr = ours(), theirs(EVALUATION_BATCHES[0])
    if abs(mrr - peer_mrr) > 1e-4 * mrr:
        raise RuntimeError(f"expected the same mean reciprocal rank, got {mrr} and PyKEEN's {peer_mrr}")
    mine: list[float] = []
    peer: dict[int, list[float]] = {size: [] for size in EVALUATION_BATCHES}
    for _ in range(rounds):
        for size, values in peer.items():
            mine.append(_seconds(ours))
            values.append(_seconds(lambda size=size: theirs(size)))
    medians = {size: statistics.median(values) for size, values in peer.items()}
    best = min(medians, key=medians.__getitem__)
    seconds = statistics.median(mine)
    return {
        "questions": 2 * len(data.test),
        "mrr": mrr,
        "pykeen_mrr": peer_mrr,
        "seconds": seconds,
        "pykeen_seconds": medians[best],
        "pykeen_batch_size": best,
        "pykeen_seconds_by_batch_size": {str(size): value for size, value in medians.items()},
        "times_faster": medians[best] / seconds,
        "target": EVALUATION_TARGET,
    }


def _seconds(job: Any) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--batches", type=int, default=15, help="timed in a row on each side")
    parser.add_argument("--rounds", type=int, default=3, help="how often sides take turns")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    logging.disable(logging.WARNING)  # PyKEEN's advice about memory is not for us
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    data = load_knowledge_graph(recipe(RECIPE).data or "")
    rows = training(data, arguments.batches, arguments.rounds)
    evaluated = evaluation(data, arguments.rounds)
    record = {
        **environment(),
        "seconds": round(time.perf_counter() - start, 1),
        "method": "sides alternating in one process, after warm-up, medians",
        "training": rows,
        "evaluation": evaluated,
    }
    table = Table("what", "ours", "PyKEEN", "times faster", "target")
    for row in rows:
        figures = (f"{row['epoch_seconds']:.1f} s", f"{row['pykeen_epoch_seconds']:.1f} s")
        table.add_row(f"epoch, {row['optimizer']}", *figures, f"{row['times_faster']:.1f}", f"{row['target']:g}")
    figures = (f"{evaluated['seconds']:.2f} s", f"{evaluated['pykeen_seconds']:.2f} s")
    table.add_row("test evaluation", *figures, f"{evaluated['times_faster']:.1f}", f"{evaluated['target']:g}")
    Console(width=100).print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
