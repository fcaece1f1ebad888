"""The pages of docs/results: the words of a task's `page.md` around the tables of its `page.py`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from results.claims import page as claims
from results.cold_start import page as cold_start
from results.entity_typing import page as entity_typing
from results.graphs import page as graphs
from results.knowledge_graphs import page as knowledge_graphs
from results.probing import page as probing
from results.translation import page as translation

ROOT = Path(__file__).parent.parent
PAGES: dict[str, ModuleType] = {
    "knowledge-graphs": knowledge_graphs,
    "graphs": graphs,
    "translation": translation,
    "probing": probing,
    "entity-typing": entity_typing,
    "claims": claims,
    "cold-start": cold_start,
}
_MADE = "Made by `python -m results pages` from run records; do not edit."


def path(name: str) -> Path:
    """Where a page lies."""
    return ROOT / f"docs/results/{name}.md"


def text(name: str) -> str:
    """The whole page as Markdown."""
    module = PAGES[name]
    template = Path(str(module.__file__)).with_suffix(".md").read_text(encoding="utf-8")
    return fill(template, {"made": _MADE, **module.parts()})


def fill(template: str, parts: Mapping[str, Any]) -> str:
    """Put parts in place of their names in braces; a line that begins with ``%name`` is written for each row of a part.

    Example:
        >>> fill("{what}:\\n%rows | {n} | {n:.1f} |\\n", {"what": "numbers", "rows": [{"n": 1}, {"n": 2}]})
        'numbers:\\n| 1 | 1.0 |\\n| 2 | 2.0 |\\n'
    """
    lines = []
    for line in template.splitlines(keepends=True):
        name, _, form = line.removeprefix("%").partition(" ")
        rows = parts[name] if line.startswith("%") else [{}]
        lines += [(form if line.startswith("%") else line).format_map({**parts, **row}) for row in rows]
    return "".join(lines)


def write(name: str) -> None:
    """A page, and its pictures."""
    path(name).write_text(text(name), encoding="utf-8")
    if hasattr(PAGES[name], "draw"):
        PAGES[name].draw(ROOT / "docs/images")
