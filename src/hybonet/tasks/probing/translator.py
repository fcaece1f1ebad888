"""A translation run as an encoder: the embedding and every encoder layer of what it has trained."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from hybonet.data.text.byte_pairs import JOINER
from hybonet.data.text.tokenizer import EOS, PAD, SPECIAL, Tokenizer
from hybonet.tasks.probing.models.word_encoder import ModuleEncoder, Pieces, Sentence, by_text
from hybonet.tasks.run import Run
from hybonet.tasks.translation.models.translator import Translator
from hybonet.tasks.translation.predictor import TranslationModel

#: How the Moses tokenizer writes letters that mean something to it.
_MOSES = {
    "&": "&amp;",
    "|": "&#124;",
    "<": "&lt;",
    ">": "&gt;",
    "'": "&apos;",
    '"': "&quot;",
    "[": "&#91;",
    "]": "&#93;",
}
_SPACE = "▁"  # stands for a space in pieces of sentencepiece


def translator_encoder(folder: Path, *, random_weights: bool = False, seed: int = 0) -> ModuleEncoder:
    """The encoder of a run of ``hybonet train translation``, or of an exported model.

    Text is given to it as it was in training: lowercased if its vocabulary has no capitals; word by word and with the
    Moses tokenizer's escapes if it was trained on text cut that way.
    """
    run = Run(folder, "translation")
    if random_weights:
        torch.manual_seed(seed)
    translator = TranslationModel.of_run(run, trained=not random_weights)
    model, source, settings, about = translator.model, translator.source_tokenizer, translator.settings, run.about
    vocabulary = [token for token in source.tokens(range(len(source))) if token not in SPECIAL]
    tokenize = SourceText(
        source,
        lowercase=not any(letter.isupper() for token in vocabulary for letter in token),
        word_by_word=about["tokenized"],
        escapes=any("&apos;" in token or "&quot;" in token for token in vocabulary),
    )
    trained = run.record or {}
    return ModuleEncoder(
        model.layer_states,
        tokenize,
        manifold=model.manifold if isinstance(model, Translator) else None,
        padding=PAD,
        name=f"{settings.model} translator of {Path(about['source']).name}",
        about={
            "kind": "translation",
            "folder": folder.resolve().name,
            "model": settings.model,
            "text": about["source"],
            "languages": about["languages"],
            "dim": settings.dim,
            "seed": settings.seed,
            "recipe": trained.get("recipe"),
            "commit": trained.get("commit"),
            "valid": trained.get("valid"),
            "test": trained.get("test"),
        },
        longest=settings.max_length + 1,
    )


@dataclass(frozen=True)
class SourceText:
    """From a sentence of a treebank to the pieces that a translator reads."""

    tokenizer: Tokenizer
    lowercase: bool
    word_by_word: bool
    escapes: bool

    def __call__(self, sentence: Sentence) -> Pieces:
        words = tuple(map(self._as_in_training, sentence.words))
        text = " ".join(words) if self.word_by_word else self._as_in_training(sentence.text)
        return by_text(self._encode, end=EOS)(_Written(words, text))

    def _as_in_training(self, text: str) -> str:
        text = text.lower() if self.lowercase else text
        return "".join(_MOSES.get(letter, letter) for letter in text) if self.escapes else text

    def _encode(self, text: str) -> tuple[list[int], list[str]]:
        numbers = self.tokenizer.encode(text)
        return numbers, [piece.replace(_SPACE, "").removesuffix(JOINER) for piece in self.tokenizer.tokens(numbers)]


@dataclass(frozen=True)
class _Written:
    words: tuple[str, ...]
    text: str
