"""The other rows of the entity-typing table, each in its essential form, on the same word vectors."""

from hybonet.tasks.typing.models.euclidean import LabelGCN, MultiTask
from hybonet.tasks.typing.models.poincare import HY

__all__ = ["HY", "LabelGCN", "MultiTask"]
