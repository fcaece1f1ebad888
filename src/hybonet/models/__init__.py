"""Models built from the layers, one task a file."""

from hybonet.models.tail_search import ScoreSearch, TailSearch
from hybonet.models.translation_model import TranslationModel
from hybonet.models.translator import Translator
from hybonet.models.triple_model import TripleModel
from hybonet.models.triple_scorer import TripleScorer

__all__ = ["ScoreSearch", "TailSearch", "TranslationModel", "Translator", "TripleModel", "TripleScorer"]
