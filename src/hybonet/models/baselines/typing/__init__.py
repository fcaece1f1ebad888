"""The other rows of the entity-typing table, each in its essential form, on the same word vectors."""

from hybonet.models.baselines.typing.euclidean import LabelGCN, MultiTask
from hybonet.models.baselines.typing.poincare import HY

__all__ = ["HY", "LabelGCN", "MultiTask"]
