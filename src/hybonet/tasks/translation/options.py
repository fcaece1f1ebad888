"""What can be chosen when parallel text is read, and a translation model is measured, asked, drawn and written."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from hybonet.tasks.options import Options, PlotOptions, option


class DataOptions(Options):
    """How sentences and their translations are read."""

    source: Path | None = option(None, "File of sentences, instead of --data.")
    target: Path | None = option(None, "File of their translations, line by line.")
    direction: str | None = option(None, "From which language into which, such as en-de.")
    tokenized: bool = option(False, "Punctuation stands apart already, as Moses does it.")
    codes: Path | None = option(None, "Merges of subword-nmt, for --set tokenizer=subword-nmt.")

    def name_data(self) -> bool:
        return self.source is not None or self.target is not None


class Evaluate(Options):
    """Which sentences, and how their translations are searched for."""

    split: str = option("test", "Which sentences: test, valid, or another test set of the corpus.")
    beam: int | None = option(None, "Translations followed.", shown="the run's", ge=1)
    length_penalty: float | None = option(None, "0: short translations win.", shown="the run's", ge=0)


class Predict(Options):
    """Sentences, and how their translations are searched for or drawn."""

    sentences: Path | None = option(
        None, "File with a sentence per line (also .gz, .xz).", shown="standard input", argument=True
    )
    beam: int | None = option(None, "Translations followed at a time; 1: greedy.", shown="the run's", ge=1)
    length_penalty: float | None = option(None, "Of a beam; 0: short translations win.", shown="the run's", ge=0)
    n_best: int = option(1, "Translations of each sentence.", ge=1)
    temperature: float | None = option(None, "Draw translations at random; 1: as the model says.", ge=0.001)
    top_k: int | None = option(None, "Draw among so many likeliest tokens.", ge=1)
    top_p: float | None = option(None, "Draw among so much probability.", ge=0.001, le=1)
    seed: int | None = option(None, "Of the draw at random.", shown="0", ge=0)


class Plot(PlotOptions):
    """Whose translation is looked at."""

    sentence: str | None = option(None, "Whose translation is looked at.", shown="the first test sentence")


class Export(Options):
    """What is written."""

    to: Literal["pretrained"] = option("pretrained", "A folder for `hybonet.load`, with a model card.")
