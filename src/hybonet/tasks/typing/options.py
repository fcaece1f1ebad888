"""What can be chosen when mentions are read, and a model of them is measured, asked and written."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from hybonet.tasks.options import EvaluateOptions, ExportOptions, Options, option


class DataOptions(Options):
    """Train a model that tells the types of mentions in sentences, measure it, and keep everything in one folder.

    **Examples**

    The invented town inside the package, under two minutes: `hybonet train typing --out runs/town`

    Mentions of your own with GloVe: `hybonet train typing --data mine --types types.tsv --words glove.6B.100d.txt --out
    runs/mine`

    The crowd-sourced Open Entity data (see docs/entity-typing.md): `hybonet train typing --data ufet --recipe typing
    --out runs/ufet`

    Go on with a run that was stopped: `hybonet train typing --out runs/mine --resume`
    """

    types: Path | None = option(
        None,
        "File of types: one per line, or a type, a tab and its level.",
        shown="types.txt of the folder, else all that occur",
    )
    words: Path | None = option(
        None,
        "Text file of word vectors, such as GloVe's, perhaps packed (.gz, .xz); a folder with a sentence encoder of "
        "Hugging Face's; or `hashed`: by their letters.",
        shown="words.txt of the folder, else GloVe in HYBONET_DATA, else hashed",
    )


class Evaluate(EvaluateOptions):
    """Macro precision, recall and F1 of entity typing: all types together, and by level.

    **Examples**

    The best model of a run on its test mentions: `hybonet evaluate runs/town`

    With the threshold chosen on the validation mentions: `hybonet evaluate runs/town --calibrate`
    """

    threshold: float | None = option(
        None, "Probability above which a type is predicted.", shown="the run's", ge=0.0, le=1.0
    )
    calibrate: bool = option(False, "Take the threshold with the best F1 on the validation mentions.")


class Predict(Options):
    """Types of a mention in a sentence, likeliest first.

    **Examples**

    `hybonet predict runs/town --sentence "The [baker] sold bread."`

    `hybonet predict runs/town --sentence "The baker sold bread." --mention baker --top 5`

    A file of mentions, as for training (types are not needed): `hybonet predict runs/town --mentions mine.jsonl
    --output answers.tsv`
    """

    sentence: str | None = option(None, "A sentence with the mention in brackets, or given by --mention.")
    mention: str | None = option(None, "Words of the sentence whose types are asked for.")
    mentions: Path | None = option(None, "File of mentions, a JSON object per line as for training; types not needed.")
    top: int | None = option(None, "How many types.", shown="10; of a file: those predicted", ge=1)


class Export(ExportOptions):
    """Write a trained typing model in a format that other tools read.

    **Examples**

    `hybonet export runs/town --to pretrained --output town-model` writes what use needs, with a model card.

    `hybonet export runs/town --to vectors --output types.tsv` writes types, levels and Lorentz coordinates.
    """

    to: Literal["pretrained", "vectors"] = option(
        "pretrained",
        "pretrained: a folder for `hybonet.load`, without the sentences; vectors: the types' coordinates as .tsv, "
        ".csv, .parquet or .npz.",
    )


class Plot(Options):
    """Draw the types on the Poincaré disk, how far from the centre each level lies, and the curves.

    **Examples**

    `hybonet plot runs/town` draws the types on the Poincaré disk, their distance from the centre by level, and the
    curves.
    """
