"""Commands on what was trained, which do with it what its task does: ``hybonet evaluate|predict|plot|export RUN``.

The run's ``config.json`` names its task, and the task declares the options (:class:`hybonet.tasks.options.Options`).
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand
from typer.main import get_command

from hybonet.cli import made
from hybonet.cli.app import app, clean_errors
from hybonet.cli.options import Overwrite, say, tell_notes
from hybonet.tasks.base import TaskSpec, specs

Run = Annotated[Path, typer.Argument(help="A run folder, or an exported model.")]
AsJson = Annotated[bool, typer.Option("--json", help="Everything, as JSON; short for --format json.")]
Format = Annotated[
    Literal["table", "json", "csv", "tsv"] | None,
    typer.Option("--format", help="How answers are written.", show_default="by the ending of --output, else table"),
]
AnswersFile = Annotated[
    Path | None, typer.Option(help="Write to this .json, .csv or .tsv file instead of the terminal.")
]
PicturesFolder = Annotated[Path | None, typer.Option(help="Folder for the pictures.", show_default="the run")]
PicturesAsJson = Annotated[bool, typer.Option("--json", help="Name the pictures, and what is missing, as JSON.")]
ExportAsJson = Annotated[bool, typer.Option("--json", help="Say where and what was written, as JSON.")]
ExportPlace = Annotated[Path, typer.Option(help="New file (vectors) or new folder.")]
SafeCsv = Annotated[
    bool, typer.Option("--safe-csv", help="A ' before text that a spreadsheet would take for a formula (CSV, TSV).")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]

#: The word before the task's own options is read by the task, --help included.
_UNREAD = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
_ABOUT = {
    "evaluate": "Measure a trained model on its test data, or other parts of its data.",
    "predict": "Ask a trained model.",
    "plot": "Draw a run: its points, curves and metrics.",
    "export": "Write a trained model in a format that other tools read.",
}


def task_in(word: str) -> str:
    """The task that a word of a command line names: by itself, or as the folder of a run of it."""
    try:
        return str(json.loads((Path(word) / "config.json").read_text(encoding="utf-8"))["task"])
    except (OSError, ValueError, LookupError, TypeError):
        return word


class VerbCommand:
    """One such command, and what it is for each task."""

    def __init__(self, name: str, body: Callable[..., None], shared: list[Any]) -> None:
        self.name, self.body, self.shared = name, body, shared
        app.command(
            name, help=_ABOUT[name], context_settings=_UNREAD, options_metavar="RUN [OPTIONS]", cls=self._completing()
        )(self._call)

    def _completing(self) -> type[TyperCommand]:
        """A command for whose options the shell asks with a run's folder, or a task, before them."""
        verb = self

        class OfRun(TyperCommand):
            def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
                tasks = verb.tasks()
                names = (task_in(word) for word in ctx.args)
                spec = next((tasks[name] for name in names if name in tasks), None)
                return [] if spec is None else verb.command_of(spec).shell_complete(ctx, incomplete)

        return OfRun

    def tasks(self) -> dict[str, TaskSpec]:
        """The tasks whose models it can be used on."""
        return {name: spec for name, spec in specs().items() if spec.verb(self.name) is not None}

    def command_of(self, spec: TaskSpec) -> Any:
        """What it is for runs of a task."""
        options = spec.verb(self.name)
        assert options is not None
        given = [made.parameter("run", Run), *made.parameters(options), *self.shared]

        def body(run: Path, **values: Any) -> None:
            self.body(
                run, made.chosen(options, values).given(), **{each.name: values[each.name] for each in self.shared}
            )

        own = typer.Typer(add_completion=False, rich_markup_mode="markdown", pretty_exceptions_enable=False)
        about, examples = options.help_text()
        made.add(own, body, given, name=None, about=about or _ABOUT[self.name], examples=examples)
        return get_command(own)

    def _call(self, context: typer.Context) -> None:
        arguments = list(context.args)
        words = [argument for argument in arguments if not argument.startswith("-")]
        run = next((word for word in words if Path(word).is_dir()), words[0] if words else None)
        with clean_errors():
            tasks = self.tasks()
        if run is None or (run in tasks and not Path(run).exists()):
            self._explain(arguments, tasks, run)
            return
        with clean_errors():
            from hybonet.tasks.base import refuse_verb
            from hybonet.tasks.run import Run as RunFolder

            spec = RunFolder(run).spec
            if spec.name not in tasks:
                raise refuse_verb(spec, self.name)
        self.command_of(spec).main(arguments, prog_name=f"hybonet {self.name}")

    def _explain(self, arguments: list[str], tasks: dict[str, TaskSpec], task: str | None) -> None:
        """Without a run: the options of a task, or what there is."""
        if task is not None:
            self.command_of(tasks[task]).main(["--help"], prog_name=f"hybonet {self.name}")  # leaves
        if arguments and "--help" not in arguments:
            say(f"error: expected a run: hybonet {self.name} RUN {' '.join(arguments)}", err=True)
            raise typer.Exit(2)
        own = typer.Typer(add_completion=False, rich_markup_mode="markdown", pretty_exceptions_enable=False)
        overview = self._overview(tasks)
        own.command(help=_ABOUT[self.name], epilog=overview, options_metavar="RUN [OPTIONS]")(lambda: None)
        get_command(own).main(["--help"], prog_name=f"hybonet {self.name}", standalone_mode=False)
        raise typer.Exit(0 if arguments else 2)

    def _overview(self, tasks: dict[str, TaskSpec]) -> str:
        """A heading for each task, and what the command does there."""
        parts = ["**Examples** by task; the options depend on the task that made the run."]
        for spec in tasks.values():
            options = spec.verb(self.name)
            about, examples = ("", "") if options is None else options.help_text()
            first = (about or _ABOUT[self.name]).splitlines()[0]
            parts += [f"**{spec.title}** (`hybonet {self.name} {spec.name} --help`)", first, examples]
        return "\n\n".join(filter(None, parts))


