"""The README of a saved entity-typing model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_HEAD = """---
library_name: hybonet
pipeline_tag: token-classification
tags:
- entity-typing
- hyperbolic
---

# {model} on {source}

Tells the types of a mention in a sentence: {types:,} types, {dim} numbers each. The words' vectors and the types are in
this folder, the training sentences are not.

## Use

```python
from hybonet import MentionTyper

typer = MentionTyper.from_pretrained("{folder}")
for answer in typer.types_of("The [mayor] opened the new bridge."):
    print(answer.type, answer.level, answer.probability)
```
"""


def typing_card(
    source: str,
    settings: Mapping[str, Any],
    types: int,
    record: Mapping[str, Any] | None = None,
    folder: str = "FOLDER",
) -> str:
    """Markdown with what the model is, how to use it, and its metrics where a record has them.

    Example:
        >>> typing_card("ufet", {"model": "hybonet", "dim": 64}, 3).splitlines()[8]
        '# hybonet on ufet'
    """
    text = _HEAD.format(source=source, folder=folder, types=types, model=settings["model"], dim=settings["dim"])
    if record is None:
        return text
    lines = ["\n## Metrics\n", f"Protocol: {record['protocol']}.\n"]
    lines += ["| | threshold | level | precision | recall | macro F1 |", "|---|---|---|---|---|---|"]
    for split in ("valid", "valid_calibrated", "test", "test_calibrated"):
        measured = dict(record.get(split, {}))
        threshold = measured.pop("threshold", 0.5)
        for level, scores in measured.items():
            cells = " | ".join(f"{scores[key]:.3f}" for key in ("precision", "recall", "f1"))
            lines.append(f"| {split.split('_')[0]} | {threshold} | {level} | {cells} |")
    lines.append(
        f"\nSeed {record['seed']}, best epoch {record['best_epoch']} of {record['epochs']}, commit "
        f"{record.get('commit') or 'unknown'}; `record.json` has everything else."
    )
    return text + "\n".join(lines) + "\n"
