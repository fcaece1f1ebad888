"""``hybonet export`` of a knowledge-graph model: what other tools read."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from hybonet.cli import verbs
from hybonet.cli.app import clean_errors
from hybonet.cli.options import ExportPlace, Trained

_EXAMPLES = """
**Examples**

`hybonet export runs/wordnet --to pretrained --output wordnet-model` writes what use needs, with a model card.

`hybonet export runs/wordnet --to vectors --output vectors.tsv` writes label, name and Lorentz coordinates.

`hybonet export runs/wordnet --to vectors --chart poincare --output vectors.parquet`

`hybonet export runs/wordnet --to pykeen --output for-pykeen` needs PyKEEN (`pip install hybonet[pykeen]`).
"""


@verbs.export.of("kg", epilog=_EXAMPLES)
def export(
    run: Trained,
    to: Annotated[
        Literal["pretrained", "vectors", "pykeen"],
        typer.Option(
            help="pretrained: a folder for `KGModel.from_pretrained`; vectors: the entities' coordinates as .tsv, "
            ".csv, .parquet or .npz; pykeen: a folder with triples and embeddings."
        ),
    ],
    output: ExportPlace,
    chart: Annotated[
        Literal["lorentz", "poincare", "klein", "tangent"] | None,
        typer.Option(
            help="Coordinates of vectors and embeddings; tangent: Euclidean, at the origin.", show_default="lorentz"
        ),
    ] = None,
) -> None:
    """Write a trained knowledge-graph model in a format that other tools read."""
    with clean_errors():
        from hybonet.tasks.knowledge_graph.predictor import KGModel

        if to == "pretrained" and chart is not None:
            raise ValueError(f"expected --chart with vectors or pykeen only, got --chart {chart} --to pretrained")
        model = KGModel.load(run)
        if to == "pretrained":
            model.save_pretrained(output)
            typer.echo(f"Model: {output}")
            return
        from hybonet.tasks.knowledge_graph.export import write_pykeen, write_vectors

        if to == "pykeen":
            write_pykeen(model, output, chart or "lorentz")
            typer.echo(f"Triples and embeddings for PyKEEN: {output}")
            return
        entities, coordinates = write_vectors(model, output, chart or "lorentz")
        curvature = f"K = {model.hyperbolic_scorer('vectors').manifold.curvature:.6g}"
        typer.echo(f"{entities:,} vectors of {coordinates} {chart or 'lorentz'} coordinates ({curvature}): {output}")
