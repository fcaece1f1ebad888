"""Settings for dependency-tree probing: a default, one for tutorials, and the paper's."""

from __future__ import annotations

from typing import Any

from hybonet.tasks.probing.settings import ProbeSettings
from hybonet.training import ScheduleSettings
from hybonet.training.ranges import Between, Range


def default() -> ProbeSettings:
    """A few passes over a treebank of ten thousand sentences, with larger steps than the paper's."""
    return ProbeSettings()


def tutorial() -> ProbeSettings:
    """For a treebank of some hundred sentences."""
    return ProbeSettings(epochs=30, validate_every=5, lr=0.01)


def paper(**changes: Any) -> ProbeSettings:
    """The paper's training: 20,000 small, equal steps of Adam; the epochs are no bound."""
    settings: dict[str, Any] = {
        "epochs": 1000,
        "steps": 20_000,
        "validate_every": 5,
        "lr": 5e-5,
        "scale": 10.0,
        "state_length": None,
        "schedule": ScheduleSettings(kind="constant"),
        **changes,
    }
    return ProbeSettings(**settings)


_RANGES: dict[str, Range] = {"lr": Between(2e-5, 0.05, log=True), "scale": Between(1.0, 20.0, log=True)}


RECIPES: dict[str, dict[str, Any]] = {
    "probe": {
        "about": "all layers of an encoder on a treebank of ten thousand sentences, minutes",
        "settings": default(),
        "ranges": _RANGES,
    },
    "probe-tutorial": {
        "about": "all layers of a small encoder on the toy treebank, half a minute",
        "settings": tutorial(),
        "ranges": _RANGES,
        "data": "toy",
    },
    "paper-probe": {
        "about": "the paper's settings for HyboNet's states (it probed parsed IWSLT'14 text)",
        "settings": paper(),
        "ranges": _RANGES,
        "published": {"uuas": 0.59, "dspr": 0.70, "root": 0.64, "nspr": 0.92},
    },
    "paper-probe-hatt": {
        "about": "the paper's settings for HAtt's states",
        "settings": paper(weight_decay=1e-6),
        "ranges": _RANGES,
        "published": {"uuas": 0.50, "dspr": 0.64, "root": 0.49, "nspr": 0.88},
    },
    "paper-probe-euclid": {
        "about": "the paper's settings for a Euclidean Transformer's states",
        "settings": paper(batch_size=64),
        "ranges": _RANGES,
        "published": {"uuas": 0.36, "dspr": 0.30, "root": 0.12, "nspr": 0.88},
    },
}
