"""The pages of docs/results: the words of a task's `page.md` around the tables of its `page.py`."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

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
}
_MADE = "Made by `python -m results pages` from run records; do not edit."


def path(name: str) -> Path:
    """Where a page lies."""
    return ROOT / f"docs/results/{name}.md"


def text(name: str) -> str:
    """The whole page as Markdown."""
    module = PAGES[name]
    template = Path(str(module.__file__)).with_suffix(".md").read_text(encoding="utf-8")
    return template.format_map({"made": _MADE, **module.parts()})


def write(name: str) -> None:
    """A page, and its pictures."""
    path(name).write_text(text(name), encoding="utf-8")
    if hasattr(PAGES[name], "draw"):
        PAGES[name].draw(ROOT / "docs/images")
