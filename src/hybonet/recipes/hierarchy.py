"""Settings for the embedding of hierarchies."""

from __future__ import annotations

from typing import Any

from hybonet.tasks.hierarchy_embedding import HierarchySettings

RECIPES: dict[str, dict[str, Any]] = {
    "hierarchy": {
        "about": "a hierarchy of up to some thousand nodes in the hyperbolic plane, under a minute",
        "settings": HierarchySettings(),
    },
}
