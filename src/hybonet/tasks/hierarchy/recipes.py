"""Settings for the embedding of hierarchies."""

from __future__ import annotations

from typing import Any

from hybonet.tasks.hierarchy.task import HierarchySettings
from hybonet.training.ranges import Between, OneOf

RECIPES: dict[str, dict[str, Any]] = {
    "hierarchy": {
        "about": "a hierarchy of up to some thousand nodes in the hyperbolic plane, under a minute",
        "settings": HierarchySettings(),
        "ranges": {
            "lr": Between(0.05, 1.0, log=True),
            "negatives": OneOf((50, 100, 200, 400)),
            "temperature": Between(0.3, 3.0, log=True),
            "start_radius": Between(4, 12),
            "schedule.hold": Between(0.0, 0.8),
        },
    },
}
