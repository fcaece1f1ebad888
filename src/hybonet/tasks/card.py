"""The README of a saved model, of any task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hybonet.geometry import Lorentz
from hybonet.reporting.run_report import markdown_table

if TYPE_CHECKING:
    from hybonet.tasks.predictor import Predictor

CARD = "README.md"


def model_card(model: Predictor, folder: str) -> str:
    """Markdown with what a model is, how it is used, and its figures where a record has them."""
    hyperbolic = any(isinstance(module, Lorentz) for module in model.model.modules())
    names = [model.spec.title.lower().replace(" ", "-"), *(("hyperbolic", "lorentz-model") if hyperbolic else ())]
    tags = "".join(f"- {name}\n" for name in names)
    parts = [
        f"---\nlibrary_name: hybonet\n{model.card_header()}tags:\n{tags}---\n",
        f"# {model!r}\n",
        f"{model.card_text()}\n",
        f'## Use\n\n```python\nimport hybonet\n\nmodel = hybonet.load("{folder}")\n{model.card_example()}\n```\n',
    ]
    if model.record is not None:
        parts.append(_figures(model, dict(model.record)))
    return "\n".join(parts)


def _figures(model: Predictor, record: dict[str, Any]) -> str:
    headline = model.spec.headline(record)
    rows = [(header, f"{value:.4g}") for header, value in headline.figures(record).items()]
    return (
        f"## Figures\n\n{headline.note}\n\n{markdown_table(['measure', 'value'], rows)}\n\n"
        f"Data: {record['data']['source']}. Seed {record['seed']}, best epoch {record['best_epoch']} of "
        f"{record['epochs']}, commit {record.get('commit') or 'unknown'}; `record.json` has everything else.\n"
    )
