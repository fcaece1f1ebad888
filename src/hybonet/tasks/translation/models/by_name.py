"""The translation models by the names that settings know them by."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hybonet.tasks.translation.settings import ModelName

_CLASSES: dict[str, str] = {
    "hybonet": "hybonet.tasks.translation.models.translator:Translator",
    "euclidean": "hybonet.tasks.translation.models.euclidean_translator:EuclideanTranslator",
    "hatt": "hybonet.tasks.translation.models.hyperbolic_attention:HyperbolicAttentionTranslator",
    "convolution": "hybonet.tasks.translation.models.convolution_translator:ConvolutionTranslator",
    "poincare": "hybonet.tasks.translation.models.poincare_translator:PoincareTranslator",
}


def translation_model_class(name: ModelName) -> Any:
    """The class of a model.

    Example:
        >>> translation_model_class("hybonet").__name__
        'Translator'
    """
    module, _, attribute = _CLASSES[name].partition(":")
    return getattr(import_module(module), attribute)
