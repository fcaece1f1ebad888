"""Packages that hybonet does without: imported where they are used, or missed in one sentence."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def needed(module: str, purpose: str, extra: str, otherwise: str = "") -> Any:
    """A module of an optional package; a ``ValueError`` with the remedy where it is not installed.

    Example:
        >>> needed("no_such_package", "the picture", "plot")
        Traceback (most recent call last):
        ValueError: expected no_such_package for the picture, but it is not installed; run pip install 'hybonet[plot]'
    """
    try:
        return import_module(module)
    except ImportError:
        package = module.rpartition(".")[2]
        raise ValueError(
            f"expected {package} for {purpose}, but it is not installed; run pip install 'hybonet[{extra}]'{otherwise}"
        ) from None