def _load(run: Any, *, quiet: bool = False) -> Any:
    """The model; what is odd about its run is told."""
    from hybonet.tasks.api import load

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        model = load(run)
    tell_notes(str(each.message) for each in told if not quiet)
    return model


def _ask(
    run: Path,
    options: dict[str, Any],
    *,
    verb: str,
    as_json: bool,
    form: Any,
    output: Path | None,
    overwrite: bool,
    quiet: bool,
    safe_csv: bool,
) -> None:
    """Write what the model answers to ``predict`` or ``evaluate``."""
    from hybonet.cli.answers import answer_format, check_output, write
    from hybonet.tasks.run import Run as RunFolder

    found = RunFolder(run)
    declared = found.spec.verb(verb)
    assert declared is not None
    check_output(output, overwrite=overwrite, inputs=options)
    written_as = answer_format("json" if as_json else form, output, declared.text_file)
    answered = getattr(_load(found, quiet=quiet), verb)(**options)
    if not quiet:
        tell_notes(getattr(answered, "notes", ()))
    write(answered, written_as, output, quiet=quiet, safe_csv=safe_csv)


def _plot(run: Path, options: dict[str, Any], as_json: bool, output: Path | None, overwrite: bool, quiet: bool) -> None:
    from hybonet.reporting.disk import require_matplotlib

    require_matplotlib()
    if output is not None and not overwrite and output.resolve() != run.resolve():  # a run's own are drawn anew
        there = [output] if output.is_file() else sorted(output.glob("*.png")) + sorted(output.glob("*.html"))
        if there:
            raise ValueError(
                f"expected a place for new pictures, got {str(output)!r}, where {there[0].name} is; add --overwrite to "
                "replace it, or choose another --output"
            )
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        drawn = _load(run, quiet=quiet).plot(output, **options)
    if as_json:
        say(json.dumps({"pictures": [str(path) for path in drawn], "missing": drawn.missing}, indent=1))
        return
    if quiet:
        return
    for path in drawn:
        say(str(path))
    tell_notes(f"no {name}: {reason}" for name, reason in drawn.missing.items())
    tell_notes(dict.fromkeys(str(each.message) for each in told))


def _export(run: Path, options: dict[str, Any], as_json: bool, output: Path, overwrite: bool, quiet: bool) -> None:
    from hybonet.tasks.new_folder import replaced

    model = _load(run, quiet=quiet)
    if overwrite and output.exists():
        with replaced(output) as place:
            said = model.export(place, **options).replace(str(place), str(output))
    else:
        said = model.export(output, **options)
    if as_json:
        say(json.dumps({"output": str(output), "about": said}, ensure_ascii=False))
    elif not quiet:
        say(said)


_WRITTEN = [
    made.parameter("as_json", AsJson, False),
    made.parameter("form", Format, None),
    made.parameter("output", AnswersFile, None),
    made.parameter("overwrite", Overwrite, False),
    made.parameter("quiet", Quiet, False),
    made.parameter("safe_csv", SafeCsv, False),
]
evaluate = VerbCommand("evaluate", partial(_ask, verb="evaluate"), _WRITTEN)
predict = VerbCommand("predict", partial(_ask, verb="predict"), _WRITTEN)
_DRAWN = [
    made.parameter("as_json", PicturesAsJson, False),
    made.parameter("output", PicturesFolder, None),
    made.parameter("overwrite", Overwrite, False),
    made.parameter("quiet", Quiet, False),
]
plot = VerbCommand("plot", _plot, _DRAWN)
_EXPORTED = [
    made.parameter("output", ExportPlace),
    made.parameter("as_json", ExportAsJson, False),
    made.parameter("overwrite", Overwrite, False),
    made.parameter("quiet", Quiet, False),
]
export = VerbCommand("export", _export, _EXPORTED)
