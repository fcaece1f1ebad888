"""What can be chosen when a knowledge graph is read, and a model of one is measured, asked, drawn and written."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from hybonet.tasks.options import EvaluateOptions, ExportOptions, Options, PlotOptions, option


class DataOptions(Options):
    """How triples are read."""

    columns: str | None = option(None, "Columns of head, relation, tail: names or numbers from 0, with commas.")
    separator: str | None = option(None, "Character between columns.", shown="by the file's ending")
    header: bool | None = option(None, "Whether first rows are column names.", shown="they are looked at")
    names: Path | None = option(None, "File of entity label and readable name.")
    teacher: list[Path] | None = option(
        None, "A finished run on the same graph to learn from besides the triples. May be repeated."
    )


class _InverseDirection(Options):
    inverse_weight: float | None = option(
        None, "Score triples in both directions, as the setting of that name.", shown="the run's", ge=0
    )
    inverse_power: float | None = option(None, "Likewise, with an inverse weight.", shown="the run's")


class Evaluate(EvaluateOptions, _InverseDirection):
    """How triples are ranked."""

    split: Literal["train", "valid", "test"] = option("test", "Which triples.")
    protocol: Literal["standard", "paper_code"] = option(
        "standard", "paper_code: the head itself is no candidate, as in the paper's code (easier)."
    )
    ties: Literal["realistic", "optimistic", "pessimistic"] = option(
        "realistic", "Rank of the truth among equal scores."
    )


class Predict(_InverseDirection):
    """A question, or a file of them."""

    head: str | None = option(None, "Label or name of the head.")
    relation: str | None = option(None, "Label or name of the relation.")
    tail: str | None = option(None, "Label or name of the tail.")
    top: int = option(10, "How many answers.", ge=1)
    new: bool = option(False, "Leave out what the training data says already.")
    questions: Path | None = option(
        None, "CSV or TSV with columns head, relation, tail; leave the asked one empty, or none to judge triples."
    )
    faiss: bool = option(False, "Search in a faiss index: the same answers, without probabilities.")


class Plot(PlotOptions):
    """What the hierarchy is drawn by."""

    hierarchy: list[str] | None = option(
        None,
        "Relation, from child to parent, to draw the hierarchy by. May be repeated.",
        shown="the largest relation with many heads to a tail",
    )


class Export(ExportOptions):
    """What is written."""

    to: Literal["pretrained", "vectors", "pykeen"] = option(  # type: ignore[assignment]
        "pretrained",
        "pretrained: a folder for `hybonet.load`, with a model card; vectors: the entities' coordinates as .tsv, .csv, "
        ".parquet or .npz; pykeen: a folder with triples and embeddings.",
    )
    chart: Literal["lorentz", "poincare", "klein", "tangent"] | None = option(
        None, "Coordinates of vectors and embeddings; tangent: Euclidean, at the origin.", shown="lorentz"
    )
