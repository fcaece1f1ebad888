"""All recipes, and how to find one."""

from __future__ import annotations

from dataclasses import dataclass, field

from hybonet.recipes.knowledge_graph import RECIPES as KNOWLEDGE_GRAPH
from hybonet.tasks.knowledge_graph import KnowledgeGraphSettings
from hybonet.training import near_match


@dataclass(frozen=True)
class Recipe:
    """Settings with what they are for and, if they come from a paper, its figures."""

    name: str
    about: str
    settings: KnowledgeGraphSettings
    #: The graph the recipe was made for, or None if it is for any.
    data: str | None = None
    published: dict[str, float] = field(default_factory=dict)


def recipes() -> dict[str, Recipe]:
    """Every recipe by name.

    Example:
        >>> recipes()["paper-wn18rr-32"].published["mrr"]
        0.489
    """
    return {name: Recipe(name, **parts) for name, parts in KNOWLEDGE_GRAPH.items()}


def recipe(name: str) -> Recipe:
    """A recipe by name; an unknown name is an error that suggests a near one.

    Example:
        >>> recipe("defaults")
        Traceback (most recent call last):
        ValueError: unknown recipe 'defaults'; did you mean 'default'?
    """
    known = recipes()
    if name not in known:
        raise ValueError(f"unknown recipe {name!r}; {near_match(name, known)}")
    return known[name]
