"""Models built from the layers, one task a file."""

from hybonet.models.triple_scorer import TripleScorer

__all__ = ["TripleScorer"]
