"""What can be chosen when mentions are read, and a model of them is measured, asked and written."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from hybonet.tasks.options import EvaluateOptions, ExportOptions, Options, option


class DataOptions(Options):
    """How mentions are read."""

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
    """Which mentions, and which types count as predicted."""

    threshold: float | None = option(
        None, "Probability above which a type is predicted.", shown="the run's", ge=0.0, le=1.0
    )
    calibrate: bool = option(False, "Take the threshold with the best F1 on the validation mentions.")


class Predict(Options):
    """A mention, or a file of them."""

    sentence: str | None = option(None, "A sentence with the mention in brackets, or given by --mention.")
    mention: str | None = option(None, "Words of the sentence whose types are asked for.")
    mentions: Path | None = option(None, "File of mentions, a JSON object per line as for training; types not needed.")
    top: int | None = option(None, "How many types.", shown="10; of a file: those predicted", ge=1)


class Export(ExportOptions):
    """What is written."""

    to: Literal["pretrained", "vectors"] = option(
        "pretrained",
        "pretrained: a folder for `hybonet.load`, without the sentences; vectors: the types' coordinates as .tsv, "
        ".csv, .parquet or .npz.",
    )
