"""Short commands: ``hybonet translate`` for ``predict``, ``hybonet probe`` for ``train probe``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hybonet.cli import made
from hybonet.cli.app import app
from hybonet.cli.options import Overwrite, tell_notes
from hybonet.cli.training import train, train_parameters
from hybonet.tasks.base import spec
from hybonet.tasks.probing.options import ENCODER_HELP
from hybonet.tasks.translation.options import Predict

_PROBE = spec("probe")

Run = Annotated[Path, typer.Argument(help="A run folder of hybonet train translation, or an exported model.")]
Form = Annotated[
    Literal["text", "tsv", "json"],
    typer.Option(
        "--format", help="text: a translation per line; tsv: line, score, translation; json: an object per sentence."
    ),
]
Output = Annotated[Path | None, typer.Option(help="Write to this file instead of the terminal.")]
Encoder = Annotated[str | None, typer.Argument(help=ENCODER_HELP, show_default=False)]


def _translate(run: Path, form: str, output: Path | None, overwrite: bool, **values: Any) -> None:
    from hybonet.cli.answers import check_output, write
    from hybonet.tasks.translation.predictor import TranslationModel

    options = made.chosen(Predict, values).given()
    if "n_best" in options and form == "text":
        raise ValueError("expected --format tsv or json with --n-best: in text, which line belongs to which is lost")
    check_output(output, overwrite=overwrite, inputs=options)
    answered = TranslationModel.load(run).predict(**options)
    tell_notes(answered.notes)
    write(answered, form, output, quiet=True)


def _probe(encoder: str | None, resume: bool, **values: Any) -> None:
    if resume and encoder is not None:
        raise ValueError(
            f"expected no encoder with --resume, got {encoder!r}: a run keeps the states that it has; start a new one "
            "to probe another"
        )
    if not resume and encoder is None:
        raise ValueError(
            "expected what to probe, got nothing; give a run of hybonet train translation, a Hugging Face model "
            "folder or a file of vectors: hybonet probe ENCODER --out ..."
        )
    train(_PROBE, data=encoder, resume=resume, **values)


def _add() -> None:
    given = [
        made.parameter("run", Run),
        *made.parameters(Predict),
        made.parameter("form", Form, "text"),
        made.parameter("output", Output, None),
        made.parameter("overwrite", Overwrite, False),
    ]
    about, examples = Predict.help_text()
    made.add(app, _translate, given, name="translate", about=about, examples=examples)
    given = [made.parameter("encoder", Encoder, None), *(p for p in train_parameters(_PROBE) if p.name != "data")]
    about, examples = _PROBE.options.help_text()
    made.add(app, _probe, given, name="probe", about=about, examples=examples)


_add()
