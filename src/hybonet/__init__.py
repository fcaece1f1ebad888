"""Fully hyperbolic neural networks in the Lorentz model."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hybonet.geometry import Lorentz
    from hybonet.nn import set_checks
    from hybonet.tasks.api import load, train
    from hybonet.tasks.graph.predictor import GraphModel
    from hybonet.tasks.hierarchy.predictor import HierarchyModel
    from hybonet.tasks.knowledge_graph.predictor import KnowledgeGraphModel
    from hybonet.tasks.probing.predictor import ProbeModel
    from hybonet.tasks.translation.predictor import TranslationModel
    from hybonet.tasks.typing.predictor import TypingModel

__version__ = "0.2.0"

_PLACES = {
    "Lorentz": "geometry",
    "set_checks": "nn",
    "train": "tasks.api",
    "load": "tasks.api",
    "KnowledgeGraphModel": "tasks.knowledge_graph.predictor",
    "GraphModel": "tasks.graph.predictor",
    "TranslationModel": "tasks.translation.predictor",
    "TypingModel": "tasks.typing.predictor",
    "ProbeModel": "tasks.probing.predictor",
    "HierarchyModel": "tasks.hierarchy.predictor",
}
#: Names of version 0.1, and what they are called now.
_OLD = {
    "KGModel": "KnowledgeGraphModel",
    "NetworkModel": "GraphModel",
    "MTModel": "TranslationModel",
    "MentionTyper": "TypingModel",
}
_SUBMODULES = ("data", "geometry", "interop", "metrics", "nn", "optim", "recipes", "tasks", "testing", "training")

__all__ = [
    "GraphModel",
    "HierarchyModel",
    "KnowledgeGraphModel",
    "Lorentz",
    "ProbeModel",
    "TranslationModel",
    "TypingModel",
    "__version__",
    "load",
    "set_checks",
    "train",
]


def __getattr__(name: str) -> object:
    """Import torch with the first use of something that needs it: the command line answers ``--help`` without it."""
    if name in _OLD:
        import warnings

        warnings.warn(f"hybonet.{name} is now hybonet.{_OLD[name]}", DeprecationWarning, stacklevel=2)
        name = _OLD[name]
    if name in _PLACES:
        return getattr(import_module(f"hybonet.{_PLACES[name]}"), name)
    if name in _SUBMODULES:
        return import_module(f"hybonet.{name}")
    raise AttributeError(f"module 'hybonet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_SUBMODULES})
