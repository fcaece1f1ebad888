"""What can be chosen when parallel text is read, and a translation model is measured, asked, drawn and written."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from hybonet.tasks.options import Options, PlotOptions, option


class DataOptions(Options):
    """Train a translation model, score its translations of the test sentences, and keep everything in one folder.

    **Examples**

    The toy language inside the package, about a minute: `hybonet train translation --out runs/toy`

    Two aligned files: `hybonet train translation --source talks.en --target talks.de --direction en-de --out
    runs/talks`

    A table of sentence, tab and translation per line: `hybonet train translation --data pairs.tsv --out runs/mine`

    A folder with train.en, train.de, valid.en, valid.de, test.en, test.de: `hybonet train translation --data talks
    --direction en-de --out runs/talks`

    A corpus by name, other settings: `hybonet train translation --data multi30k --recipe multi30k-64 --set epochs=20
    --out runs/multi30k`

    Go on with a run that was stopped: `hybonet train translation --out runs/talks --resume`
    """

    source: Path | None = option(None, "File of sentences, instead of --data.")
    target: Path | None = option(None, "File of their translations, line by line.")
    direction: str | None = option(None, "From which language into which, such as en-de.")
    tokenized: bool = option(False, "Punctuation stands apart already, as Moses does it.")
    codes: Path | None = option(None, "Merges of subword-nmt, for --set tokenizer=subword-nmt.")

    def name_data(self) -> bool:
        return self.source is not None or self.target is not None


class Evaluate(Options):
    """Perplexity, sacreBLEU, chrF and the paper's BLEU of a run's translations, with signatures.

    **Examples**

    The best model of a run on its test sentences: `hybonet evaluate runs/toy`

    On another split, all numbers for a program: `hybonet evaluate runs/multi30k --split test2017 --json`
    """

    split: str = option("test", "Which sentences: test, valid, or another test set of the corpus.")
    beam: int | None = option(None, "Translations followed.", shown="the run's", ge=1)
    length_penalty: float | None = option(None, "0: short translations win.", shown="the run's", ge=0)


class Predict(Options):
    """Translate sentences, one per line; a line stays a line, and an empty one stays empty.

    **Examples**

    `hybonet translate` is short for it.

    From a pipe: `echo "The dog sees two birds." | hybonet translate runs/toy`

    A file, into another: `hybonet translate runs/toy sentences.txt --output translations.txt`

    The four best of each with their scores: `hybonet translate runs/toy sentences.txt --n-best 4 --format tsv`

    Drawn at random: `hybonet translate runs/toy sentences.txt --temperature 0.8 --top-p 0.9 --seed 1`
    """

    text_file = ".txt"

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
    """Draw the curves of a training, and where the decoder looks while it translates a sentence.

    **Examples**

    `hybonet plot runs/toy` draws the curves, and where the decoder looks while it translates the first test sentence.

    `hybonet plot runs/toy --sentence "The dog sees two birds."` looks at this one.
    """

    sentence: str | None = option(None, "Whose translation is looked at.", shown="the first test sentence")


class Export(Options):
    """Write a trained translation model as a folder to hand on.

    **Examples**

    `hybonet export runs/toy --output toy-model` writes what use needs, with a model card; the text stays behind.
    """

    to: Literal["pretrained"] = option("pretrained", "A folder for `hybonet.load`, with a model card.")
