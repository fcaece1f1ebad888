"""``hybonet probe``: how much of dependency trees an encoder's states hold, layer by layer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hybonet.cli import verbs
from hybonet.cli.app import app, clean_errors
from hybonet.cli.options import PicturesFolder, only_given, tell_notes
from hybonet.cli.pictures import show_drawn
from hybonet.cli.training import (
    RECIPE_HELP,
    Changes,
    Out,
    Resume,
    TensorBoard,
    Threads,
    settings_of_run,
    train_in,
    use_threads,
)

Run = Annotated[Path, typer.Argument(help="A run of `hybonet probe`.")]
Layer = Annotated[int | None, typer.Option(help="A layer that was probed.", show_default="the best on validation")]

_EXAMPLES = """
**Examples**

`hybonet probe runs/translator --trees toy --recipe probe-tutorial --out runs/probe` probes every layer of a translator.

`hybonet probe runs/translator --trees UD_English-EWT --out runs/ewt` takes a published treebank.

`hybonet probe models/bert --trees my.conllu --layers 0,6,7,8 --out runs/bert` probes a Hugging Face model.

`hybonet probe vectors.npz --trees treebank/ --set probe=euclidean --out runs/mine` takes vectors of your own.

`hybonet probe runs/translator --trees toy --set control=random-weights --out runs/control` shows what comes for free.

`hybonet probe --out runs/probe --resume` goes on with a run that was stopped.
"""
_PREDICT_EXAMPLES = """
**Examples**

`hybonet predict runs/probe --output trees.conllu` writes the test sentences with predicted trees.

`hybonet predict runs/probe --layer 2` prints those of another layer.
"""
_PLOT_EXAMPLES = """
**Examples**

`hybonet plot runs/probe` draws the measures by layer, a sentence and the curves into the run's own folder.

`hybonet plot runs/probe --sentence 12 --layer 2 --output pictures` chooses the sentence.
"""
_EVALUATE_EXAMPLES = """
**Example**

`hybonet evaluate runs/probe` measures every layer on the test sentences again.
"""


@app.command("probe", epilog=_EXAMPLES)
def probe(
    out: Out,
    encoder: Annotated[
        str | None,
        typer.Argument(
            help="A run of `hybonet train translation`, a Hugging Face model folder, or a .safetensors or .npz file of "
            "vectors.",
            show_default=False,
        ),
    ] = None,
    trees: Annotated[
        str | None,
        typer.Option(
            help="A treebank: `toy`, `UD_English-EWT`, a folder with .conllu files for train, dev and test, or one "
            ".conllu file.",
            show_default="toy",
        ),
    ] = None,
    layers: Annotated[
        str | None, typer.Option(help="Layers to probe, e.g. 0,3,6; 0 is the embedding.", show_default="all")
    ] = None,
    recipe: Annotated[str | None, typer.Option(help=RECIPE_HELP, show_default="probe")] = None,
    set_: Changes = None,
    resume: Resume = False,
    tensorboard: TensorBoard = False,
    threads: Threads = None,
    plot: Annotated[bool, typer.Option("--plot/--no-plot", help="Draw layers, a sentence and curves.")] = True,
) -> None:
    """Train probes on the states of a frozen encoder that give back dependency trees: every layer, the best chosen.

    Ctrl-C stops at the next batch, saves, and says how to go on.
    """
    with clean_errors():
        use_threads(threads)
        given = only_given(ENCODER=encoder, trees=trees, layers=layers, recipe=recipe)
        _probe(out, given, set_ or [], resume=resume, plot=plot, tensorboard=tensorboard)


def _probe(
    out: Path, given: dict[str, str], changes: list[str], *, resume: bool, plot: bool, tensorboard: bool
) -> None:
    from hybonet.reporting.disk import require_matplotlib
    from hybonet.tasks.probing.run import read_settings_to_resume, train_run

    if resume and "ENCODER" in given:
        raise ValueError(
            f"expected no encoder with --resume, got {given['ENCODER']!r}: a run keeps the states that it has; "
            "start a new one to probe another"
        )
    recipe = given.get("recipe", "probe")
    settings = settings_of_run(
        out, "probe", resume=resume, read=read_settings_to_resume, recipe=recipe, given=given, changes=changes
    )
    if not resume and "ENCODER" not in given:
        raise ValueError(
            "expected what to probe, got nothing; give a run of hybonet train translation, a Hugging Face model "
            "folder or a file of vectors: hybonet probe ENCODER --out ..."
        )
    if plot:
        require_matplotlib()
    train_in(
        out,
        "probe",
        settings,
        start=None if resume else lambda: _start(out, settings, given, recipe),
        train=train_run,
        show=lambda: _show(out, plot),
        rate=(settings.batch_size, "sentences/s"),
        tensorboard=tensorboard,
    )


def _start(out: Path, settings: Any, given: dict[str, str], recipe_name: str) -> None:
    from rich.console import Console

    from hybonet.data import load_treebank
    from hybonet.tasks.probing.encoders import probe_data
    from hybonet.tasks.probing.run import start_run

    layers = _layers(given["layers"]) if "layers" in given else None
    treebank = load_treebank(given.get("trees", "toy"))
    with Console(stderr=True).status("computing states"):
        data = probe_data(given["ENCODER"], treebank, settings, layers)
    left_out = {split: count for split, count in data.about["data"]["too_long"].items() if count}
    if left_out:
        counts = ", ".join(f"{count} of {split}" for split, count in left_out.items())
        tell_notes([f"sentences too long for the encoder are left out: {counts}"])
    start_run(out, settings, data, recipe=recipe_name)


def _layers(text: str) -> list[int]:
    """Numbers separated by commas, each once, in order."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise ValueError(f"expected layers as numbers separated by commas, got {text!r}; for example --layers 0,3,6")
    return sorted({int(part) for part in parts})


