"""What two habits of the released research code are worth: negatives that avoid test triples, and masked heads.

    python scripts/leak_trial.py --data wordnet --seeds 3

The released training on WN18RR never takes a validation or test triple for a negative, so test triples take part in it.
The released evaluation leaves the entity asked about out of the candidates. Here the same training is done twice,
negatives filtered by the training triples and by all triples, and each model is measured with and without the mask. The
first is what this package does; the leak exists in this script alone.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import torch

from hybonet.data.triples.catalog import load_graph
from hybonet.data.triples.triple_data import TripleData
from hybonet.metrics.ranking import KnownAnswers, KnownTriples
from hybonet.tasks.knowledge_graph.evaluation import evaluate
from hybonet.tasks.knowledge_graph.task import KnowledgeGraphSettings, KnowledgeGraphTask
from hybonet.tasks.provenance import provenance
from hybonet.training import ScheduleSettings, Trainer

RECORDS = Path(__file__).parent.parent / "docs/results/records"


class LeakyTask(KnowledgeGraphTask):
    """Leaves out of the negatives whatever is true, in the test triples too."""

    def __init__(self, settings: KnowledgeGraphSettings, data: TripleData) -> None:
        super().__init__(settings, data)
        everything = torch.cat([data.with_reciprocals(split) for split in ("train", "valid", "test")])
        both = 2 * data.num_relations
        self.known_answers = KnownAnswers(everything, both)
        self.known_triples = KnownTriples(everything, data.num_entities, both)


def settings(seed: int, epochs: int) -> KnowledgeGraphSettings:
    """The paper's loss and negatives, with the optimiser that needs fewer epochs."""
    return KnowledgeGraphSettings(
        loss="bce",
        candidates="own",
        negatives=50,
        filter_negatives=True,
        loop_bias=False,
        batch_size=500,
        lr=0.02,
        schedule=ScheduleSettings(kind="exponential", gamma=0.97),
        epochs=epochs,
        seed=seed,
    )


def trained(task: KnowledgeGraphTask) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        model = Trainer(task, Path(folder)).fit().model
    return {
        "standard": evaluate(model, task.data, "test")["both"]["mrr"],
        "released": evaluate(model, task.data, "test", protocol="released")["both"]["mrr"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="wordnet")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    data = load_graph(arguments.data)
    rows: list[dict[str, Any]] = []
    for seed in range(arguments.seeds):
        for negatives, kind in (("train", KnowledgeGraphTask), ("all", LeakyTask)):
            test = trained(kind(settings(seed, arguments.epochs), data))
            rows.append({"seed": seed, "negatives_filtered_by": negatives, "test_mrr": test})
            print(rows[-1], flush=True)
    record = {
        "data": {"source": data.source, "sha256": dict(data.sha256), **data.statistics()},
        "settings": settings(0, arguments.epochs).model_dump(),
        "rows": rows,
        **provenance(),
    }
    path = RECORDS / f"leak_trial_{arguments.data.lower()}.json"
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
