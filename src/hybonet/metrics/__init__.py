"""Measures of trained models."""

from hybonet.metrics.reconstruction import Reconstruction, reconstruction

__all__ = ["Reconstruction", "reconstruction"]