def _show(out: Path, plot: bool) -> None:
    from rich.console import Console

    from hybonet.tasks.probing.pictures import draw_run
    from hybonet.tasks.probing.report import layers_table
    from hybonet.tasks.run_folder import read_record

    console, record = Console(highlight=False), read_record(out)
    drawn = list[Path]()
    if plot:
        with console.status("drawing"):
            drawn = draw_run(out, out)
    console.print(f"Test sentences of {record['data']['source']}, {record['encoder']['name']}; ← is best on valid")
    console.print(layers_table(record))
    for what, path in [("Picture", picture) for picture in drawn] or [("Run", out)]:
        console.print(f"{what}: {path}", soft_wrap=True)


@verbs.evaluate.of("probe", epilog=_EVALUATE_EXAMPLES)
def evaluate(
    run: Run, as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False
) -> None:
    """Measure every layer of a probing on its test sentences."""
    with clean_errors():
        import json
        from dataclasses import asdict

        from rich.console import Console

        from hybonet.tasks.probing.report import layers_table
        from hybonet.tasks.probing.run import ProbeRun

        read = ProbeRun.load(run)
        scores = [asdict(each) for each in read.evaluate()]
        if as_json:
            rows = [{"layer": layer, **each} for layer, each in zip(read.data.layers, scores, strict=True)]
            typer.echo(json.dumps(rows, indent=2))
            return
        rows = [{**row, "test": each} for row, each in zip(read.record["layers"], scores, strict=True)]
        Console(highlight=False).print(layers_table({**read.record, "layers": rows}))


@verbs.predict.of("probe", epilog=_PREDICT_EXAMPLES)
def predict(
    run: Run,
    layer: Layer = None,
    output: Annotated[
        Path | None, typer.Option(help="A new .conllu file.", show_default="printed on standard output")
    ] = None,
) -> None:
    """The test sentences with the trees that a probe reads off the states, as CoNLL-U."""
    with clean_errors():
        from hybonet.data.trees.conllu import conllu_text
        from hybonet.files import write_atomically
        from hybonet.tasks.probing.run import ProbeRun

        if output is not None and output.exists():
            raise ValueError(f"expected a new file, but {str(output)!r} is there already; choose another --output")
        text = conllu_text(ProbeRun.load(run).predict(layer))
        if output is None:
            typer.echo(text, nl=False)
        else:
            write_atomically(output, lambda target: target.write_text(text, encoding="utf-8", newline="\n"))
            typer.echo(str(output))


@verbs.plot.of("probe", epilog=_PLOT_EXAMPLES)
def plot(
    run: Run,
    sentence: Annotated[
        int | None, typer.Option(help="Number of a test sentence, from 1.", show_default="a typical one")
    ] = None,
    layer: Layer = None,
    output: PicturesFolder = None,
) -> None:
    """Draw the four measures by layer, a sentence (gold and predicted tree, words on the disk) and the curves."""
    with clean_errors():
        from hybonet.tasks.probing.pictures import draw_run

        show_drawn(lambda: draw_run(run, output or run, sentence=sentence, layer=layer))
