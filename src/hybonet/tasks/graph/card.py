"""The README of a saved model of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_HEAD = """---
library_name: hybonet
pipeline_tag: graph-ml
tags:
- {tag}
{hyperbolic}---

# {model} on {source}

A model of {what} on a graph of {nodes:,} nodes and {edges:,} edges, `{source}`, which is in this folder: {dim}
dimensions per node, {layers} graph layers{space}.

## Use

```python
from hybonet import NetworkModel

model = NetworkModel.from_pretrained("{folder}")
{use}
```
"""
_LINKS = """for link in model.links("{node}", top=5, known=False):
    print(link.other, link.probability)"""
_CLASSES = """for answer in model.classify(["{node}"]):
    print(answer.node, answer.predicted, answer.probability)"""


def graph_card(
    source: str,
    sizes: Mapping[str, int],
    settings: Mapping[str, Any],
    record: Mapping[str, Any] | None = None,
    *,
    K: float | None = None,
    folder: str = "FOLDER",
    node: str = "NODE",
) -> str:
    """Markdown with what the model is, how to use it, and its metrics where a record has them.

    Args:
        K: curvature of the model's space as it is now; None for a Euclidean model.

    Example:
        >>> settings = {"task": "lp", "model": "hybonet", "dim": 16, "layers": 2}
        >>> graph_card("friends", {"nodes": 3, "edges": 2}, settings, K=-1.0).splitlines()[8]
        '# hybonet on friends'
    """
    links = settings["task"] == "lp"
    learned = ", learned" if settings.get("learn_curvature") else ""
    text = _HEAD.format(
        tag="link-prediction" if links else "node-classification",
        model=settings["model"],
        source=source,
        what="links" if links else "classes of nodes",
        nodes=sizes["nodes"],
        edges=sizes["edges"],
        dim=settings["dim"],
        layers=settings["layers"],
        hyperbolic="" if K is None else "- hyperbolic\n",
        space="" if K is None else f", in hyperbolic space (K = {K:.6g}{learned})",
        folder=folder,
        use=(_LINKS if links else _CLASSES).format(node=node),
    )
    if record is None:
        return text
    names = [name for name in record["test"] if name in record["valid"]]
    lines = [
        "\n## Metrics\n",
        f"Protocol: {record['protocol']}; {record['measure']}.\n",
        f"| | {' | '.join(name.replace('_', ' ') for name in names)} |",
        "|---" * (len(names) + 1) + "|",
    ]
    for part, title in (("valid", "validation"), ("test", "test")):
        lines.append(f"| {title} | " + " | ".join(f"{record[part][name]:.4f}" for name in names) + " |")
    lines.append(
        f"\nSeed {record['seed']}, best epoch {record['best_epoch']} of {record['epochs']}, commit "
        f"{record.get('commit') or 'unknown'}; `record.json` has everything else."
    )
    return text + "\n".join(lines) + "\n"
