"""Models built from the layers, one task a file."""

from hybonet.models.entity_typer import EntityTyper
from hybonet.models.tail_search import ScoreSearch, TailSearch
from hybonet.models.triple_model import TripleModel
from hybonet.models.triple_scorer import TripleScorer
from hybonet.models.typing_model import TypingModel

__all__ = ["EntityTyper", "ScoreSearch", "TailSearch", "TripleModel", "TripleScorer", "TypingModel"]
