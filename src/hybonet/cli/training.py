"""What the commands ``hybonet train …`` share: options, settings, starting, stopping and going on."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from hybonet.cli.app import app
from hybonet.cli.options import tell_notes

if TYPE_CHECKING:
    from hybonet.training import FitResult, LoopSettings


class _TasksInOrder(TyperGroup):
    """Lists the tasks as the documentation does, whichever module was imported first."""

    order = ("kg", "graph", "translation", "typing", "hierarchy")

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=self.order.index)


train_app = typer.Typer(
    cls=_TasksInOrder,
    help="Train a model; `hybonet train TASK --help` says how, for each TASK below.",
    no_args_is_help=True,
)
app.add_typer(train_app, name="train")

Out = Annotated[Path, typer.Option(help="Folder for the run: new, empty, or with --resume an earlier run.")]
Changes = Annotated[list[str] | None, typer.Option("--set", help="Change a setting: key=value. May be repeated.")]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with the run in --out; --set epochs=N gives it more epochs.")
]
RECIPE_HELP = "Settings to start from: a name (`hybonet recipes list`), or a .json file of settings."
Threads = Annotated[int | None, typer.Option(min=1, help="Processor threads.", show_default="torch's")]
TensorBoard = Annotated[
    bool, typer.Option("--tensorboard", help="Write curves to the run's folder tensorboard (needs that extra).")
]


def use_threads(threads: int | None) -> None:
    """Let torch work with so many processor threads; with None, as many as it likes."""
    import torch

    if threads is not None:
        torch.set_num_threads(threads)


def settings_for(task: str, recipe_name: str, changes: list[str]) -> Any:
    """The settings of a new run: a recipe of the task with ``key=value`` changes, for a device that is there."""
    from hybonet.recipes import recipe
    from hybonet.training import override
    from hybonet.training.device import check_device

    settings = override(recipe(recipe_name, task).settings, changes)
    check_device(settings.device)
    unused = settings.unused()
    names = [change.partition("=")[0].strip() for change in changes]
    tell_notes(f"{name} changes nothing here, since {unused[name]}" for name in dict.fromkeys(names) if name in unused)
    return settings


def settings_to_resume(out: Path, read: Callable[[Path], Any], given: dict[str, Any], changes: list[str]) -> Any:
    """The settings of the run in ``out`` to go on with; of ``given`` options there may be none, of changes few."""
    from hybonet.tasks.run_folder import change_settings
    from hybonet.training import override
    from hybonet.training.device import check_device

    if given:
        raise ValueError(
            f"expected nothing but --out, --set and --threads with --resume, got --{next(iter(given))}: a run keeps "
            "its data and settings; start a new one to change them"
        )
    settings = read(out)
    check_device(override(settings, changes).device)
    return change_settings(out, settings, changes)


def settings_of_run(
    out: Path,
    task: str,
    *,
    resume: bool,
    read: Callable[[Path], Any],
    recipe: str,
    given: dict[str, Any],
    changes: list[str],
) -> Any:
    """The settings of a run that is to go on, or of a new one: :func:`settings_to_resume`, or :func:`settings_for`."""
    return settings_to_resume(out, read, given, changes) if resume else settings_for(task, recipe, changes)


def train_in(
    out: Path,
    task: str,
    settings: LoopSettings,
    *,
    start: Callable[[], None] | None,
    train: Callable[..., FitResult],
    show: Callable[[], None],
    rate: tuple[int, str] = (1, "batches/s"),
    tensorboard: bool = False,
    overwrite: bool = False,
) -> None:
    """Start a run (None: go on with it), train it and show what came out; a stop on request says how to go on.

    Nothing is started where ``out`` may not be written, or with ``overwrite`` replaced.

    If several processes train together, the first of them starts the run and shows its results.
    """
    from hybonet.tasks.run_folder import check_target, command_for
    from hybonet.training import Interrupted, Reporter, TerminalReporter
    from hybonet.training.processes import joined_processes

    again = f"{command_for(task)} --out {shlex.quote(str(out))} --resume"
    with joined_processes(settings.device) as processes:
        reporter: Reporter | None = TerminalReporter(settings.epochs, rate) if processes.is_main else None
        if tensorboard and processes.is_main:
            from hybonet.tasks.run_folder import TENSORBOARD
            from hybonet.training.tensorboard import TensorBoardReporter

            reporter = TensorBoardReporter(out / TENSORBOARD, reporter)
        if start is not None:
            processes.main_first(lambda: check_target(out, overwrite=overwrite))
            processes.main_first(start)
        try:
            train(out, resume=start is None, resume_command=again, reporter=reporter)
        except Interrupted as stop:
            if processes.is_main:
                typer.echo(str(stop), err=True)
            raise typer.Exit(130) from None
        except KeyboardInterrupt:
            typer.echo(f"stopped at once; go on from the last checkpoint with {again}", err=True)
            raise typer.Exit(130) from None
        if processes.is_main:
            show()
