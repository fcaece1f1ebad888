"""Models built from the layers, one task a file."""

from hybonet.models.tail_search import TailSearch
from hybonet.models.triple_scorer import TripleScorer

__all__ = ["TailSearch", "TripleScorer"]
