"""What can be chosen when a knowledge graph is read, and a model of one is measured, asked, drawn and written."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from hybonet.tasks.options import EvaluateOptions, ExportOptions, Options, PlotOptions, option


class DataOptions(Options):
    """Train a knowledge-graph model, measure it on the test triples, and keep everything in one folder.

    **Examples**

    The graph inside the package, a few minutes: `hybonet train kg --data wordnet --out runs/wordnet`

    Triples of your own: `hybonet train kg --data facts.csv --columns subject,predicate,object --out runs/mine`

    Other settings (`hybonet recipes show default` explains them all): `hybonet train kg --data facts.tsv --set dim=64
    --set epochs=100 --out runs/big`

    Learn from runs that are there, to be better at the same size: `hybonet train kg --data facts.tsv --teacher runs/a
    --teacher runs/b --out runs/student`

    The paper's training: `hybonet train kg --data WN18RR --recipe paper-wn18rr-32 --out runs/wn18rr`

    Go on with a run that was stopped: `hybonet train kg --out runs/mine --resume`

    Give a run more epochs: `hybonet train kg --out runs/mine --resume --set epochs=80`
    """

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
    """Filtered ranking metrics of a run: overall, by direction, by relation and by kind of relation.

    **Examples**

    The best model of a run on its test triples: `hybonet evaluate runs/wordnet`

    On the validation triples, all numbers for a program: `hybonet evaluate runs/wordnet --split valid --json`

    Ranked as the paper's code does: `hybonet evaluate runs/wordnet --protocol paper_code`

    In both directions, is it better? `hybonet evaluate runs/wordnet --split valid --inverse-weight 0.4`
    """

    split: Literal["train", "valid", "test"] = option("test", "Which triples.")
    protocol: Literal["standard", "paper_code"] = option(
        "standard", "paper_code: the head itself is no candidate, as in the paper's code (easier)."
    )
    ties: Literal["realistic", "optimistic", "pessimistic"] = option(
        "realistic", "Rank of the truth among equal scores."
    )


class Predict(_InverseDirection):
    """Ask a trained model: give two of head, relation and tail, and it ranks what the third may be.

    Give all three, and it says how likely they are: the ranks of tail and head among all entities, and a probability.

    **Examples**

    What is a dog? `hybonet predict runs/wordnet --head dog.n.01 --relation hypernym`

    Which parts of a car does the training data not name? `hybonet predict runs/wordnet --relation part_of --tail
    car.n.01 --new`

    How are dog and animal related? `hybonet predict runs/wordnet --head dog.n.01 --tail animal.n.01`

    How likely is a triple? `hybonet predict runs/wordnet --head dog.n.01 --relation hypernym --tail animal.n.01`

    A file of questions, whose first line names the columns (`head,relation`): `hybonet predict runs/wordnet --questions
    questions.csv --output answers.tsv`
    """

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
    """Draw the Poincaré disk (PNG, and an HTML page to search and move in), the points, curves and metrics.

    **Examples**

    `hybonet plot runs/wordnet` draws everything into the run's own folder.

    `hybonet plot runs/wordnet --hierarchy hypernym --hierarchy instance_hypernym` takes two relations for the
    hierarchy.

    `hybonet plot runs/mine --output pictures` draws elsewhere.
    """

    hierarchy: list[str] | None = option(
        None,
        "Relation, from child to parent, to draw the hierarchy by. May be repeated.",
        shown="the largest relation with many heads to a tail",
    )


class Export(ExportOptions):
    """Write a trained knowledge-graph model for other tools.

    **Examples**

    `hybonet export runs/wordnet --to pretrained --output wordnet-model` writes what use needs, with a model card.

    `hybonet export runs/wordnet --to vectors --output vectors.tsv` writes label, name and Lorentz coordinates.

    `hybonet export runs/wordnet --to vectors --chart poincare --output vectors.parquet`

    `hybonet export runs/wordnet --to pykeen --output for-pykeen` needs PyKEEN (`pip install hybonet[pykeen]`).
    """

    to: Literal["pretrained", "vectors", "pykeen"] = option(  # type: ignore[assignment]
        "pretrained",
        "pretrained: a folder for `hybonet.load`, with a model card; vectors: the entities' coordinates as .tsv, .csv, "
        ".parquet or .npz; pykeen: a folder with triples and embeddings.",
    )
    chart: Literal["lorentz", "poincare", "klein", "tangent"] | None = option(
        None, "Coordinates of vectors and embeddings; tangent: Euclidean, at the origin.", shown="lorentz"
    )
