"""A trained translation model: sentences in, translations out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import torch

from hybonet.data.text.token_pairs import Sequences
from hybonet.data.text.token_vocabulary import BOS, EOS
from hybonet.data.text.tokenizer import Tokenizer
from hybonet.tasks.pretrained import record_if_known, write_model_folder
from hybonet.tasks.run_folder import without_examples
from hybonet.tasks.translation.card import translation_card
from hybonet.tasks.translation.decoding import Decoding, decode_all
from hybonet.tasks.translation.models.translation_model import TranslationModel
from hybonet.tasks.translation.run import read_about, read_model, read_settings, read_tokenizers, write_tokenizers
from hybonet.tasks.translation.settings import TranslationSettings


@dataclass(frozen=True)
class Translation:
    """A translation, and how sure the model is of it."""

    text: str
    #: What translations are ranked by: the log-probability, for a beam search divided by the length penalty.
    score: float
    log_probability: float
    #: Whether the sentence was longer than the model can read, so that only its first part is translated.
    cut: bool = False


@dataclass(frozen=True)
class Attention:
    """Where the decoder looks while it writes: weights ``(layers, heads, target tokens, source tokens)``."""

    source: list[str]
    target: list[str]
    weights: torch.Tensor


class MTModel:
    """A translation model with its tokenizers.

    Args:
        model, source_tokenizer, target_tokenizer: what translates, and what its numbers stand for.
        settings: of its training.
        about: of its text: source and languages.
        record: its scores, as ``record.json`` of a run has them.

    Load one with :meth:`from_pretrained`; ``hybonet train translation`` makes one.

    Example:
        >>> from hybonet.data.text.tokenizer import Words
        >>> from hybonet.tasks.translation.task import build_translation_model
        >>> settings = TranslationSettings(dim=8, heads=2, layers=1)
        >>> english, german = Words.from_text(["the dog sleeps"]), Words.from_text(["der Hund schläft"])
        >>> untrained = build_translation_model(settings, len(english), len(german))
        >>> model = MTModel(untrained, english, german, settings, {"languages": ("en", "de")})
        >>> model
        MTModel(hybonet, en to de)
        >>> isinstance(model.translate("the dog", Decoding(beam=2, max_length=5)), str)
        True
    """

    def __init__(
        self,
        model: TranslationModel,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        settings: TranslationSettings,
        about: Mapping[str, Any],
        record: Mapping[str, Any] | None = None,
    ) -> None:
        self.model = model.eval()
        self.source_tokenizer, self.target_tokenizer = source_tokenizer, target_tokenizer
        self.settings, self.about, self.record = settings, about, record

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> MTModel:
        """A model from a folder on disk: of :meth:`save_pretrained`, or of a run of ``hybonet train translation``."""
        folder = Path(folder)
        tokenizers, record = read_tokenizers(folder), record_if_known(folder)
        return cls(read_model(folder), *tokenizers, read_settings(folder), read_about(folder), record)

    @classmethod
    def load(cls, folder: str | Path) -> MTModel:
        """The best model of a run made by ``hybonet train translation``; the same as :meth:`from_pretrained`."""
        return cls.from_pretrained(folder)

    def __repr__(self) -> str:
        return f"MTModel({self.settings.model}, {' to '.join(self.about['languages'])})"

    @overload  # a sentence is a sequence of strings, too, but not of sentences
    def translate(self, sentences: str, how: Decoding | None = None) -> str: ...  # type: ignore[overload-overlap]

    @overload
    def translate(self, sentences: Sequence[str], how: Decoding | None = None) -> list[str]: ...

    def translate(self, sentences: str | Sequence[str], how: Decoding | None = None) -> str | list[str]:
        """The best translation of a sentence, or of each of several; a warning tells if some were too long."""
        if isinstance(sentences, str):
            return self.translate([sentences], how)[0]
        found = [best[0] for best in self.translations(sentences, how)]
        if cut := sum(each.cut for each in found):
            warnings.warn(
                f"{cut} of {len(found)} sentences have more than the model's {self.settings.max_length} tokens; only "
                "their beginning was translated",
                stacklevel=2,
            )
        return [each.text for each in found]

    def translations(
        self, sentences: Sequence[str], how: Decoding | None = None, progress: Callable[[int], None] | None = None
    ) -> list[list[Translation]]:
        """Translations of each sentence with their scores, best first; an empty sentence has an empty one.

        What a sentence has beyond the model's longest is not translated, which :attr:`Translation.cut` tells.
        """
        if isinstance(sentences, str):
            raise ValueError("expected several sentences, got one; put it into a list, or use translate")
        sentences = list(sentences)
        how = how or Decoding(beam=self.settings.beam, length_penalty=self.settings.length_penalty)
        numbers = [self.source_tokenizer.encode(sentence) for sentence in sentences]
        limit = self.settings.max_length
        asked = [place for place, each in enumerate(numbers) if each]
        found = decode_all(
            self.model, Sequences.pack(numbers[place][:limit] for place in asked), how, progress=progress
        )
        results = [[Translation("", 0.0, 0.0)] for _ in sentences]
        for place, hypotheses in zip(asked, found, strict=True):
            results[place] = [
                Translation(
                    self.target_tokenizer.decode(each.tokens),
                    each.score,
                    each.log_probability,
                    len(numbers[place]) > limit,
                )
                for each in hypotheses
            ]
        return results

    @torch.no_grad()
    def attention(self, sentence: str, translation: str | None = None) -> Attention:
        """Where the decoder looks in a sentence while it writes a translation, its own by default."""
        limit = self.settings.max_length
        source = [*self.source_tokenizer.encode(sentence)[:limit], EOS]
        text = self.translate(sentence) if translation is None else translation
        target = self.target_tokenizer.encode(text)[:limit]
        device = next(self.model.parameters()).device
        asked = (torch.tensor([each], device=device) for each in (source, [BOS, *target]))
        maps = self.model.attention_maps(*asked)
        if not maps.cross:
            raise ValueError(f"expected a model with attention, but {self.settings.model} has none to show")
        return Attention(
            self.source_tokenizer.tokens(source),
            self.target_tokenizer.tokens([*target, EOS]),
            torch.stack([layer[0] for layer in maps.cross]),
        )

    def save_pretrained(self, folder: str | Path) -> None:
        """Write a new folder with what use needs and nothing else, in the layout that the Hugging Face hub knows.

        ``config.json``, ``model.safetensors``, the tokenizers, ``README.md`` (a model card), and ``record.json`` if the
        scores are known. It appears complete or not at all.
        """
        folder = Path(folder)
        settings = self.settings.model_dump()

        def write_data(staging: Path) -> dict[str, Any]:
            write_tokenizers(staging, self.source_tokenizer, self.target_tokenizer)
            return {"task": "translation", "settings": settings, "text": dict(self.about)}

        card = translation_card(self.about, settings, self.record, folder=folder.name)
        record = None if self.record is None else without_examples(self.record)
        write_model_folder(folder, self.model, write_data, record, card)
