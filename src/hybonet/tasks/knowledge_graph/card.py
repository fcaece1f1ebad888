"""The README of a saved knowledge-graph model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_HEAD = """---
library_name: hybonet
pipeline_tag: graph-ml
tags:
- knowledge-graph
- link-prediction
- hyperbolic
---

# HyboNet on {source}

A knowledge-graph model in hyperbolic space (the Lorentz model, K = {K:.6g}): {entities:,} entities as points with {dim}
ambient coordinates, and a Lorentz linear map for each of {relations:,} relations and its reverse. It was trained on
{train:,} triples of `{source}`, which are in this folder.

## Use

```python
from hybonet import KGModel

model = KGModel.from_pretrained("{folder}")
for answer in model.tails({example}, top=5):  # labels or names, as in entities.tsv and relations.tsv
    print(answer.name, answer.probability, answer.known)
```
"""

_METRICS = {
    "mrr": "MRR",
    "hits@1": "Hits@1",
    "hits@3": "Hits@3",
    "hits@10": "Hits@10",
    "mean_rank": "mean rank",
    "adjusted_mean_rank_index": "adjusted mean rank index",
}


_BOTH_DIRECTIONS = """
Triples are scored in both directions, from head to tail and back; `score_both_directions(0)` answers in one.
"""


def model_card(
    source: str,
    sizes: Mapping[str, int],
    config: Mapping[str, Any],
    record: Mapping[str, Any] | None = None,
    *,
    folder: str = "FOLDER",
    example: tuple[str, str] = ("HEAD", "RELATION"),
) -> str:
    """Markdown with what the model is, how to use it, and its metrics where a record has them.

    Args:
        source: name of the graph.
        sizes: its numbers of entities, relations and training triples.
        config: the model's ``dim`` and curvature ``K``, and its ``shares`` of the two directions, if any.
        record: of the run, as ``record.json`` has it.
        folder, example: the folder, and a head and a relation, for the lines that show how to use it.

    Example:
        >>> card = model_card("animals", {"entities": 3, "relations": 1, "train": 2}, {"dim": 8, "K": -1.0})
        >>> card.splitlines()[9]
        '# HyboNet on animals'
    """
    labels = ", ".join(f'"{label}"' for label in example)
    text = _HEAD.format(source=source, folder=folder, example=labels, **sizes, dim=config["dim"], K=config["K"])
    if config.get("shares") is not None:
        text += _BOTH_DIRECTIONS
    if record is None:
        return text
    rows = {"validation": record.get("valid"), "test": record.get("test", {}).get("both")}
    measured = {name: metrics for name, metrics in rows.items() if metrics}
    if not measured:
        return text
    lines = [
        "\n## Metrics\n",
        f"Protocol: {record['protocol']}.\n",
        f"| | {' | '.join(_METRICS.values())} |",
        "|---" * (len(_METRICS) + 1) + "|",
    ]
    for name, metrics in measured.items():
        lines.append(f"| {name} | " + " | ".join(f"{metrics[key]:.4g}" for key in _METRICS) + " |")
    lines.append(
        f"\nSeed {record['seed']}, best epoch {record['best_epoch']} of {record['epochs']}, commit "
        f"{record.get('commit') or 'unknown'}; `record.json` has everything else."
    )
    return text + "\n".join(lines) + "\n"
