"""The README of a saved translation model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TEXT = """---
library_name: hybonet
pipeline_tag: translation
language:
{languages}
tags:
- translation
- hyperbolic
---

# {title} from {first} to {second}, trained on {source}

{layers} layers in encoder and decoder, {dim} {coordinates} a token, {heads} heads.

## Use

```python
from hybonet import MTModel

model = MTModel.from_pretrained("{folder}")
print(model.translate("A sentence to translate."))
```

or `hybonet translate {folder} sentences.txt`.
"""
_TITLES = {"hybonet": "HyboNet, a Lorentz Transformer", "euclidean": "A Transformer"}


def translation_card(
    about: Mapping[str, Any], settings: Mapping[str, Any], record: Mapping[str, Any] | None, *, folder: str = "FOLDER"
) -> str:
    """Markdown with what the model is, how to use it, and its scores where a record has them.

    Example:
        >>> card = translation_card({"languages": ["en", "de"], "source": "multi30k"},
        ...     {"model": "hybonet", "layers": 3, "dim": 64, "heads": 4}, None)
        >>> card.splitlines()[11]
        '# HyboNet, a Lorentz Transformer from en to de, trained on multi30k'
    """
    first, second = about["languages"]
    text = _TEXT.format(
        languages="\n".join(f"- {language}" for language in about["languages"]),
        title=_TITLES.get(settings["model"], f"A translation model ({settings['model']})"),
        first=first,
        second=second,
        source=about["source"],
        coordinates="ambient coordinates" if settings["model"] == "hybonet" else "numbers",
        folder=folder,
        **{key: settings[key] for key in ("layers", "dim", "heads")},
    )
    if record is None or "test" not in record:
        return text
    test = record["test"]
    rows = [
        ("perplexity", f"{test['perplexity']:.2f}", ""),
        ("BLEU", f"{test['bleu']:.2f}", test["signatures"]["bleu"]),
        ("chrF", f"{test['chrf']:.2f}", test["signatures"]["chrf"]),
        ("BLEU, tokenised and lowercased", f"{test['tokenized_bleu']:.2f}", test["signatures"]["tokenized_bleu"]),
    ]
    lines = ["\n## Scores on the test sentences\n", "| | | signature |", "|---|---|---|"]
    for name, value, signature in rows:
        within = signature.replace("|", r"\|")  # a bar would end the cell
        lines.append(f"| {name} | {value} | {within} |")
    lines.append(
        f"\nBeam {test['beam']}, length penalty {test['length_penalty']:g}; `record.json` has everything else."
    )
    return text + "\n".join(lines) + "\n"
