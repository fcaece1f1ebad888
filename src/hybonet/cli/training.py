"""``hybonet train TASK``, made once for all tasks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any

import typer

from hybonet.cli import made
from hybonet.cli.app import app
from hybonet.cli.options import say, tell_notes
from hybonet.tasks.base import TaskSpec, specs

train_app = typer.Typer(
    help="Train a model; `hybonet train TASK --help` says how, for each TASK below.",
    no_args_is_help=True,
)
app.add_typer(train_app, name="train")

Out = Annotated[Path, typer.Option(help="Folder for the run: new, empty, or with --resume an earlier run.")]
Changes = Annotated[list[str] | None, typer.Option("--set", help="Change a setting: key=value. May be repeated.")]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with the run in --out; --set epochs=N gives it more epochs.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an earlier run in --out.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Processor threads.", show_default="torch's")]
TensorBoard = Annotated[
    bool, typer.Option("--tensorboard", help="Write curves to the run's folder tensorboard (needs that extra).")
]
Keep = Annotated[
    int | None,
    typer.Option(min=1, help="Checkpoints that are kept; short for --set keep=N.", show_default="1, the last"),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write the record as JSON when it is done.")]
BudgetOption = Annotated[
    str | None,
    typer.Option(
        "--budget",
        help="Without a recipe: what the race that chooses settings may cost, such as 5m, or a number of steps; 0: no "
        "race.",
        show_default="a third of the training, where the data leave a choice",
    ),
]
Compare = Annotated[
    bool, typer.Option("--compare", help="Train the Euclidean twin, too, and say which is better on validation data.")
]
RECIPE_HELP = "Settings to start from: a name (`hybonet recipes list`), or a .json file of settings."


def recipe_option(spec: TaskSpec) -> Any:
    """``--recipe``, which is alike in all commands that have it."""
    return Annotated[str | None, typer.Option(help=RECIPE_HELP, show_default=spec.recipe)]


def recipe_of_training(spec: TaskSpec) -> Any:
    """``--recipe`` of a training, whose settings may follow from the data."""
    if not spec.auto:
        return recipe_option(spec)
    text = f"{RECIPE_HELP} auto: they follow from the data; {spec.recipe}: the plain ones."
    return Annotated[str | None, typer.Option(help=text, show_default="auto")]


def data_option(spec: TaskSpec) -> Any:
    """``--data``, likewise."""
    return Annotated[str | None, typer.Option(help=spec.data_help, show_default=spec.data or False)]


def use_threads(threads: int | None) -> None:
    """Let torch work with so many processor threads; with None, as many as it likes."""
    import torch

    if threads is not None:
        torch.set_num_threads(threads)


def train_parameters(spec: TaskSpec) -> list[Parameter]:
    """What ``hybonet train TASK`` takes."""
    return [
        made.parameter("out", Out),
        made.parameter("data", data_option(spec), None),
        made.parameter("recipe", recipe_of_training(spec), None),
        *(
            [made.parameter("budget", BudgetOption, None), made.parameter("compare", Compare, False)]
            if spec.auto
            else []
        ),
        made.parameter("set_", Changes, None),
        *made.parameters(spec.options),
        made.parameter("resume", Resume, False),
        made.parameter("overwrite", Overwrite, False),
        made.parameter("keep", Keep, None),
        made.parameter("tensorboard", TensorBoard, False),
        made.parameter("threads", Threads, None),
        made.parameter("quiet", Quiet, False),
        made.parameter("as_json", AsJson, False),
    ]


def add(spec: TaskSpec) -> None:
    """Add a task's command."""
    about, examples = spec.options.help_text()
    about = f"{about or spec.title}\n\nCtrl-C stops at the next batch, saves, and says how to go on."
    made.add(train_app, partial(train, spec), train_parameters(spec), name=spec.name, about=about, examples=examples)


