"""Measures of trained models and of graphs."""

from hybonet.metrics.classification import accuracy, average_precision, f1_score, roc_auc
from hybonet.metrics.hyperbolicity import Hyperbolicity, hyperbolicity
from hybonet.metrics.reconstruction import Reconstruction, ReconstructionMeter, reconstruction

__all__ = [
    "Hyperbolicity",
    "Reconstruction",
    "ReconstructionMeter",
    "accuracy",
    "average_precision",
    "f1_score",
    "hyperbolicity",
    "reconstruction",
    "roc_auc",
]
