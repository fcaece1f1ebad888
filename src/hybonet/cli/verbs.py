"""Commands on what was trained, which do with it what its task does: ``hybonet evaluate|predict|plot|export RUN``.

Each task has its own options for them. A task writes ``@predict.of("kg", epilog=...)`` above a function with typer's
annotations whose first argument is the run; the run's ``config.json`` then chooses the function.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import typer
from typer.main import get_command

from hybonet.cli.app import app, clean_errors

_Function = TypeVar("_Function", bound=Callable[..., None])
#: The word before the task's own options is read by the task, --help included.
_UNREAD = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
#: All of them, so that one can name the others.
_VERBS: list[Verb] = []


class Verb:
    """One such command, and what it is for each task."""

    def __init__(self, name: str, about: str) -> None:
        self.name, self.about = name, about
        self.by_task: dict[str, Any] = {}
        _VERBS.append(self)
        app.command(name, help=about, context_settings=_UNREAD, options_metavar="RUN [OPTIONS]")(self._call)

    def of(self, task: str, *, epilog: str) -> Callable[[_Function], _Function]:
        """Decorator: the function is what the command does with runs of this task."""

        def register(function: _Function) -> _Function:
            own = typer.Typer(add_completion=False, rich_markup_mode="markdown", pretty_exceptions_enable=False)
            own.command(epilog=epilog)(function)
            self.by_task[task] = get_command(own)
            return function

        return register

    def _call(self, context: typer.Context) -> None:
        arguments = list(context.args)
        words = [argument for argument in arguments if not argument.startswith("-")]
        run = next((word for word in words if Path(word).is_dir()), words[0] if words else None)
        if run is None or (run in self.by_task and not Path(run).exists()):
            self._explain(arguments, run)
            return
        with clean_errors():
            command = self._for(Path(run))
        command.main(arguments, prog_name=f"hybonet {self.name}")

    def _for(self, run: Path) -> Any:
        from hybonet.tasks.run_folder import command_for, read_config

        task = read_config(run, *sorted({task for verb in _VERBS for task in verb.by_task}))["task"]
        if task not in self.by_task:
            others = ", ".join(f"hybonet {verb.name}" for verb in _VERBS if task in verb.by_task)
            raise ValueError(
                f"expected a run of {', '.join(sorted(self.by_task))} for hybonet {self.name}, but {str(run)!r} was "
                f"made by {command_for(task)}; what works on it: {others}"
            )
        return self.by_task[task]

    def _explain(self, arguments: list[str], task: str | None) -> None:
        """Without a run: the options of a task, or what there is."""
        if task is not None:
            self.by_task[task].main(["--help"], prog_name=f"hybonet {self.name}")  # leaves
        if arguments and "--help" not in arguments:
            typer.echo(f"error: expected a run: hybonet {self.name} RUN {' '.join(arguments)}", err=True)
            raise typer.Exit(2)
        own = typer.Typer(add_completion=False, rich_markup_mode="markdown", pretty_exceptions_enable=False)
        own.command(help=self.about, epilog=self._overview(), options_metavar="RUN [OPTIONS]")(lambda: None)
        get_command(own).main(["--help"], prog_name=f"hybonet {self.name}", standalone_mode=False)
        raise typer.Exit(0 if arguments else 2)

    def _overview(self) -> str:
        lines = ["**What it does and its options depend on the task that made the run:**"]
        for task, command in self.by_task.items():
            lines.append(f"`hybonet {self.name} {task} --help` — {command.help.strip().splitlines()[0]}")
        lines += [command.epilog for command in self.by_task.values()]
        return "\n\n".join(lines)


evaluate = Verb("evaluate", "Measure a trained model on its test data, or other parts of its data.")
predict = Verb("predict", "Ask a trained model.")
plot = Verb("plot", "Draw a run: its points, curves and metrics.")
export = Verb("export", "Write a trained model in a format that other tools read.")