def train(
    spec: TaskSpec,
    *,
    out: Path,
    data: Any = None,
    recipe: str | None = None,
    budget: str | None = None,
    compare: bool = False,
    set_: list[str] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    keep: int | None = None,
    tensorboard: bool = False,
    threads: int | None = None,
    quiet: bool = False,
    as_json: bool = False,
    **values: Any,
) -> None:
    """What ``hybonet train TASK`` does; ``values`` are its options about data."""
    from hybonet.tasks.api import about_settings, recipes_for, settings_for
    from hybonet.tasks.run import Run, goes_on
    from hybonet.training.processes import joined_processes
    from hybonet.training.progress import print_line

    use_threads(threads)
    options = made.chosen(spec.options, values)
    changes = [*(set_ or []), *([] if keep is None else [f"keep={keep}"])]
    if resume:
        named = {"data": data, "recipe": recipe, "budget": budget, "compare": compare or None, **options.given()}
        extra = next((name for name, value in named.items() if value is not None), None)
        if extra is not None:
            raise ValueError(
                f"expected nothing but --out, --set and --threads with --resume, got --{extra.replace('_', '-')}: a "
                "run keeps its data and settings; start a new one to change them"
            )
        run = Run(out, spec.name)
        run.change_settings(changes)
        settings = run.settings
    else:
        chosen_recipe, settings = settings_for(spec, recipe, changes, options, data)
        about = about_settings(spec, recipe, chosen_recipe, changes, budget, compare=compare)
        resume = goes_on(out, settings, overwrite=overwrite)
        tell_notes(filter(None, (() if quiet or resume else (recipes_for(spec, recipe, settings, data),))))
    with joined_processes(settings) as processes:
        if resume:
            run = Run(out, spec.name)
        else:
            processes.main_first(lambda: _start(spec, out, data, settings, options, about, overwrite, quiet))
            run = Run(out, spec.name)
        echo = partial(print_line, error=as_json)  # with --json, nothing else is written
        _train(run, None if quiet else echo, processes.is_main, resume=resume, tensorboard=tensorboard)
        if processes.is_main and (as_json or not quiet):
            _show(Run(out), as_json)


def _start(
    spec: TaskSpec,
    out: Path,
    data: Any,
    settings: Any,
    options: Any,
    about: dict[str, Any],
    overwrite: bool,
    quiet: bool,
) -> None:
    """Load the data and write what a run starts from; nothing is loaded where ``out`` may not be written."""
    from hybonet.tasks.api import load_data, notes_of
    from hybonet.tasks.run import start
    from hybonet.tasks.run_folder import check_target

    check_target(out, overwrite=overwrite)
    loaded = load_data(spec, data, settings, options)
    tell_notes(() if quiet else notes_of(spec, settings, loaded))
    start(out, spec, settings, loaded, overwrite=overwrite, **about)


def _train(run: Any, echo: Callable[[str], None] | None, is_main: bool, *, resume: bool, tensorboard: bool) -> None:
    from hybonet.tasks.api import terminal_reporter
    from hybonet.tasks.run_folder import TENSORBOARD
    from hybonet.training import Interrupted, Reporter

    try:
        run.choose_settings(echo)
        reporter: Reporter | None = terminal_reporter(run, echo) if is_main and echo is not None else None
        if tensorboard and is_main:
            from hybonet.training.progress import TensorBoardReporter

            reporter = TensorBoardReporter(run.folder / TENSORBOARD, reporter)
        run.train(resume=resume, reporter=reporter, say=echo)
    except Interrupted as stop:
        if is_main:
            say(str(stop), err=True)
        raise typer.Exit(130) from None
    except KeyboardInterrupt:
        say(f"stopped at once; go on from the last checkpoint with {run.resume_command}", err=True)
        raise typer.Exit(130) from None


def _show(run: Any, as_json: bool) -> None:
    import json

    from hybonet.reporting.console import Console
    from hybonet.tasks.api import said_besides

    if as_json:
        say(json.dumps(run.record, indent=1, ensure_ascii=False))
        return
    console = Console(highlight=False)
    for each in run.spec.part("after_training", _plain)(run):
        console.print(each)
    for line in said_besides(run.record):
        say(line)
    say(f"Run: {run.folder}")
    if following := run.spec.part("next_command", lambda run: "")(run):
        say(following)


def _plain(run: Any) -> Any:
    from hybonet.reporting.answers import Measures

    return Measures(run.spec.headline(run.record).figures(run.record)).tables()


for _spec in specs().values():
    add(_spec)
