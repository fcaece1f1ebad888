"""The README of a saved model, of any task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hybonet.geometry import Lorentz
from hybonet.reporting.headlines import look_up
from hybonet.reporting.narrow_table import range_text
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
    bounds = {each.header: look_up(record, *each.path[:-1], "interval", each.path[-1]) for each in headline.measures}
    rows = [(name, f"{value:.4g}", range_text(bounds.get(name))) for name, value in headline.figures(record).items()]
    return (
        f"## Figures\n\n{headline.note}\n\n{markdown_table(['measure', 'value', '95 % of resamples'], rows)}\n\n"
        f"Data: {record['data']['source']}. Seed {record['seed']}, best epoch {record['best_epoch']} of "
        f"{record['epochs']}, commit {record.get('commit') or 'unknown'}; `record.json` has everything else.\n"
    )
