"""Models built from the layers, one task a file."""

from hybonet.models.entity_typer import EntityTyper
from hybonet.models.tail_search import ScoreSearch, TailSearch
from hybonet.models.translation_model import TranslationModel
from hybonet.models.translator import Translator
from hybonet.models.triple_model import TripleModel
from hybonet.models.triple_scorer import TripleScorer
from hybonet.models.typing_model import TypingModel

__all__ = [
    "EntityTyper",
    "ScoreSearch",
    "TailSearch",
    "TranslationModel",
    "Translator",
    "TripleModel",
    "TripleScorer",
    "TypingModel",
]
