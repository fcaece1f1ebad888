"""The translation models by the names that settings know them by."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hybonet.tasks.mt_settings import ModelName

_CLASSES: dict[str, str] = {
    "hybonet": "hybonet.models.translator:Translator",
    "euclidean": "hybonet.models.baselines.euclidean_translator:EuclideanTranslator",
    "hatt": "hybonet.models.baselines.hyperbolic_attention:HyperbolicAttentionTranslator",
    "convolution": "hybonet.models.baselines.convolution_translator:ConvolutionTranslator",
    "poincare": "hybonet.models.baselines.poincare_translator:PoincareTranslator",
}


def translation_model_class(name: ModelName) -> Any:
    """The class of a model.

    Example:
        >>> translation_model_class("hybonet").__name__
        'Translator'
    """
    module, _, attribute = _CLASSES[name].partition(":")
    return getattr(import_module(module), attribute)
