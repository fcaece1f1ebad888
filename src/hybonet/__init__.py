"""Fully hyperbolic neural networks in the Lorentz model."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hybonet.geometry import Lorentz
    from hybonet.tasks.graph.predictor import NetworkModel
    from hybonet.tasks.knowledge_graph.predictor import KGModel
    from hybonet.tasks.translation.predictor import MTModel
    from hybonet.tasks.typing.predictor import MentionTyper

__version__ = "0.1.0"
__all__ = ["KGModel", "Lorentz", "MTModel", "MentionTyper", "NetworkModel", "__version__"]

_CLASSES = {
    "KGModel": "hybonet.tasks.knowledge_graph.predictor",
    "Lorentz": "hybonet.geometry",
    "MTModel": "hybonet.tasks.translation.predictor",
    "NetworkModel": "hybonet.tasks.graph.predictor",
    "MentionTyper": "hybonet.tasks.typing.predictor",
}
_SUBMODULES = ("data", "geometry", "metrics", "models", "nn", "optim", "recipes", "tasks", "testing", "training")


def __getattr__(name: str) -> object:
    """Import torch with the first use of something that needs it: the command line answers ``--help`` without it."""
    if name in _CLASSES:
        return getattr(import_module(_CLASSES[name]), name)
    if name in _SUBMODULES:
        return import_module(f"hybonet.{name}")
    raise AttributeError(f"module 'hybonet' has no attribute {name!r}")
