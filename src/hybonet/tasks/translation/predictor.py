"""A trained translation model: sentences in, translations out."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import torch

from hybonet.data.io.source_file import SourceFile, read_source
from hybonet.data.io.text_table import decode
from hybonet.data.text.token_pairs import Sequences
from hybonet.data.text.tokenizer import BOS, EOS, UNK, Tokenizer
from hybonet.data.text.translation_data import TranslationData
from hybonet.reporting.answers import Answers, Measures
from hybonet.tasks.predictor import Predictor
from hybonet.tasks.run_folder import without_examples
from hybonet.tasks.translation.data import check_about, read_tokenizers, write_tokenizers
from hybonet.tasks.translation.decoding import Decoding, decode_all
from hybonet.tasks.translation.evaluation import evaluate
from hybonet.tasks.translation.models.translation_model import TranslatorBase
from hybonet.tasks.translation.options import Evaluate, Predict
from hybonet.tasks.translation.report import evaluation_tables, signature_lines
from hybonet.tasks.translation.settings import TranslationSettings
from hybonet.tasks.translation.task import build_translation_model
from hybonet.training import near_match
from hybonet.training.progress import counting

if TYPE_CHECKING:
    from hybonet.tasks.run import Run

_TITLES = {"hybonet": "HyboNet (a Lorentz Transformer)", "euclidean": "A Transformer"}
_COLUMNS = ("line", "score", "translation")


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


class TranslationModel(Predictor):
    """A translation model with its tokenizers.

    Example:
        >>> from hybonet.data.text.tokenizer import Words
        >>> settings = TranslationSettings(dim=8, heads=2, layers=1)
        >>> english, german = Words.from_text(["the dog sleeps"]), Words.from_text(["der Hund schläft"])
        >>> untrained = build_translation_model(settings, len(english), len(german))
        >>> model = TranslationModel(untrained, english, german, settings, {"languages": ("en", "de")})
        >>> model
        TranslationModel(hybonet, en to de)
        >>> isinstance(model.translate("the dog", Decoding(beam=2, max_length=5)), str)
        True
    """

    task_name = "translation"
    model: TranslatorBase

    def __init__(
        self,
        model: TranslatorBase,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        settings: TranslationSettings,
        about: Mapping[str, Any],
        **of_run: Any,
    ) -> None:
        super().__init__(model, **of_run)
        self.source_tokenizer, self.target_tokenizer = source_tokenizer, target_tokenizer
        self.settings, self.about = settings, about

    @classmethod
    def of_run(cls, run: Run, *, trained: bool = True) -> TranslationModel:
        settings = run.settings
        assert isinstance(settings, TranslationSettings)
        check_about(run.folder, run.about)
        source, target = read_tokenizers(run.folder)
        built = build_translation_model(settings, len(source), len(target))
        model = run.load_into(built) if trained else built
        return cls(model, source, target, settings, run.about, config=run.config)

    def saved(self, folder: Path) -> dict[str, Any]:
        write_tokenizers(folder, self.source_tokenizer, self.target_tokenizer)
        return {"settings": self.settings.model_dump(), "text": dict(self.about)}

    def saved_record(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = without_examples(self.record)
        return found

    def __repr__(self) -> str:
        return f"TranslationModel({self.settings.model}, {' to '.join(self.about['languages'])})"

    # -- translating ---------------------------------------------------------------------------------------------------

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
        text = self.target_tokenizer.decode
        for place, hypotheses in zip(asked, found, strict=True):
            cut = len(numbers[place]) > limit
            results[place] = [Translation(text(h.tokens), h.score, h.log_probability, cut) for h in hypotheses]
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

    # -- as every model ------------------------------------------------------------------------------------------------

    def predict(self, sentences: str | Path | Sequence[str] | None = None, **options: Any) -> Answers:
        """Translations of sentences, best first; a sentence that is too long is cut, which a note tells.

        Args:
            sentences: one, several, or a path with a sentence per line; None: standard input.
            options: of ``hybonet predict``: ``beam``, ``length_penalty``, ``n_best``, ``temperature``, ``top_k``,
                ``top_p``, ``seed``.
        """
        asked = Predict.checked(options)
        how = self._decoding(asked)
        if sentences is None or isinstance(sentences, Path):
            lines = _read_lines(sentences)
        else:
            lines = [sentences] if isinstance(sentences, str) else list(sentences)
        numbers = [self.source_tokenizer.encode(line) for line in lines]
        with counting("translating", sum(map(bool, numbers))) as progress:
            found = self.translations(lines, how, progress)
        nested = [
            {
                "line": number,
                "source": line,
                "translations": [
                    {"text": each.text, "score": each.score, "log_probability": each.log_probability} for each in best
                ],
                "cut": best[0].cut,
            }
            for number, (line, best) in enumerate(zip(lines, found, strict=True), 1)
        ]
        records = [
            dict(zip(_COLUMNS, (number, round(each.score, 4), each.text), strict=True))
            for number, best in enumerate(found, 1)
            for each in best
        ]
        text = "".join(f"{best[0].text}\n" for best in found) if asked.n_best == 1 else None
        notes = _odd(numbers, found, self.settings.max_length)
        return Answers(records, columns=_COLUMNS, nested=nested, text=text, notes=notes)

    def _decoding(self, asked: Predict) -> Decoding:
        """How translations are searched for, or drawn; options that would change nothing are refused."""
        if asked.temperature is not None and asked.beam is not None:
            raise ValueError("expected --beam or --temperature, got both: a draw follows no beam; leave one out")
        if asked.temperature is None and asked.seed is not None:
            raise ValueError("expected --seed with --temperature: a search draws nothing at random; leave it out")
        wide = max(asked.n_best, self.settings.beam) if asked.beam is None else asked.beam
        if asked.length_penalty is not None and (asked.temperature is not None or wide == 1):
            raise ValueError(
                "expected --length-penalty with a beam of 2 or more, which compares translations: greedy decoding and "
                "draws have only one; give --beam 4, or leave it out"
            )
        penalty = self.settings.length_penalty if asked.length_penalty is None else asked.length_penalty
        return Decoding(wide, penalty, asked.n_best, asked.temperature, asked.top_k, asked.top_p, asked.seed or 0)

    def data(self) -> TranslationData:
        """The text that it was trained and is measured on, which only a run has."""
        if self.run is None or self.run.is_export:
            place = "this model" if self.run is None else repr(str(self.run.folder))
            raise ValueError(
                f"expected a run, but {place} is a model saved for use, without its text; give the run's folder"
            )
        found: TranslationData = self.run.data
        return found

    def evaluate(self, **options: Any) -> Measures:
        """Perplexity, and scores of its own translations with their signatures; the options are those of
        ``hybonet evaluate``: ``split``, ``beam``, ``length_penalty``.
        """
        asked = Evaluate.checked(options)
        data = self.data()
        if asked.split not in data.texts:
            where = self.run.folder if self.run is not None else self
            raise ValueError(f"expected a split of {where}, got {asked.split!r}; {near_match(asked.split, data.texts)}")
        settings = self.settings
        how = Decoding(
            beam=asked.beam or settings.beam,
            length_penalty=settings.length_penalty if asked.length_penalty is None else asked.length_penalty,
        )
        with counting("translating", len(data.texts[asked.split])) as progress:
            found = evaluate(self.model, data, asked.split, how, settings=settings, progress=progress)
        return Measures(found, tables=lambda: evaluation_tables(found))

    def card_header(self) -> str:
        languages = "".join(f"- {language}\n" for language in self.about["languages"])
        return f"pipeline_tag: translation\nlanguage:\n{languages}"

    def card_text(self) -> str:
        first, second = self.about["languages"]
        settings = self.settings
        coordinates = "ambient coordinates" if settings.model == "hybonet" else "numbers"
        title = _TITLES.get(settings.model, f"A translation model ({settings.model})")
        text = (
            f"{title} from {first} to {second}, trained on {self.about['source']}: layers in encoder and "
            f"decoder {settings.layers}, {settings.dim} {coordinates} per token, {settings.heads} heads. In a "
            "terminal: `hybonet translate FOLDER sentences.txt`."
        )
        if self.record is None or "test" not in self.record:
            return text
        return f"{text}\n\nScores are those of the test sentences:\n\n" + "\n".join(
            f"- `{line}`" for line in signature_lines(self.record["test"])
        )

    def card_example(self) -> str:
        return 'print(model.translate("A sentence to translate."))'


def _read_lines(path: Path | None) -> list[str]:
    file = SourceFile("standard input", "stdin", sys.stdin.buffer.read()) if path is None else read_source(path)
    text = decode(file.content, file.source)
    if not text:
        raise ValueError(f"{file.source}: expected sentences to translate, one per line, got none")
    return [line.strip() for line in text.removesuffix("\n").split("\n")]


def _odd(numbers: list[list[int]], found: list[list[Translation]], limit: int) -> list[str]:
    """Notes of empty lines, of long ones, and of those with something unknown."""
    notes = []
    empty = sum(not each for each in numbers)
    if empty:
        notes.append(f"{empty:,} empty line{'s stay' if empty > 1 else ' stays'} empty")
    cut = [best[0].cut for best in found]
    unknown = [UNK in each for each in numbers]
    for odd, what in (
        (cut, f"more than the model's {limit} tokens; only their beginning was translated"),
        (unknown, "words or characters that the model has not learned: unknown to it"),
    ):
        lines = [str(number) for number, each in enumerate(odd, 1) if each]
        if lines:
            shown = ", ".join(lines[:5]) + (", …" if len(lines) > 5 else "")
            notes.append(f"{len(lines):,} of {len(odd):,} sentences (line {shown}) have {what}")
    return notes
